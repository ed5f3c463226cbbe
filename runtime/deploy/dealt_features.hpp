// Features that ranks read in shares, and what they send for it beside what the plan says.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/load/deal_features.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::deploy {

// Notes what this rank was to send in a step of loading; `planned`: by rank, which holds where files are `known`, else
// it is what was sent. Throws ErrorCode::data if that is another number.
void expect_bytes(load::LoadStep& step, int rank, bool known, const std::vector<std::int64_t>& planned,
                  const std::string& key);

// Collective. Fills the executor's tensors of features, but for those that only steps before `first_step` read; none
// where these are all. Throws ErrorCode::mismatch if the features are not the plan's.
std::optional<load::DealtFeatures> deal_features(comm::Communicator& comm, exec::Executor& executor, const Plan& plan,
                                                 const Candidate& candidate, const data::Dataset& dataset,
                                                 std::size_t first_step);

}  // namespace gnnplan::deploy
