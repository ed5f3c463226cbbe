#include "runtime/load/row_shares.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace gnnplan::load {
namespace {

void refuse_other_numberings(const Numbering& numbering) {
    if (numbering.parts <= 1 && numbering.loss_layers == 0) return;
    throw Error(ErrorCode::usage,
                numbering.parts > 1
                    ? "this plan numbers vertices by the parts that a partitioner makes of the whole graph"
                    : "this plan numbers vertices by who needs them, which takes the whole graph",
                "`load sharded`", "use `load whole`, or plan again without `partition`, a cut or `inexact`");
}

}  // namespace

RowShares::RowShares(const Schedule& schedule) {
    refuse_other_numberings(schedule.numbering);
    const int ranks = schedule.grid.size();
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<int>> same_rows;
    for (int rank = 0; rank < ranks; ++rank) {
        kept_.push_back(adjacency_rows(schedule, rank));
        same_rows[{kept_.back().begin, kept_.back().end}].push_back(rank);
    }
    made_.resize(at(ranks));
    group_of_.resize(at(ranks));
    for (auto& [rows, group] : same_rows) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            const auto rank = at(group[i]);
            made_[rank] = balanced_block({rows.first, rows.second}, static_cast<std::int64_t>(i), std::ssize(group));
            group_of_[rank] = groups_.size();
            if (made_[rank].empty()) continue;
            first_.push_back(made_[rank].begin);
            maker_.push_back(group[i]);
        }
        groups_.push_back(std::move(group));
    }
    ensure(std::is_sorted(first_.begin(), first_.end()), "rows of different ranks do not overlap");
    find_near(same_rows.empty() ? 0 : same_rows.rbegin()->first.second);
}

// A few buckets for each maker, so that most of them have rows of one.
void RowShares::find_near(std::int64_t rows) {
    constexpr std::int64_t of_each_maker = 8;
    while ((rows >> bucket_bits_) > of_each_maker * std::ssize(first_)) ++bucket_bits_;
    for (std::int64_t row = 0; row < rows; row += std::int64_t{1} << bucket_bits_) {
        const auto next = std::upper_bound(first_.begin(), first_.end(), row);
        near_.push_back(static_cast<std::int32_t>(next - first_.begin() - 1));
    }
}

}  // namespace gnnplan::load
