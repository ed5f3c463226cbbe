#include "runtime/comm/reduce_scatter.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::comm {
namespace {

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

private:
    // index >= -g
    std::size_t around(int index) const { return static_cast<std::size_t>(index + size()) % group_.size(); }

    std::span<const int> group_;
    std::span<float> values_;
    std::span<const std::int64_t> offsets_;
};

kernels::Matrix one_row_of(std::span<float> values) {
    const auto columns = static_cast<std::int64_t>(values.size());
    return {values.data(), 1, columns, columns};
}

}  // namespace

void reduce_scatter(Communicator& world, const kernels::Table& kernels, std::span<const int> group,
                    std::span<float> values, std::span<const std::int64_t> offsets, std::span<float> mine,
                    std::span<float> scratch) {
    const Ring ring(group, values, offsets);
    const int me = ring.index_of(world.rank());
    ensure(mine.size() == ring.block(me).size(), "reduce-scatter: the result has another length than the block");
    for (int index = 0; index < ring.size(); ++index)
        ensure(ring.block(index).size() <= scratch.size(), "reduce-scatter: scratch is shorter than a block");

    for (int k = 0; k + 1 < ring.size(); ++k) {
        const std::span<float> sum = ring.block(me - 2 - k);
        const std::span<float> terms = scratch.first(sum.size());
        const Send send{ring.rank(me + 1), std::as_bytes(ring.block(me - 1 - k))};
        const Receive receive{ring.rank(me - 1), std::as_writable_bytes(terms)};
        world.exchange({&send, 1}, {&receive, 1});
        kernels.add(one_row_of(terms), one_row_of(sum));
    }
    kernels.copy(one_row_of(ring.block(me)), one_row_of(mine));
}

}  // namespace gnnplan::comm
