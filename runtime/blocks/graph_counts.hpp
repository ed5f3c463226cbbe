// The planner's questions about a graph, answered by the loaded graph.
#pragma once

#include "runtime/graph/clones.hpp"
#include "runtime/graph/order.hpp"
#include "runtime/sample/pool.hpp"

#include <gnnplan/ir/graph_stats.hpp>

#include <memory>
#include <vector>

namespace gnnplan::data {

class ColumnProfile;
class ColumnTally;

// Exact answers in a numbering that is known vertex by vertex.
class NumberedCounts : public GraphStats {
public:
    virtual const VertexOrder& order() const = 0;
    // Where the numbering has clones, these, and the same questions about their graphs, which are as they are numbered;
    // else null and this object.
    virtual const Clones* clones() const { return nullptr; }
    virtual const NumberedCounts& of_groups() const { return *this; }
    // Where groups train on batches, the pool of these; else null.
    virtual const sample::Pool* pool() const { return nullptr; }
    // The same answers but for groups, which have these clones; of a numbering that has batches.
    virtual std::shared_ptr<const NumberedCounts> with_clones(Clones&&) const { return nullptr; }
    // The vertices of the rows of a space.
    const VertexOrder& order_of(bool groups) const {
        return groups && clones() != nullptr ? clones()->vertices : order();
    }
};

// In which order blocks are cut out of a graph: a rank's share of one is numbered as the schedule is, and needs none.
inline const VertexOrder* cutting_order(const Graph& graph, const NumberedCounts& counts) {
    return graph.share ? nullptr : &counts.order();
}

// Copies share what they have counted; all of it may be used from several threads.
class GraphCounts final : public NumberedCounts {
public:
    // `graph` outlives this object and what numbered() returns. `subset` holds a Subset for each vertex; empty, all
    // train. `pool` is drawn, and need not be drawn again for those who ask about its batches.
    explicit GraphCounts(const Graph& graph, std::vector<std::uint8_t> subset = {},
                         std::shared_ptr<const sample::Pool> pool = nullptr);

    std::int64_t vertices() const override { return graph_.vertices(); }
    std::int64_t nonzeros() const override { return graph_.nonzeros(); }
    bool symmetric() const override { return graph_.symmetric; }
    bool weighted() const override { return graph_.weighted; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId which, Range rows) const override;
    // The first question about a row range scans its nonzeros; the next ones look the answer up (ColumnProfile). For
    // all row ranges together that takes at most 24 bytes a nonzero of the graph, or 64 MiB where that is more.
    std::int64_t block_nonzeros(MatrixId which, Range rows, Range columns) const override;
    std::int64_t distinct_columns(MatrixId which, Range rows, Range columns) const override;
    std::vector<std::int64_t> block_nonzeros_of(MatrixId which, Range rows,
                                                const std::vector<Range>& columns) const override;
    std::vector<std::int64_t> distinct_columns_of(MatrixId which, Range rows,
                                                  const std::vector<Range>& columns) const override;
    std::int64_t columns_met(bool transposed, Range rows, Range columns) const override;
    // The first question about these ranges scans their nonzeros (ColumnUsers), and answers are kept.
    std::vector<std::int64_t> columns_by_next(MatrixId which, const std::vector<Range>& rows,
                                              Range columns) const override;
    // The first question about a block scans the nonzeros of its rows (reuse.hpp).
    ReuseHistogram reuse(MatrixId which, Range rows, Range columns, std::int64_t panel_columns) const override;
    int samples() const override { return static_cast<int>(graph_.drawn.size()); }
    bool samples_weighted() const override { return samples() > 0 && graph_.drawn.front().weighted(); }
    std::int64_t training_vertices() const override { return training_vertices_; }
    std::vector<std::int64_t> loss_rows(int layers) const override;
    std::vector<std::int64_t> groups() const override;
    std::int64_t shared_clones(int group, int owner, int bin) const override {
        return clones() != nullptr ? clones()->shared_clones(group, owner, bin) : 0;
    }
    // Works the order out anew (make_order) unless the numbering is this object's: keep the result.
    std::shared_ptr<const GraphStats> numbered(const Numbering& numbering) const override;
    // Keeps the last few results of numbered() from now on, as long as this object or a copy is there: who asks again
    // gets the same ones.
    void keep_numbered();

    const VertexOrder& order() const override { return *order_; }
    const Clones* clones() const override;
    const NumberedCounts& of_groups() const override;
    // Where updates use batches, the clones are those of the largest batches (Pool::largest).
    const sample::Pool* pool() const override;
    std::int64_t pool_bytes() const override { return pool() != nullptr ? pool()->bytes() : 0; }
    BatchMeans batch_means() const override { return pool() != nullptr ? pool()->means() : BatchMeans(); }
    std::shared_ptr<const NumberedCounts> with_clones(Clones&& clones) const override;

private:
    struct Groups;
    class Matrices;
    class Cache;
    class Kept;
    class Pools;

    // The same graph in another numbering.
    GraphCounts(const GraphCounts& other, const Numbering& numbering);
    bool asks_clones(MatrixId which) const { return groups_ != nullptr && which.part == MatrixId::of_groups; }
    MatrixId stored(MatrixId which) const;
    Range diagonal_of(MatrixId which, Range rows) const;
    std::shared_ptr<const ColumnProfile> profile(MatrixId which, Range rows) const;
    Range tally(MatrixId which, Range rows, ColumnTally& tally) const;

    const Graph& graph_;
    std::shared_ptr<const std::vector<std::uint8_t>> subset_;
    std::shared_ptr<Matrices> matrices_;
    std::int64_t training_vertices_;
    Numbering numbering_;
    std::shared_ptr<const VertexOrder> order_;
    std::shared_ptr<Cache> cache_;
    std::shared_ptr<Kept> kept_;            // null: none are kept
    std::shared_ptr<Pools> pools_;          // of batches that numberings have asked for
    std::shared_ptr<const Groups> groups_;  // null: there are no clones
};

}  // namespace gnnplan::data
