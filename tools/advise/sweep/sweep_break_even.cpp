#include "tools/advise/sweep/sweep_break_even.hpp"
#include "tools/advise/sweep/sweep_link.hpp"

#include "planner/cost/likely.hpp"
#include "planner/cost/loading.hpp"
#include "planner/cost/predict.hpp"
#include "planner/cost/tie.hpp"
#include "tools/advise/configuration_text.hpp"
#include "tools/advise/evidence.hpp"
#include "tools/text/format.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr double searched_factor = 1024;  // below and above the link there is
constexpr double sample_step = 4;
constexpr double curve_step = 2;  // between bandwidths that curves are drawn through
constexpr double precision = 0.01;
constexpr double sure_precision = 0.05;

Curve curve_of(const SweepLine& line, const std::string& name) {
    Curve curve{name, {}};
    for (const SweepPoint* point : line.points) {
        curve.seconds.push_back(point->best ? std::optional(point->best->predicted.ranked_seconds()) : std::nullopt);
    }
    return curve;
}

std::optional<std::size_t> position_of(const std::vector<Variation>& variations, const std::string& name) {
    for (std::size_t v = 0; v < variations.size(); ++v) {
        if (variations[v].name == name) return v;
    }
    return std::nullopt;
}

bool differ_only_in(const SweepLine& a, const SweepLine& b, std::size_t variation) {
    std::vector<std::size_t> others = b.others;
    others[variation] = a.others[variation];
    return a.others == others;
}

// "ranks" and "4" -> "4 ranks".
std::string along_text(const std::string& axis, const std::string& setting) {
    return place_text({axis, axis, {{setting, std::nullopt}}}, 0);
}

std::string rate_text(double bytes_per_second, const Machine& machine) {
    return format_bytes(std::llround(trusted_digits(bytes_per_second, machine))) + "/s";
}

// Answers with the slowest link at other rates, each asked once.
class LinkAnswers {
public:
    explicit LinkAnswers(const Question& question) : question_(question) {
        if (const SelectResult result = answer(question)) present_ = remember(*result.selection);
    }

    std::string present() const { return present_ ? present_->choice : nothing; }
    const std::string& choice(double bytes_per_second) { return at(bytes_per_second).choice; }
    // Whether the best choice is faster than the present one by more than the model's error.
    bool sure(double bytes_per_second) { return at(bytes_per_second).sure; }

    // The curve of the present choice first, then those of all others that have been the best somewhere.
    std::vector<LinkCurve> curves(const std::vector<double>& rates) const {
        std::vector<LinkCurve> all;
        for (const auto& known : plans_) {
            LinkCurve curve{known->choice, {}};
            for (const double rate : rates)
                curve.seconds.push_back(predicted(*known, machine_at(rate)).ranked_seconds());
            all.push_back(std::move(curve));
        }
        return all;
    }

private:
    static constexpr const char* nothing = "nothing";

    struct Answer {
        std::string choice;
        bool sure = false;
    };
    struct KnownPlan {
        std::string choice;
        Schedule schedule;
        std::shared_ptr<const GraphStats> numbered;  // null: the graph as it is
    };

    // The plan of the best choice, kept once for each choice.
    const KnownPlan* remember(const Selection& selection) {
        const std::string choice = configuration_text(selection.ranked.front().configuration);
        const auto known = std::ranges::find(plans_, choice, [](const auto& plan) { return plan->choice; });
        if (known != plans_.end()) return known->get();
        plans_.push_back(
            std::make_unique<KnownPlan>(KnownPlan{choice, selection.plan.candidates.front().schedule, nullptr}));
        KnownPlan& plan = *plans_.back();
        if (!plan.schedule.numbering.identity())
            plan.numbered = question_.loaded->problem.graph->numbered(plan.schedule.numbering);
        return &plan;
    }

    Prediction predicted(const KnownPlan& plan, const Machine& machine) const {
        const Problem& problem = question_.loaded->problem;
        const GraphStats& graph = plan.numbered ? *plan.numbered : *problem.graph;
        Prediction predicted = cost::predict(plan.schedule, graph, machine, 0);
        cost::split_into_parts(plan.schedule, machine, predicted);
        if (problem.record.task == Task::train) cost::add_kept(plan.schedule, problem.record.run.epochs, predicted);
        if (problem.record.task == Task::infer)
            predicted.loading =
                cost::loading_seconds(plan.schedule, graph, problem.record.graph, problem.listing, machine);
        return predicted;
    }

    Machine machine_at(double bytes_per_second) const {
        Machine machine = question_.machine;
        set_bandwidth(machine, slowest_link(machine, question_.shape.ranks), bytes_per_second);
        return machine;
    }

    const Answer& at(double bytes_per_second) {
        const auto known = known_.find(bytes_per_second);
        if (known != known_.end()) return known->second;
        Question varied = question_;
        varied.machine = machine_at(bytes_per_second);
        Answer found{nothing, false};
        if (const SelectResult result = answer(varied)) {
            const Prediction& best = result.selection->ranked.front().predicted;
            found.choice = remember(*result.selection)->choice;
            found.sure = present_ != nullptr && !cost::tie(best, predicted(*present_, varied.machine), varied.machine);
        }
        return known_.emplace(bytes_per_second, std::move(found)).first->second;
    }

    const Question& question_;
    std::vector<std::unique_ptr<KnownPlan>> plans_;
    const KnownPlan* present_ = nullptr;
    std::map<double, Answer> known_;
};

// Those at which something changes, and those between and beyond them.
std::vector<double> curve_rates(const LinkBreakEven& link) {
    std::vector<double> rates;
    double rate = link.low;
    while (rate <= link.high * 1.001) {
        rates.push_back(rate);
        rate *= curve_step;
    }
    for (const ChoiceChange& change : link.changes) rates.push_back(change.at);
    std::ranges::sort(rates);
    return rates;
}

// Away from `now`, on one side of it.
std::optional<SureChange> sure_change(LinkAnswers& answers, double now, std::vector<double> samples) {
    samples.insert(samples.begin(), now);
    const auto found = first_holding(
        samples, [&](double rate) { return answers.sure(rate); }, sure_precision);
    if (!found) return std::nullopt;
    return SureChange{*found, answers.choice(*found)};
}

// "a link of 2.3 GB/s or slower would change the choice to rdm ..., a tie within 25 % down to 1.1 GB/s"
std::string change_line(const LinkBreakEven& link, const ChoiceChange& change, const Machine& machine) {
    const bool slower = change.at < link.bytes_per_second;
    const std::string& to = slower ? change.below : change.above;
    const std::optional<SureChange>& sure = slower ? link.sure_slower : link.sure_faster;
    std::string line = fmt::format("  a link of {} or {} would change the choice to {}; ",
                                   rate_text(change.at, machine), slower ? "slower" : "faster", to);
    const std::string error = tie_text(machine);
    if (!sure) return line + fmt::format("but any {} link leaves a tie within {}", slower ? "slower" : "faster", error);
    line += fmt::format("a tie within {} {} to {}", error, slower ? "down" : "up", rate_text(sure->at, machine));
    return sure->choice == to ? line : line + ", where " + sure->choice + " leads by more";
}

}  // namespace

std::vector<SchemeCrossing> scheme_crossings(const Sweep& sweep) {
    const std::vector<Variation>& variations = sweep.variations;
    const std::optional<std::size_t> scheme = position_of(variations, "scheme");
    const std::optional<std::size_t> main = main_variation(variations);
    if (!scheme || !main || !variations[*main].settings.front().number) return {};
    const auto name = [&](const SweepLine& line) { return variations[*scheme].settings[line.others[*scheme]].text; };
    const std::vector<SweepLine> lines = lines_along(sweep, *main);
    std::vector<SchemeCrossing> crossings;
    for (auto a = lines.begin(); a != lines.end(); ++a) {
        for (auto b = std::next(a); b != lines.end(); ++b) {
            if (!differ_only_in(*a, *b, *scheme)) continue;
            const auto found =
                crossing(curve_of(*a, name(*a)), curve_of(*b, name(*b)), cost::model_error(sweep.machine));
            if (!found) continue;
            const auto setting = [&](std::size_t i) {
                return variations[*main].settings[a->points[i]->at[*main]].text;
            };
            crossings.push_back({settings_text(variations, a->others, {*main, *scheme}), variations[*main].name,
                                 setting(found->from), setting(found->last), *found});
        }
    }
    return crossings;
}

std::string crossing_text(const SchemeCrossing& c) {
    const std::string others = c.others.empty() ? "" : c.others + ": ";
    const std::string last = along_text(c.axis, c.last);
    const Crossing& found = c.crossing;
    if (found.equal) {
        const std::string where = c.from == c.last ? "at " + last : "from " + along_text(c.axis, c.from) + " on";
        return fmt::format("{}{} and {} are a tie {}", others, found.slower, found.faster, where);
    }
    if (c.from == c.last) {
        return fmt::format("{}{} takes {:.3g} times as long as {} at {}", others, found.slower, found.ratio,
                           found.faster, last);
    }
    const std::string where =
        found.throughout ? fmt::format("is slower than {} throughout", found.faster)
                         : fmt::format("becomes slower than {} from {} on", found.faster, along_text(c.axis, c.from));
    return fmt::format("{}{} {}, {:.3g} times at {}", others, found.slower, where, found.ratio, last);
}

LinkBreakEven link_break_even(const Question& question, const std::string& settings) {
    Machine machine = question.machine;
    const double now = slowest_link(machine, question.shape.ranks).bytes_per_second;
    LinkAnswers answers(question);
    LinkBreakEven found{settings,
                        slowest_link_name(machine, question.shape.ranks),
                        now,
                        now / searched_factor,
                        now * searched_factor,
                        answers.present(),
                        {},
                        {},
                        {},
                        {},
                        {}};
    std::vector<double> samples{found.low};
    while (samples.back() * sample_step <= found.high * 1.001) samples.push_back(samples.back() * sample_step);
    found.changes = choice_changes(
        samples, [&](double rate) { return answers.choice(rate); }, precision);
    std::vector<double> slower, faster;
    for (const double sample : samples) {
        if (sample < now / 1.001) slower.insert(slower.begin(), sample);
        if (sample > now * 1.001) faster.push_back(sample);
    }
    found.sure_slower = sure_change(answers, now, std::move(slower));
    found.sure_faster = sure_change(answers, now, std::move(faster));
    found.rates = curve_rates(found);
    found.curves = answers.curves(found.rates);
    return found;
}

std::vector<std::string> link_lines(const LinkBreakEven& link, const Machine& machine) {
    const std::string settings = link.settings.empty() ? "" : link.settings + ": ";
    std::vector<std::string> lines{fmt::format("{}a link ({}) of {} chooses {}", settings, link.link,
                                               rate_text(link.bytes_per_second, machine), link.choice)};
    if (link.changes.empty()) {
        lines.push_back(fmt::format("  no link from {} to {} would change the choice", rate_text(link.low, machine),
                                    rate_text(link.high, machine)));
    }
    const auto above = std::find_if(link.changes.begin(), link.changes.end(),
                                    [&](const ChoiceChange& c) { return c.at > link.bytes_per_second; });
    if (above != link.changes.begin()) lines.push_back(change_line(link, *std::prev(above), machine));
    if (above != link.changes.end()) lines.push_back(change_line(link, *above, machine));
    return lines;
}

}  // namespace gnnplan::tools
