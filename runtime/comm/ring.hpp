// Ring all-reduce, built from sends and receives.
//
// The g ranks stand in a ring and the values are cut into g balanced blocks. Indices are mod g.
//   reduce-scatter  In step k = 0 .. g-2 rank r sends block r-k to rank r+1 and adds what comes from rank r-1 to its
//                   block r-k-1. It ends up owning block r+1, the only one it did not send; it received every block
//                   but r.
//   all-gather      In step k = 0 .. g-2 rank r sends block r+1-k and receives block r-k: it sends every block but r+2
//                   and receives every block but r+1.
// Block b is summed in the order b, b+1, .., b+g-1 of the ranks and then copied, so all ranks get the same bits.
#pragma once

#include "runtime/comm/thread_group.hpp"

#include <gnnplan/base/range.hpp>

namespace gnnplan::comm {

template <class T>
void ring_all_reduce(ThreadGroup& group, int rank, std::span<T> values) {
    const int ranks = group.size();
    if (ranks == 1) return;
    const auto around = [ranks](int index) { return (index + 2 * ranks) % ranks; };
    const auto block = [&](int index) {
        const Range range = balanced_block({0, static_cast<std::int64_t>(values.size())}, around(index), ranks);
        return values.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size()));
    };
    const auto step = [&](std::span<const T> out, std::span<T> in) {
        const SendBlock send{around(rank + 1), one_row(std::as_bytes(out)), {}};
        const ReceiveBlock receive{around(rank - 1), one_row(std::as_writable_bytes(in)), {}};
        group.transfer(rank, {&send, 1}, {&receive, 1});
    };
    std::vector<T> scratch(block(0).size());  // no block is larger than the first
    for (int k = 0; k < ranks - 1; ++k) {
        const std::span<T> sum = block(rank - k - 1);
        const std::span<T> term = std::span(scratch).first(sum.size());
        step(block(rank - k), term);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
    }
    for (int k = 0; k < ranks - 1; ++k) step(block(rank + 1 - k), block(rank - k));
}

}  // namespace gnnplan::comm
