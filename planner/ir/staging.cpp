#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// Staging of one step on any rank; the blocks of all ranks are looked up once.
class StepStaging {
public:
    StepStaging(const Schedule& schedule, const Step& step) : schedule_(schedule), operation_(step.operation) {
        if (const auto* redistribute = std::get_if<RedistributeStep>(&operation_)) {
            sources_ = blocks_of(schedule, redistribute->in);
            targets_ = blocks_of(schedule, redistribute->out);
        } else if (const auto* spmm = std::get_if<SpmmStep>(&operation_)) {
            sources_ = blocks_of(schedule, spmm->in);
        }
    }

    Staging on(int rank) const {
        return std::visit(Overloaded{
                              [&](const RedistributeStep& s) { return redistribution(s, rank); },
                              [&](const SpmmStep& s) { return panels(s, rank); },
                              [](const GemmStep&) { return Staging{}; },
                              [](const WeightGradStep&) { return Staging{}; },
                              [](const AllReduceStep&) { return Staging{}; },
                              [](const MapStep&) { return Staging{}; },
                              [](const LossStep&) { return Staging{}; },
                              [](const ScoreStep&) { return Staging{}; },
                              [](const UpdateStep&) { return Staging{}; },
                          },
                          operation_);
    }

private:
    const Block& source(int rank) const { return sources_[static_cast<std::size_t>(rank)]; }
    const Block& target(int rank) const { return targets_[static_cast<std::size_t>(rank)]; }

    Staging redistribution(const RedistributeStep& step, int rank) const {
        Staging staging;
        const DType dtype = tensor_of(schedule_, step.in).dtype;
        const auto staged = [&](const Block& part, const Block& whole) {
            const bool in_place = dtype != DType::bits && contiguous_in(part, whole);
            return in_place ? 0 : bytes_of(dtype, part.count());
        };
        const int first = rank / schedule_.grid.y * schedule_.grid.y;
        for (int peer = first; peer < first + schedule_.grid.y; ++peer) {
            if (peer == rank) continue;
            staging.send_bytes += staged(intersect(source(rank), target(peer)), source(rank));
            staging.receive_bytes += staged(intersect(target(rank), source(peer)), target(rank));
        }
        return staging;
    }

    Staging panels(const SpmmStep& step, int rank) const {
        Staging staging;
        const Grid& grid = schedule_.grid;
        if (step.exchange == Exchange::none) return staging;
        const DType dtype = tensor_of(schedule_, step.in).dtype;
        for (int ix = 0; ix < grid.x; ++ix) {
            const int root = grid.rank_at(ix, grid.coordinate(rank, Axis::y), grid.coordinate(rank, Axis::z));
            if (root == rank) continue;
            staging.receive_bytes = std::max(staging.receive_bytes, bytes_of(dtype, source(root).count()));
        }
        return staging;
    }

    const Schedule& schedule_;
    const Operation& operation_;
    std::vector<Block> sources_, targets_;
};

}  // namespace

Staging staging_of(const Schedule& schedule, const Step& step, int rank) {
    return StepStaging(schedule, step).on(rank);
}

std::vector<Staging> staging_of(const Schedule& schedule, const Step& step) {
    const StepStaging on_all(schedule, step);
    std::vector<Staging> staging;
    staging.reserve(static_cast<std::size_t>(schedule.grid.size()));
    for (int rank = 0; rank < schedule.grid.size(); ++rank) staging.push_back(on_all.on(rank));
    return staging;
}

}  // namespace gnnplan
