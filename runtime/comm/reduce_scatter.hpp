// Reduce-scatter and all-reduce over any of the ranks, built from exchanges, so that its convention is what is sent.
#pragma once

#include "kernels/table.hpp"
#include "runtime/comm/communicator.hpp"

#include <cstdint>

namespace gnnplan::comm {

// Ring reduce-scatter over `group`: ranks of `world` in ring order, this one among them, each once. Collective over
// the group; other ranks stay away or form groups of their own. Block i of the values is
// values[offsets[i] .. offsets[i+1]), the same on every rank; summed over the group it ends in `mine` on group[i].
//
// Convention, with g ranks, block sizes b_0 .. b_{g-1} and indices mod g: in step k = 0 .. g-2 the rank at index i
// sends its sum of block i-1-k to index i+1 and adds its own values to block i-2-k, which comes from index i-1. It
// sends every block but its own, total - b_i, and receives every block but its left neighbour's, total - b_{i-1}. Empty
// blocks are not sent. Over all ranks: (g - 1) total. Between processes a block goes in messages of 1 MiB, so that one
// is added while the next one comes; ranks that are threads lend it (Communicator::lend). Block b is summed in the
// order b+1, b+2, .., b+g of the ranks: the same bits in every run.
//
//   kernels  of the memory that the values are in
//   offsets  g + 1, not descending, from 0 or more to values.size() or less
//   values   overwritten
//   mine     as long as this rank's block; overlaps neither values nor scratch
//   scratch  at least as long as the largest block
// Throws ErrorCode::internal where these do not hold.
void reduce_scatter(Communicator& world, const kernels::Table& kernels, std::span<const int> group,
                    std::span<float> values, std::span<const std::int64_t> offsets, std::span<float> mine,
                    std::span<float> scratch);

// Ring all-reduce over `group`, as above: afterwards the values are their sum on each of its ranks. A reduce-scatter in
// which the rank at index i ends with block i + 1 of g balanced blocks, and an all-gather: it sends every block but
// that one, then every block but the next, as Communicator::all_reduce() does over all ranks.
//
//   add      Table::add, or Table::add_squares, of the memory that the values are in
//   scratch  at least as long as the largest block
using Add = decltype(kernels::Table::add);
void all_reduce(Communicator& world, Add add, std::span<const int> group, std::span<float> values,
                std::span<float> scratch);

}  // namespace gnnplan::comm
