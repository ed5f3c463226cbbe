#include "planner/search/candidates.hpp"

#include <algorithm>
#include <tuple>

namespace gnnplan::search {
namespace {

double value_of(const RankedConfiguration& ranked, Objective objective) {
    switch (objective) {
        case Objective::time: return ranked.predicted.ranked_seconds();
        case Objective::memory: return static_cast<double>(ranked.predicted.peak_bytes_per_rank);
        case Objective::volume: return static_cast<double>(ranked.predicted.total_bytes);
        case Objective::spmm: return ranked.executed.sparse;
    }
    return 0;
}

bool beats(const RankedConfiguration& a, const RankedConfiguration& b, const std::vector<Objective>& objectives) {
    bool better = false;
    for (const Objective objective : objectives) {
        const double x = value_of(a, objective);
        const double y = value_of(b, objective);
        if (x > y) return false;
        better = better || x < y;
    }
    return better;
}

// Whether a run would try the two as one: of those that differ in other switches only, the faster comes first.
bool tried_alike(const Configuration& a, const Configuration& b) {
    const auto tried = &FeltBy::candidates;
    return a.constant_input == b.constant_input && a.on() == b.on() && a.id == b.id &&
           as_felt(a, tried) == as_felt(b, tried);
}

}  // namespace

bool ranks_before(const EvaluatedCandidate& a, const EvaluatedCandidate& b) {
    const auto key = [](const RankedConfiguration& r) {
        return std::tuple(!r.fits, r.predicted.ranked_seconds(), r.predicted.total_bytes, r.configuration.id,
                          replication_of(r.configuration));
    };
    return key(a.ranked) < key(b.ranked);
}

void mark_front(std::vector<EvaluatedCandidate>& costed, const std::vector<Objective>& objectives) {
    for (EvaluatedCandidate& entry : costed) {
        entry.ranked.pareto =
            entry.ranked.fits && std::none_of(costed.begin(), costed.end(), [&](const EvaluatedCandidate& other) {
                return other.ranked.fits && beats(other.ranked, entry.ranked, objectives);
            });
    }
}

std::vector<Candidate> choose_candidates(const std::vector<EvaluatedCandidate>& costed, int most, bool constant_input,
                                         bool exact) {
    std::vector<const EvaluatedCandidate*> chosen;
    const auto known = [&](const EvaluatedCandidate& entry) {
        return std::any_of(chosen.begin(), chosen.end(), [&](const EvaluatedCandidate* other) {
            return tried_alike(other->ranked.configuration, entry.ranked.configuration);
        });
    };
    const auto add = [&](std::size_t up_to, auto allowed) {
        for (const EvaluatedCandidate& entry : costed) {
            if (!entry.ranked.fits || chosen.size() >= up_to) break;
            if (allowed(entry.ranked.configuration) && !known(entry)) chosen.push_back(&entry);
        }
    };
    const auto places = static_cast<std::size_t>(most);
    chosen.push_back(&costed.front());
    // Rows pruned by an estimate are not those of any graph: what they belong to answers questions and does not run.
    const auto runs = [&](const Configuration& c) { return exact || !c.loss_rows; };
    if (!runs(costed.front().ranked.configuration)) {
        add(2, runs);
        if (!constant_input) add(3, [&](const Configuration& c) { return runs(c) && !c.constant_input; });
    }
    if (!constant_input) add(1 + places * 3 / 8, [](const Configuration& c) { return !c.constant_input; });
    if (!constant_input && most == 1 && costed.front().ranked.configuration.constant_input) {
        const auto varying = std::find_if(costed.begin(), costed.end(), [](const EvaluatedCandidate& entry) {
            return entry.ranked.fits && !entry.ranked.configuration.constant_input;
        });
        if (varying != costed.end()) chosen = {&*varying};
    }
    add(places, [](const Configuration&) { return true; });
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const EvaluatedCandidate* a, const EvaluatedCandidate* b) { return ranks_before(*a, *b); });
    std::vector<Candidate> candidates;
    candidates.reserve(chosen.size());
    for (const EvaluatedCandidate* entry : chosen) candidates.push_back(entry->candidate);
    return candidates;
}

}  // namespace gnnplan::search
