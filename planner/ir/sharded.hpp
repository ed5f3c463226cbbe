// Products that gather nonzeros (ir/pieces.hpp), counted for all ranks of a slice at once: what each of them sends,
// stores and stages is a sum, or a maximum, over the same pieces. Of a graph that is there, so are the rows that ranks
// with all nonzeros of their slices need.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace gnnplan {

// Rows of the dense operand, of one rank: those that are needed, or all. Ranks of a y-group have equal ones.
struct SliceRows {
    std::int64_t fetched = 0;       // from other ranks
    std::int64_t served = 0;        // to other ranks
    std::int64_t largest = 0;       // fetched as one piece
    std::int64_t most_at_once = 0;  // served at one stage; 0 where all rows are sent, which nobody packs
};

// Bytes of nonzeros of one rank.
struct SliceNonzeros {
    std::int64_t stored = 0;   // here; every other rank of the y-group fetches them
    std::int64_t fetched = 0;  // from other ranks
    std::int64_t largest = 0;  // fetched as one piece
};

// The ranks at one coordinate along z. Where rows are alike to the graph (GraphStats::marks_of_rows), it is asked once.
class ShardedSlice {
public:
    ShardedSlice(const Schedule& schedule, TensorId matrix, Exchange exchange, const GraphStats& graph, int iz);

    const SliceRows& rows(int ix) const { return rows_[static_cast<std::size_t>(ix)]; }
    const SliceNonzeros& nonzeros(int ix, int iy) const {
        return nonzeros_[kind_of_[static_cast<std::size_t>(ix)]][static_cast<std::size_t>(iy)];
    }

private:
    std::vector<std::size_t> kind_of_;                  // per coordinate along x: of alike rows
    std::vector<SliceRows> rows_;                       // per coordinate along x
    std::vector<std::vector<SliceNonzeros>> nonzeros_;  // per kind and coordinate along y
};

// The slices of a schedule, each counted when it is first asked for. Arguments outlive the object.
class ShardedSlices {
public:
    ShardedSlices(const Schedule& schedule, const GraphStats& graph) : schedule_(schedule), graph_(graph) {}

    bool gathered(TensorId matrix) const { return gathers_matrix(schedule_.grid, tensor_of(schedule_, matrix)); }
    // The matrix of a product that gathers nonzeros, or whose needed rows the step asks for; none of other steps.
    std::optional<TensorId> matrix_of(const Step& step) const;
    // Whether the step's traffic and buffers are counted so.
    bool counts(const Step& step) const { return matrix_of(step) || whole_matrix_of(step); }
    // Answers as traffic_of does, for any step.
    RankTraffic traffic(const Step& step, int rank);
    // As spmm_buffers has them, but for the panel.
    SpmmBuffers buffers(const SpmmStep& product, int rank);
    // As adjacency_block_bytes has them; `needed_rows`: products with the matrix exchange these only.
    std::int64_t adjacency_bytes(TensorId matrix, bool needed_rows, int rank);

private:
    const ShardedSlice& slice(TensorId matrix, Exchange exchange, int rank);
    // The matrix of whole slices whose needed rows, or requests for them, a step exchanges; and these rows.
    std::optional<TensorId> whole_matrix_of(const Step& step) const;
    const SliceRows& needed_rows_of(TensorId matrix, int rank);

    const Schedule& schedule_;
    const GraphStats& graph_;
    std::map<std::tuple<TensorId, Exchange, int>, ShardedSlice> slices_;
    std::map<TensorId, std::vector<SliceRows>> needed_;  // per rank
};

}  // namespace gnnplan
