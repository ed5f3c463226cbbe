#include "runtime/comm/reduce_scatter.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan::comm {
namespace {

kernels::Matrix one_row_of(std::span<float> values) {
    const auto columns = static_cast<std::int64_t>(values.size());
    return {values.data(), 1, columns, columns};
}

// The group's ring and the blocks of the values, by index mod g.
class Ring {
public:
    Ring(std::span<const int> group, std::span<float> values, std::span<const std::int64_t> offsets)
        : group_(group), values_(values), offsets_(offsets) {
        ensure(offsets.size() == group.size() + 1, "reduce-scatter: a group of g ranks needs g + 1 offsets");
        ensure(std::is_sorted(offsets.begin(), offsets.end()), "reduce-scatter: offsets descend");
        ensure(offsets.front() >= 0 && offsets.back() <= static_cast<std::int64_t>(values.size()),
               "reduce-scatter: offsets exceed the values");
    }

    int size() const { return static_cast<int>(group_.size()); }
    int index_of(int rank) const {
        ensure(std::count(group_.begin(), group_.end(), rank) == 1, "reduce-scatter: this rank is not in the group");
        return static_cast<int>(std::find(group_.begin(), group_.end(), rank) - group_.begin());
    }
    int rank(int index) const { return group_[around(index)]; }
    std::span<float> block(int index) const {
        const auto begin = static_cast<std::size_t>(offsets_[around(index)]);
        return values_.subspan(begin, static_cast<std::size_t>(offsets_[around(index) + 1]) - begin);
    }

    // Afterwards the rank at index `last` has the sum of block `last`.
    void reduce(Communicator& world, Add add, int me, int last, std::span<float> scratch) const {
        for (int k = 0; k + 1 < size(); ++k) {
            const std::span<float> sum = block(last - 2 - k);
            const std::span<float> terms = scratch.first(sum.size());
            const Send send{rank(me + 1), std::as_bytes(block(last - 1 - k))};
            const Receive receive{rank(me - 1), std::as_writable_bytes(terms)};
            world.exchange({&send, 1}, {&receive, 1});
            add(one_row_of(terms), one_row_of(sum));
        }
    }
    // Block `first` of every rank goes round until all have it.
    void gather(Communicator& world, int me, int first) const {
        for (int k = 0; k + 1 < size(); ++k) {
            const Send send{rank(me + 1), std::as_bytes(block(first - k))};
            const Receive receive{rank(me - 1), std::as_writable_bytes(block(first - 1 - k))};
            world.exchange({&send, 1}, {&receive, 1});
        }
    }

private:
    // index >= -2 g
    std::size_t around(int index) const { return static_cast<std::size_t>(index + 2 * size()) % group_.size(); }

    std::span<const int> group_;
    std::span<float> values_;
    std::span<const std::int64_t> offsets_;
};

}  // namespace

void reduce_scatter(Communicator& world, const kernels::Table& kernels, std::span<const int> group,
                    std::span<float> values, std::span<const std::int64_t> offsets, std::span<float> mine,
                    std::span<float> scratch) {
    const Ring ring(group, values, offsets);
    const int me = ring.index_of(world.rank());
    ensure(mine.size() == ring.block(me).size(), "reduce-scatter: the result has another length than the block");
    for (int index = 0; index < ring.size(); ++index)
        ensure(ring.block(index).size() <= scratch.size(), "reduce-scatter: scratch is shorter than a block");

    ring.reduce(world, kernels.add, me, me, scratch);
    kernels.copy(one_row_of(ring.block(me)), one_row_of(mine));
}

void all_reduce(Communicator& world, Add add, std::span<const int> group, std::span<float> values,
                std::span<float> scratch) {
    const auto ranks = static_cast<int>(group.size());
    std::vector<std::int64_t> offsets{0};
    for (int i = 0; i < ranks; ++i) offsets.push_back(balanced_block({0, std::ssize(values)}, i, ranks).end);
    const Ring ring(group, values, offsets);
    const int me = ring.index_of(world.rank());
    ensure(ring.block(0).size() <= scratch.size() || ranks == 1, "all-reduce: scratch is shorter than a block");
    ring.reduce(world, add, me, me + 1, scratch);
    ring.gather(world, me, me + 1);
}

}  // namespace gnnplan::comm
