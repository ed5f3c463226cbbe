#include "runtime/deploy/dealt_features.hpp"

#include "runtime/deploy/match.hpp"

#include <gnnplan/base/error.hpp>

#include <span>

namespace gnnplan::deploy {

void expect_bytes(load::LoadStep& step, int rank, bool known, const std::vector<std::int64_t>& planned,
                  const std::string& key) {
    const std::int64_t sent = step.traffic.sent_bytes;
    step.expected_bytes = known ? planned[static_cast<std::size_t>(rank)] : sent;
    if (step.expected_bytes == sent) return;
    throw Error(ErrorCode::data,
                "rank " + std::to_string(rank) + " has dealt " + std::to_string(sent) + " bytes, and the plan says " +
                    std::to_string(step.expected_bytes),
                "predicted." + key, "the plan was altered, or is of another build: plan again");
}

std::optional<load::DealtFeatures> deal_features(comm::Communicator& comm, exec::Executor& executor, const Plan& plan,
                                                 const Candidate& candidate, const data::Dataset& dataset,
                                                 std::size_t first_step) {
    const std::vector<TensorId> tensors = executor.feature_tensors(first_step);
    if (tensors.empty()) return std::nullopt;
    load::DealtFeatures dealt =
        load::deal_features(comm, dataset, {candidate.schedule, tensors}, executor.order(),
                            [&](std::size_t tensor, std::int64_t row, std::span<const float> values) {
                                executor.put_row(tensors[tensor], row, values);
                            });
    comm::agree(comm, [&] {
        match_features(plan, dataset, dealt.hash);
        const std::vector<std::int64_t>& planned = candidate.predicted.feature_bytes;
        const bool known = std::ssize(planned) == comm.size() && plan.fingerprints.feature_listing == dealt.listing &&
                           tensors == load::feature_tensors(candidate.schedule);
        expect_bytes(dealt.step, comm.rank(), known, planned, "feature_bytes_by_rank");
    });
    return dealt;
}

}  // namespace gnnplan::deploy
