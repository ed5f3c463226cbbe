// Memory of a schedule: liveness of its tensors, offsets in one arena, exact peak on each rank.
#pragma once

#include <gnnplan/base/tensor_memory.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/packed_panel.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

// Every buffer starts at a multiple of this and takes a multiple of it.
inline constexpr std::int64_t arena_alignment = 64;
inline std::int64_t aligned(std::int64_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

// Where one rank keeps everything. Offsets and sizes in bytes.
struct MemoryPlan {
    std::vector<std::int64_t> tensor_offset;   // per tensor; -1 for adjacency
    std::vector<std::int64_t> staging_offset;  // per step; of its packing and panel buffers
    std::vector<std::int64_t> staging_bytes;   // per step; 0 where nothing is staged
    std::int64_t arena_bytes = 0;              // residents first, then transients packed by lifetime
    std::int64_t adjacency_bytes = 0;          // sparse blocks: row starts, columns, values
    std::int64_t request_bytes = 0;            // numbers of the rows that this rank needs of others
    std::int64_t served_bytes = 0;             // numbers of the rows that others need of this rank
    std::int64_t load_bytes = 0;               // the graph's structure, or a share of it, while blocks are cut from it
    std::int64_t order_bytes = 0;  // of the numbering, until features are read; of batches with the pool and features
    std::int64_t output_vertex_bytes = 0;  // numbers of the vertices whose outputs an inference writes
    bool keeps_graph = false;              // the graph and the numbering stay to the end: batches are drawn from them
    // adjacency + requests + output vertices + max(load + order, arena + max(order, served)), where load and order go
    std::int64_t peak_bytes = 0;
    std::int64_t device_peak_bytes = 0;  // without what a device's host does: adjacency + requests + arena + served

    // Beside blocks, requests and the arena, while epochs run.
    std::int64_t kept_bytes() const {
        return keeps_graph ? load_bytes + order_bytes + served_bytes : std::max(order_bytes, served_bytes);
    }
    std::int64_t peak(const TensorMemory& memory) const {
        return memory.accelerator ? device_peak_bytes + memory.workspace_bytes : peak_bytes;
    }
    // The peak of an accelerator's host that cuts `cut` bytes, then keeps the requests and `rows` more bytes.
    std::int64_t host_peak(std::int64_t cut, std::int64_t rows) const {
        return load_bytes + order_bytes + std::max(cut, request_bytes + rows);
    }
};

// `graph` answers in the schedule's numbering, here and below.
MemoryPlan plan_memory(const Schedule& schedule, const GraphStats& graph, int rank);

// The most that the host of an accelerator holds of what it cuts for `rank` and has not uploaded yet.
std::int64_t cut_bytes(const Schedule& schedule, const GraphStats& graph, int rank);

// The largest peak over all ranks: of processors, which load the graph as well, or of accelerators, whose hosts do.
std::int64_t peak_bytes_per_rank(const Schedule& schedule, const GraphStats& graph, const TensorMemory& memory = {});

// Buffers of a step on `rank` besides its tensors. A redistribution stages what is not contiguous in the source or the
// target; a distributed product the largest piece received from another rank, its nonzeros, and the needed rows of a
// piece that it sends; any product with source panels the rows that one of them meets; a reduce-scatter its largest
// block; a column-parallel loss the statistics of its rows and its peers'.
struct Staging {
    std::int64_t send_bytes = 0;
    std::int64_t receive_bytes = 0;
};
Staging staging_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);

// The staging of a product, aligned: of a distributed one `packs` buffers of packed rows, then `copies` buffers of
// dense rows, `kept` more of those that are to be passed on, and `copies` buffers of nonzeros; with overlap,
// Storage::pieces_ahead() pieces are on their way while one is multiplied. Then the packed rows of a panel, and where
// rows travel in bf16 the rank's own rows, if they are sent as they lie, and the floats of one piece.
struct SpmmBuffers {
    std::int64_t pack = 0;
    std::int64_t dense = 0;
    std::int64_t nonzeros = 0;
    std::int64_t panel = 0;
    std::int64_t own = 0;
    std::int64_t widened = 0;
    std::int64_t slice_columns = 0;  // of a panel's packed rows
    int packs = 1;
    int copies = 1;
    int kept = 0;

    std::int64_t exchange_bytes() const { return (copies + kept) * dense + copies * nonzeros; }  // what others send
    std::int64_t received_bytes() const { return exchange_bytes() + panel; }
    std::int64_t bytes() const { return packs * pack + received_bytes() + own + widened; }
};
// Adds what rows in bf16 need besides, given the largest piece that arrives.
void add_rounded(const Schedule& schedule, const SpmmStep& step, int rank, SpmmBuffers& buffers);
SpmmBuffers spmm_buffers(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank);

// Bytes of an adjacency's local sparse blocks, one for each piece that is stored here, and of its scales where values
// are factored.
std::int64_t adjacency_block_bytes(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank);

// Bytes of the whole graph as it is loaded: 8 * (N + 1) + 4 * nnz per stored direction, 4 * nnz more where edges have
// weights, and two 8-byte scales per vertex, and per clone of one.
std::int64_t load_bytes(const GraphStats& graph);
// The same of what `rank` holds: where graphs are loaded in shares, of n rows of A^T, or of what layers have drawn of
// it, 8 (n + 1) bytes and as many for each nonzero; of A as well where the schedule multiplies by it and it is not A^T;
// two scales for each row, one for each column that others' rows are met in, in each direction, and 12 bytes for every
// 64 vertices to find these.
std::int64_t load_bytes(const Schedule& schedule, const GraphStats& graph, int rank);
// A numbering that is not the file's takes 8 bytes per vertex, with its inverse; a cut 4 more, and 2 for each nonzero.
// Clones take 8 bytes each, and their graphs as much as a graph that is loaded.
std::int64_t order_bytes(const GraphStats& graph, const Numbering& numbering);

// In an inference whose numbering is not the file's, 4 bytes for each row of the outputs that `rank` has: its vertex in
// the file, which decides where the row is written.
std::int64_t output_vertex_bytes(const Schedule& schedule, int rank);

// The `count` tensors (names) that take most bytes on `rank`, largest first.
struct TensorSize {
    std::string name;
    std::int64_t bytes = 0;
};
std::vector<TensorSize> largest_tensors(const Schedule& schedule, const GraphStats& graph, int rank, int count);

}  // namespace gnnplan
