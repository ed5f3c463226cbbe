// How soon a product with a block of a graph's matrix comes back to the rows of its dense operand.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/graph_stats.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace gnnplan::data {

// GraphStats::reuse of the graph, in one scan of the rows. The times between uses of each row, in nonzeros, are counted
// all; distances follow from the average footprint (Xiang, Ding, Luo, Bao, "HOTL", ASPLOS 2013): a row used t nonzeros
// ago has as many other rows in between as a window of t - 1 nonzeros uses on average over all windows of its panel.
// Exact in the mean for uniformly random columns; where the numbering mixes tight and wide stretches, distances of both
// drift towards each other. `order` as in block.hpp.
//
// One object scans one block after the other. It keeps what it counts in, 8 bytes a column, and, where the order is not
// that of the file, 4 bytes a nonzero and 8 a row of each matrix. It only goes through the columns and panels in which
// a block has nonzeros: where ranks are many, most have none in most.
class ReuseScan {
public:
    // Both outlive the object.
    ReuseScan(const Graph& graph, const VertexOrder* order);
    ~ReuseScan();
    ReuseScan(const ReuseScan&) = delete;
    ReuseScan& operator=(const ReuseScan&) = delete;

    ReuseHistogram of(MatrixId which, Range rows, Range columns, std::int64_t panel_columns);

private:
    struct Panel;
    // A nonzero.
    struct Met {
        std::int64_t row = 0;
        std::uint32_t column = 0;  // among the columns of the block
        std::uint32_t place = 0;   // of its panel
    };
    struct FirstUse {
        Panel* panel = nullptr;
        std::int64_t nonzeros = 0;  // of the panel up to it
        std::uint32_t column = 0;
    };

    // The columns of all rows of a matrix, as the order has them.
    struct Rows {
        std::vector<std::int64_t> start;
        std::vector<std::int32_t> column;
        std::span<const std::int32_t> row(std::int64_t i) const {
            const std::int64_t begin = start[static_cast<std::size_t>(i)];
            return {column.data() + begin, static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1] - begin)};
        }
    };

    const Rows* kept_rows(MatrixId which);
    void meet(std::int64_t row, std::span<const std::int32_t> columns);
    void begin(Range rows, Range columns, std::int64_t panel_columns);
    Panel& new_panel(std::size_t place);
    void use_met();
    void use(const Met& met);
    ReuseHistogram finish();

    const Graph& graph_;
    const VertexOrder* order_;
    std::map<MatrixId, Rows> kept_;
    Range rows_, columns_;
    std::int64_t all_panels_ = 1;
    std::uint32_t panel_columns_ = 1;
    std::vector<std::unique_ptr<Panel>> panels_;  // the first `used_panels_` have nonzeros
    std::size_t used_panels_ = 0;
    std::vector<Met> met_;              // and not looked at yet
    std::vector<Panel*> by_place_;      // null: it has no nonzeros
    std::vector<std::int64_t> last_;    // per column: the nonzeros of its panel up to its last use; 0: none
    std::vector<FirstUse> first_uses_;  // of the columns that have nonzeros
};

}  // namespace gnnplan::data
