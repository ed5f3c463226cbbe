// Whether a plan, its data and the options fit together.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/load/share.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gnnplan::deploy {

// How the data must be read to be what the plan was made for.
data::DatasetOptions dataset_options(const Plan& plan, FeatureNorm feature_norm);

// Checks that the data is what the plan was made for: by the graph's fingerprint when the plan has one, else by sizes.
// Returns remarks for the user. Throws ErrorCode::mismatch, ErrorCode::data when there is nothing to train on, or
// ErrorCode::usage where something was generated that the data may have (data::check_generated()).
std::vector<std::string> match_data(const Plan& plan, const data::Dataset& dataset);

// The same for a graph that was loaded in shares, of which match_data() knows nothing.
std::vector<std::string> match_share(const Plan& plan, const load::GraphShare& share);

// The same for the features: `sum` is Dataset::feature_hash() of all rows. Throws ErrorCode::mismatch.
void match_features(const Plan& plan, const data::Dataset& dataset, std::uint64_t sum);

// Finds out whether data that was found wrong is of another graph than the plan. If `options` leave the graph to be
// read in shares, nobody has counted its vertices yet: this reads the file once to do so, and throws
// ErrorCode::mismatch if the plan has another number.
void match_vertices(const Plan& plan, const std::filesystem::path& path, data::DatasetOptions options);

// Plans cost dropout, because it may be asked for. Takes the steps out of the predictions that have nothing to do
// where the features are dropped with probability 0; dropout within an activation stays in its time.
void leave_out_idle_dropout(Plan& plan, double features_dropout);

// A run stores row starts as its device reads them best, whatever machine the plan is for: what it counts follows from
// the plan from here on.
void take_row_starts(Plan& plan, const TensorMemory& memory);

// Candidates that can run on this data with this probability of dropping features, in the plan's order; without
// `dataset`, those that the probability alone allows. Throws ErrorCode::mismatch when there is none.
std::vector<int> usable_candidates(const Plan& plan, double features_dropout, const data::Dataset* dataset = nullptr);

}  // namespace gnnplan::deploy
