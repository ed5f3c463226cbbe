// A row of the features goes to the ranks that take some of its columns.
#pragma once

#include <gnnplan/ir/loading.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gnnplan::load {

// A rank whose block of a tensor has a row.
struct Taker {
    int rank = 0;
    std::size_t tensor = 0;  // its place among those that are asked about
    Range columns;
    std::int64_t bytes() const { return row_number_bytes + 4 * columns.size(); }
};

class FeatureTakers {
public:
    // The tensors are some of the schedule's that hold features.
    FeatureTakers(const Schedule& schedule, const std::vector<TensorId>& tensors);

    int ranks() const { return ranks_; }
    std::size_t tensors() const { return of_tensor_.size(); }
    // Calls take(taker, row in its block) for each; rows count as the schedule numbers them.
    template <class Take>
    void for_row(std::int64_t row, const Take& take) const {
        for (const std::vector<Group>& groups : of_tensor_) {
            const auto next =
                std::ranges::upper_bound(groups, row, {}, [](const Group& group) { return group.rows.begin; });
            if (next == groups.begin() || row >= (next - 1)->rows.end) continue;
            for (const Taker& taker : (next - 1)->takers) take(taker, row - (next - 1)->rows.begin);
        }
    }
    // The rows that a rank takes of a tensor, and which columns of them.
    Range rows(int rank, std::size_t tensor) const { return blocks_[tensor][static_cast<std::size_t>(rank)].rows; }
    Range columns(int rank, std::size_t tensor) const {
        return blocks_[tensor][static_cast<std::size_t>(rank)].columns;
    }

private:
    struct Group {
        Range rows;
        std::vector<Taker> takers;
    };
    int ranks_;
    std::vector<std::vector<Block>> blocks_;     // by tensor and rank
    std::vector<std::vector<Group>> of_tensor_;  // by their rows, which do not overlap
};

// All tensors of a schedule that hold features.
std::vector<TensorId> feature_tensors(const Schedule& schedule);

}  // namespace gnnplan::load
