// Scores from what evaluations count.
#pragma once

#include "runtime/data/dataset.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <optional>
#include <span>

namespace gnnplan::data {

struct Judged {
    Judgement judgement{};
    std::optional<double> valid_loss{};  // mean; unset: not added up, no labelled vertex, or no finite number
};

// Whether there is a label or a class that some of a subset's vertices have and others have not: without it there is no
// ROC-AUC of the subset.
bool can_rank(const Dataset& dataset, Subset subset);

// `counts` and `ranks`: as those of ScoreStep and RankSumStep, over all vertices. No scores of none.
Judged judge(std::span<const double> counts, std::span<const double> ranks, const Dataset& dataset);

}  // namespace gnnplan::data
