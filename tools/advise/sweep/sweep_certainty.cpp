#include "tools/advise/sweep/sweep_certainty.hpp"

#include "planner/cost/likely.hpp"
#include "tools/advise/certainty.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_sentences.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::tools {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void add(std::vector<std::string>& names, const std::string& name) {
    if (!has(names, name)) names.push_back(name);
}

// Competitors by what contests say of them.
struct Verdicts {
    std::vector<std::string> behind;   // slower than the fastest somewhere
    std::vector<std::string> tied;     // a tie with the fastest, or it in a tie, somewhere
    std::vector<std::string> leading;  // the only fastest somewhere
};

void judge(const Sweep& sweep, const Race& race, const Contest& contest, Verdicts& verdicts) {
    const SweepPoint* fastest = contest.fastest();
    if (fastest == nullptr) return;
    std::vector<std::string> near;
    for (std::size_t i = 0; i < contest.entries.size(); ++i) {
        const SweepPoint& entry = *contest.entries[i];
        if (!entry.best) continue;
        const bool tie = cost::tie(entry.best->predicted, fastest->best->predicted, sweep.machine_of(entry));
        add(tie ? near : verdicts.behind, race.competitors[i]);
    }
    for (const std::string& name : near) add(near.size() > 1 ? verdicts.tied : verdicts.leading, name);
}

// The machines of the points, each once.
std::vector<const Machine*> machines_of(const Sweep& sweep) {
    std::vector<const Machine*> machines;
    for (const SweepPoint& point : sweep.points) {
        const Machine* machine = &sweep.machine_of(point);
        const bool known = std::ranges::any_of(machines, [&](const Machine* m) { return m->name == machine->name; });
        if (!known) machines.push_back(machine);
    }
    if (machines.empty()) machines.push_back(&sweep.machine);
    return machines;
}

// The problems of the points as far as anybody has compared them: each model once, on the most ranks.
std::vector<ProblemRecord> problems_of(const Sweep& sweep) {
    ProblemRecord most = sweep.problem;
    std::vector<std::string> models;
    for (const Variation& variation : sweep.variations) {
        for (const Setting& setting : variation.settings) {
            if (variation.name == "ranks") most.ranks = std::max(most.ranks, static_cast<int>(*setting.number));
            if (variation.name == "model") add(models, setting.text.substr(0, setting.text.find(':')));
        }
    }
    if (models.empty()) return {most};
    std::vector<ProblemRecord> problems;
    for (const std::string& model : models) {
        problems.push_back(most);
        problems.back().model.name = model;
    }
    return problems;
}

// Whether all of them were compared with runs.
bool was_compared(const Sweep& sweep) {
    const std::vector<const Machine*> machines = machines_of(sweep);
    const std::vector<ProblemRecord> problems = problems_of(sweep);
    return std::ranges::all_of(machines, [&](const Machine* machine) {
        return std::ranges::all_of(problems, [&](const ProblemRecord& problem) {
            return was_compared(*machine, origin_of(*machine), problem);
        });
    });
}

std::string evidence_text(const Sweep& sweep) {
    std::vector<std::string> texts;
    for (const Machine* machine : machines_of(sweep)) {
        for (const ProblemRecord& problem : problems_of(sweep))
            add(texts, evidence_text(*machine, origin_of(*machine), problem));
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

std::string decisions_text(const SweepCertainty& certainty, const Sweep& sweep, bool once) {
    std::string text;
    if (!certainty.slower.empty()) {
        const bool compared = was_compared(sweep);
        text += fmt::format("{} {} {}slower{}. ", listed(certainty.slower), certainty.slower.size() == 1 ? "is" : "are",
                            compared ? "" : "predicted to be ", once ? "" : " everywhere");
    }
    if (certainty.undecided.empty()) return text;
    return text + fmt::format("Undecided{}, as {}: {}. ", once ? "" : " at some points", apart_text(sweep.machine),
                              listed(certainty.undecided));
}

// Those of the point whose time is the least sure.
std::optional<TimeFactors> widest_factors(const Sweep& sweep) {
    std::optional<TimeFactors> widest = time_factors({}, sweep.machine, sweep.problem.task);
    for (const SweepPoint& point : sweep.points) {
        if (!point.best) continue;
        const auto factors = time_factors(point.best->predicted, sweep.machine_of(point), sweep.problem.task);
        if (factors && factors->most > widest->most) widest = factors;
    }
    return widest;
}

std::string factors_text(const std::optional<TimeFactors>& factors) {
    if (!factors) return "Times hold if the figures of the machine do.";
    const std::string least = fmt::format("{:.2g}", factors->least), most = fmt::format("{:.2g}", factors->most);
    if (least == most) return "Times are as predicted.";
    const std::string likely = factors->likely == 1 ? "" : fmt::format(" (likely {:.2g})", factors->likely);
    return fmt::format("True times are {} to {} times those predicted{}.", least, most, likely);
}

}  // namespace

SweepCertainty certainty_of(const Sweep& sweep) {
    SweepCertainty certainty;
    Verdicts verdicts;
    std::size_t contests = 0;
    for (const Race& race : races_of(sweep)) {
        if (race.competitors.size() < 2) continue;
        for (const Contest& contest : race.contests) {
            judge(sweep, race, contest, verdicts);
            ++contests;
        }
    }
    certainty.undecided = verdicts.tied;
    certainty.slower = verdicts.behind;
    std::erase_if(certainty.slower,
                  [&](const std::string& name) { return has(verdicts.tied, name) || has(verdicts.leading, name); });
    certainty.origin = origin_of(sweep.machine);
    certainty.factors = widest_factors(sweep);
    certainty.evidence = evidence_text(sweep);
    certainty.text = decisions_text(certainty, sweep, contests == 1) + factors_text(certainty.factors);
    return certainty;
}

std::string sure_text(const SweepCertainty& certainty) { return certainty.text + " " + certainty.evidence; }

io::Document encode(const SweepCertainty& certainty) {
    const auto array = [](const std::vector<std::string>& names) {
        io::Document document = io::Document::array();
        for (const std::string& name : names) document.push(name);
        return document;
    };
    io::Document factors;
    if (certainty.factors) {
        factors = io::Document::object({{"least", certainty.factors->least},
                                        {"likely", certainty.factors->likely},
                                        {"most", certainty.factors->most}});
    }
    return io::Document::object({{"text", certainty.text},
                                 {"slower", array(certainty.slower)},
                                 {"undecided", array(certainty.undecided)},
                                 {"time_factors", std::move(factors)},
                                 {"machine", text(certainty.origin)},
                                 {"evidence", certainty.evidence}});
}

}  // namespace gnnplan::tools
