#include "runtime/comm/reduce_scatter.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan::comm {
namespace {

constexpr std::size_t longest_turn = 1 << 18;  // floats: the next ones come while these are added

template <class T>
kernels::Dense<T> one_row_of(std::span<T> values) {
    const auto columns = static_cast<std::int64_t>(values.size());
    return {values.data(), 1, columns, columns};
}

// Floats on their way from one rank to the next of a ring. Those that come are taken by take(floats, at), a part after
// the other, the first of a part being the at-th: where they lie, between ranks that share memory, else in `room`,
// which is as long as all of them.
template <class Take>
void pass(Communicator& world, int to, std::span<const float> sent, int from, std::span<float> room, const Take& take) {
    const Send send{to, std::as_bytes(sent)};
    const Receive receive{from, std::as_writable_bytes(room)};
    if (const auto loan = world.lend({&send, 1}, {&receive, 1})) {
        const auto bytes = loan->received(0);
        take({reinterpret_cast<const float*>(bytes.data()), room.size()}, 0);
        return loan->end();
    }
    const std::size_t all = std::max(sent.size(), room.size());
    const std::size_t turn = world.needs_progress() ? longest_turn : std::max<std::size_t>(1, all);
    const auto part = [turn](auto values, std::size_t begin) {
        begin = std::min(begin, values.size());
        return values.subspan(begin, std::min(turn, values.size() - begin));
    };
    const auto place = [&](std::size_t at) {
        const std::size_t floats = part(room, at).size();
        return room.subspan(floats > 0 ? at / turn % 2 * turn : 0, floats);
    };
    const auto start = [&](std::size_t at) {
        const Send out{to, std::as_bytes(part(sent, at))};
        const Receive in{from, std::as_writable_bytes(place(at))};
        return world.start_exchange({&out, 1}, {&in, 1});
    };
    auto coming = all > 0 ? start(0) : nullptr;
    for (std::size_t at = 0; at < all; at += turn) {
        coming->wait();
        coming = at + turn < all ? start(at + turn) : nullptr;
        if (const auto come = place(at); !come.empty()) take(come, at);
    }
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

    // The rank at index `last` ends with block `last`: finish(terms, at) makes its sums there, from the at-th value on.
    template <class Finish>
    void reduce(Communicator& world, Add add, int me, int last, std::span<float> scratch, const Finish& finish) const {
        for (int k = 0; k + 1 < size(); ++k) {
            const std::span<float> sums = block(last - 2 - k);
            const auto take = [&](std::span<const float> terms, std::size_t at) {
                if (k + 2 == size()) return finish(terms, at);
                add(one_row_of(terms), one_row_of(sums.subspan(at, terms.size())));
            };
            pass(world, rank(me + 1), block(last - 1 - k), rank(me - 1), scratch.first(sums.size()), take);
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

    const std::span<float> block = ring.block(me);
    if (ring.size() == 1) return kernels.copy(one_row_of(block), one_row_of(mine));
    const auto finish = [&](std::span<const float> terms, std::size_t at) {
        const std::span<const float> own = block.subspan(at, terms.size());
        kernels.sum(one_row_of(terms), one_row_of(own), one_row_of(mine.subspan(at, terms.size())));
    };
    ring.reduce(world, kernels.add, me, me, scratch, finish);
}

void all_reduce(Communicator& world, Add add, std::span<const int> group, std::span<float> values,
                std::span<float> scratch) {
    const auto ranks = static_cast<int>(group.size());
    std::vector<std::int64_t> offsets{0};
    for (int i = 0; i < ranks; ++i) offsets.push_back(balanced_block({0, std::ssize(values)}, i, ranks).end);
    const Ring ring(group, values, offsets);
    const int me = ring.index_of(world.rank());
    ensure(ring.block(0).size() <= scratch.size() || ranks == 1, "all-reduce: scratch is shorter than a block");
    const std::span<float> block = ring.block(me + 1);
    const auto finish = [&](std::span<const float> terms, std::size_t at) {
        add(one_row_of(terms), one_row_of(block.subspan(at, terms.size())));
    };
    ring.reduce(world, add, me, me + 1, scratch, finish);
    ring.gather(world, me, me + 1);
}

}  // namespace gnnplan::comm
