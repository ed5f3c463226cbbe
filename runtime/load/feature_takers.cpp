#include "runtime/load/feature_takers.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <map>
#include <utility>

namespace gnnplan::load {

FeatureTakers::FeatureTakers(const Schedule& schedule, const std::vector<TensorId>& tensors)
    : ranks_(schedule.grid.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Taker>> same_rows;
        std::vector<Block>& blocks = blocks_.emplace_back();
        for (int rank = 0; rank < ranks_; ++rank) {
            Block block = block_of(schedule, tensors[i], rank);
            if (block.count() == 0) block = {};
            blocks.push_back(block);
            if (block.count() > 0) same_rows[{block.rows.begin, block.rows.end}].push_back({rank, i, block.columns});
        }
        std::vector<Group>& groups = of_tensor_.emplace_back();
        for (auto& [rows, takers] : same_rows) {
            ensure(groups.empty() || groups.back().rows.end <= rows.first, "rows of different blocks do not overlap");
            groups.push_back({{rows.first, rows.second}, std::move(takers)});
        }
    }
}

std::vector<TensorId> feature_tensors(const Schedule& schedule) {
    std::vector<TensorId> tensors;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role == Role::features) tensors.push_back(static_cast<TensorId>(id));
    }
    return tensors;
}

}  // namespace gnnplan::load
