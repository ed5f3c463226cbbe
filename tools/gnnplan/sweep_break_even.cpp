#include "tools/gnnplan/sweep_break_even.hpp"

#include "tools/common/format.hpp"
#include "tools/gnnplan/configuration_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr double searched_factor = 1024;  // below and above the link there is
constexpr double sample_step = 4;
constexpr double precision = 0.01;
constexpr double equal_fraction = 1e-3;  // predictions closer than this are equal for any model

Curve curve_of(const SweepLine& line, const std::string& name) {
    Curve curve{name, {}};
    for (const SweepPoint* point : line.points) {
        curve.seconds.push_back(point->best ? std::optional(point->best->predicted.epoch_seconds) : std::nullopt);
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

std::string place_text(const std::string& axis, const std::string& setting) {
    return axis == "ranks" ? setting + " ranks" : axis + "=" + setting;
}

std::string rate_text(double bytes_per_second) {
    return format_bytes(static_cast<std::int64_t>(std::llround(bytes_per_second))) + "/s";
}

std::string choice_of(const Question& question) {
    const SelectResult result = answer(question);
    return result ? configuration_text(result.selection->ranked.front().configuration) : "nothing";
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
            const auto found = crossing(curve_of(*a, name(*a)), curve_of(*b, name(*b)), equal_fraction);
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
    const std::string last = place_text(c.axis, c.last);
    const Crossing& found = c.crossing;
    if (found.equal) {
        return fmt::format("{}{} and {} are predicted equally fast {}", others, found.slower, found.faster,
                           found.throughout ? "throughout" : "from " + place_text(c.axis, c.from) + " on");
    }
    const std::string where =
        found.throughout ? fmt::format("is slower than {} throughout", found.faster)
                         : fmt::format("becomes slower than {} from {} on", found.faster, place_text(c.axis, c.from));
    return fmt::format("{}{} {}, {:.3g} times at {}", others, found.slower, where, found.ratio, last);
}

LinkBreakEven link_break_even(const Question& question, const std::string& settings) {
    Question varied = question;
    Link& link = slowest_link(varied.machine, question.shape.ranks);
    const double now = link.bytes_per_second;
    LinkBreakEven found{settings,
                        slowest_link_name(varied.machine, question.shape.ranks),
                        now,
                        now / searched_factor,
                        now * searched_factor,
                        choice_of(question),
                        {}};
    std::vector<double> samples{found.low};
    while (samples.back() * sample_step <= found.high * 1.001) samples.push_back(samples.back() * sample_step);
    const auto choose = [&](double bytes_per_second) {
        set_bandwidth(varied.machine, link, bytes_per_second);
        return choice_of(varied);
    };
    found.changes = choice_changes(samples, choose, precision);
    return found;
}

std::vector<std::string> link_lines(const LinkBreakEven& link) {
    const std::string settings = link.settings.empty() ? "" : link.settings + ": ";
    std::vector<std::string> lines{fmt::format("{}a link ({}) of {} chooses {}", settings, link.link,
                                               rate_text(link.bytes_per_second), link.choice)};
    if (link.changes.empty()) {
        lines.push_back(
            fmt::format("  no link from {} to {} would change the choice", rate_text(link.low), rate_text(link.high)));
    }
    std::vector<ChoiceChange> nearest = link.changes;
    const auto distance = [&](const ChoiceChange& c) { return std::abs(std::log(c.at / link.bytes_per_second)); };
    std::stable_sort(nearest.begin(), nearest.end(),
                     [&](const ChoiceChange& a, const ChoiceChange& b) { return distance(a) < distance(b); });
    for (const ChoiceChange& change : nearest) {
        const bool slower = change.at < link.bytes_per_second;
        lines.push_back(fmt::format("  a link of {} or {} would change the choice to {}", rate_text(change.at),
                                    slower ? "slower" : "faster", slower ? change.below : change.above));
    }
    return lines;
}

}  // namespace gnnplan::tools
