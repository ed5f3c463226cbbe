// Normalised blocks of the adjacency matrix, as one rank holds them.
#pragma once

#include "kernels/large_buffer.hpp"
#include "kernels/views.hpp"
#include "runtime/blocks/vertex_values.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::data {

// The value of edge u -> v is w source[u] * target[v], w being its weight, 1 where edges have none; both are empty for
// Normalisation::none.
struct DegreeScales {
    VertexValues source;
    VertexValues target;
};

// Degrees are sums of weights where edges have some; a degree of 0 has the scale 0. Throws Error{data} as
// check_degrees() does, without saying where the graph is from.
DegreeScales compute_scales(const Graph& graph, Normalisation normalisation);

// Throws Error{data} at `where` for weights of edges that cannot be normalised so: those whose sum is negative at a
// vertex and has no square root, and those that are beyond a float once they are normalised.
void check_degrees(const Graph& graph, Normalisation normalisation, const std::string& where);

// The same, with two scales for each vertex whatever the normalisation, as the memory plan counts them.
DegreeScales stored_scales(const Graph& graph, Normalisation normalisation);

// How the nonzeros of a block are laid out.
struct BlockFormat {
    bool values = true;              // stored; else products of scales that are kept elsewhere
    std::int64_t panel_columns = 0;  // of source panels, see panel_count in gnnplan/ir/pieces.hpp
    // Bytes of one row start, 4 or 8; blocks of 2^31 nonzeros and more have 8. See row_start_bytes in
    // gnnplan/base/blocking.hpp.
    std::int64_t row_start_bytes = 8;
};

// A block in one buffer, as it is sent: for each panel row starts (4 or 8 bytes each, rows + 1), then columns (4),
// panel after panel, then values (4) if there are any. Rows and columns count from the begin of the block's ranges;
// columns ascend within a row of a panel.
struct LocalBlock {
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    LocalBlock() : LocalBlock(0, 0, 0) {}
    LocalBlock(std::int64_t row_count, std::int64_t column_count, std::int64_t nonzero_count,
               const BlockFormat& format = {});  // row starts are 0, columns and values are not set

    std::int64_t nonzeros() const { return nonzeros_; }
    std::int64_t panels() const { return panels_; }
    // sparse_bytes() of gnnplan/ir/pieces.hpp.
    std::int64_t bytes() const { return static_cast<std::int64_t>(buffer_.size()); }
    std::span<std::byte> buffer() { return {buffer_.data(), buffer_.size()}; }
    std::span<const std::byte> buffer() const { return {buffer_.data(), buffer_.size()}; }

    std::span<std::int64_t> row_start();         // panels * (rows + 1), or none where they have 4 bytes
    std::span<std::int32_t> narrow_row_start();  // likewise, or none where they have 8
    std::span<std::int32_t> column();            // nonzeros
    std::span<float> value();                    // nonzeros, or none
    kernels::Csr view() const;
    // Hands the buffer over; the block is of no use then.
    kernels::LargeBuffer release() { return std::move(buffer_); }

private:
    std::int64_t nonzeros_ = 0;
    std::int64_t panels_ = 1;
    std::int64_t row_start_bytes_ = 8;
    bool values_ = true;
    kernels::LargeBuffer buffer_;
};

// A block that lies anywhere, be it a device: `bytes` begins with LocalBlock::buffer() of a block of so many rows,
// columns, nonzeros and panels, with or without values, 8-byte aligned, and may be longer. `row_start_bytes` is 4 or 8.
kernels::Csr view_of(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                     std::int64_t panels = 1, bool values = true, std::int64_t row_start_bytes = 8);

// Rows of a block, whose own rows are numbered from 0: those of a range, or a list of ascending ones.
class BlockRows {
public:
    BlockRows(Range range) : range_(range), size_(range.size()) {}  // NOLINT(google-explicit-constructor)
    BlockRows(std::int64_t begin, std::int64_t end) : BlockRows(Range{begin, end}) {}
    explicit BlockRows(std::span<const std::int32_t> listed) : listed_(listed.data()), size_(std::ssize(listed)) {}

    std::int64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::int64_t at(std::int64_t i) const { return listed_ != nullptr ? listed_[i] : range_.begin + i; }
    bool listed() const { return listed_ != nullptr; }

private:
    Range range_;
    const std::int32_t* listed_ = nullptr;
    std::int64_t size_ = 0;
};

// Throughout, `which` asks for A^T (forward) or A (backward), or for what a layer has drawn; ranges count in `order`,
// null or the identity being the order of the file. A rank's share of a graph has only some of the rows; ranges and
// scales then count in the share's own numbering, without an order.

// The block (rows x columns). Its values are those of the vertices whatever the order, and the blocks of A and A^T are
// exact transposes of each other, values included. A graph with weights has its values stored.
LocalBlock build_block(const Graph& graph, MatrixId which, Range rows, Range columns, const DegreeScales& scales,
                       const VertexOrder* order = nullptr, const BlockFormat& format = {});

// The blocks of several column ranges, ascending and disjoint, in one scan of the rows.
std::vector<LocalBlock> build_blocks(const Graph& graph, MatrixId which, const BlockRows& rows,
                                     std::span<const Range> columns, const DegreeScales& scales,
                                     const VertexOrder* order = nullptr, const BlockFormat& format = {});

// The scales of some rows of A^T or A (of_rows), or of its columns: entry (i, j) is row scale i * column scale j.
std::vector<float> block_scales(const DegreeScales& scales, bool transposed, bool of_rows, const BlockRows& some,
                                const VertexOrder* order = nullptr);

// Nonzeros of a block: O(1) for all columns in the order of the file, two binary searches per row for some of them,
// and a scan of the rows in another order.
std::int64_t block_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns,
                            const VertexOrder* order = nullptr);

// Nonzeros of each column of a block, and how many columns hold one. A scan of the rows.
std::vector<std::int32_t> column_nonzeros(const Graph& graph, MatrixId which, Range rows, Range columns,
                                          const VertexOrder* order = nullptr);
std::int64_t distinct_columns(const Graph& graph, MatrixId which, Range rows, Range columns,
                              const VertexOrder* order = nullptr);
// The same of several matrices: A^T or A, or of what each layer has drawn.
std::int64_t columns_met(const Graph& graph, bool transposed, Range rows, Range columns);

// Renumbers the columns of a block to those that are kept, all that hold something among them: the i-th of these
// becomes column i. block.columns becomes their count, its panels are those of the old numbers, and within a row of a
// panel columns stay in the order of their old numbers.
void number_columns(LocalBlock& block, std::span<const std::int32_t> kept);

}  // namespace gnnplan::data
