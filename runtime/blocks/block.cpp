#include "runtime/blocks/block.hpp"

#include "runtime/blocks/matrix_rows.hpp"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <cstring>
#include <numeric>
#include <utility>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t block_bytes(std::int64_t row_start_bytes, std::int64_t row_starts, std::int64_t nonzeros, bool values) {
    return at(checked_add(checked_multiply(row_start_bytes, row_starts), checked_multiply(values ? 8 : 4, nonzeros)));
}

// Nonzeros within each of several ascending, disjoint ranges of columns.
std::vector<std::int64_t> count_blocks(const Graph& graph, MatrixId which, Range rows, std::span<const Range> columns,
                                       const VertexOrder* order) {
    if (columns.empty()) return {};
    if (columns.size() == 1) return {block_nonzeros(graph, which, rows, columns[0], order)};
    const Range hull = {columns.front().begin, columns.back().end};
    const std::vector<std::int32_t> of_column = column_nonzeros(graph, which, rows, hull, order);
    std::vector<std::int64_t> counts;
    for (const Range& range : columns) {
        const auto first = of_column.begin() + (range.begin - hull.begin);
        counts.push_back(std::accumulate(first, first + range.size(), std::int64_t{0}));
    }
    return counts;
}

// Values of A^T or A by row and column, numbered as in the file.
class EdgeValues {
public:
    EdgeValues(const DegreeScales& scales, bool transposed)
        : row_(transposed ? scales.target : scales.source), column_(transposed ? scales.source : scales.target) {}

    float at(std::int64_t row, std::int64_t column, float weight) const {
        return row_.empty() ? weight : static_cast<float>(row_[data::at(row)] * column_[data::at(column)] * weight);
    }

private:
    const VertexValues& row_;
    const VertexValues& column_;
};

// Fills one panel of a block entry by entry; those before it have `first` nonzeros.
class Writer {
public:
    Writer(LocalBlock& block, std::int64_t panel, std::int64_t first)
        : row_start_(from(block.row_start(), panel * (block.rows + 1))),
          narrow_row_start_(from(block.narrow_row_start(), panel * (block.rows + 1))),
          column_(block.column().data()),
          value_(block.value().empty() ? nullptr : block.value().data()),
          next_(first) {
        begin_row();
    }

    void add(std::int64_t column, float value) {
        column_[next_] = static_cast<std::int32_t>(column);
        if (value_ != nullptr) value_[next_] = value;
        ++next_;
    }
    void end_row() {
        row_start_ == nullptr ? static_cast<void>(++narrow_row_start_) : static_cast<void>(++row_start_);
        begin_row();
    }

private:
    template <class T>
    static T* from(std::span<T> starts, std::int64_t i) {
        return starts.empty() ? nullptr : starts.data() + i;
    }
    void begin_row() {
        if (row_start_ != nullptr) {
            *row_start_ = next_;
        } else {
            *narrow_row_start_ = static_cast<std::int32_t>(next_);
        }
    }

    std::int64_t* row_start_;
    std::int32_t* narrow_row_start_;
    std::int32_t* column_;
    float* value_;
    std::int64_t next_;
};

// One panel to be filled.
struct Panel {
    Range columns;
    std::int64_t block_begin;  // first column of its block
    Writer writer;
};

// The panels of each range.
std::vector<Range> panels_of(std::span<const Range> columns, const BlockFormat& format) {
    std::vector<Range> panels;
    for (const Range& range : columns) {
        const std::int64_t count = panel_count(range.size(), format.panel_columns);
        for (std::int64_t p = 0; p < count; ++p) panels.push_back(balanced_block(range, p, count));
    }
    return panels;
}

// Adds an empty block of `columns` for the panels whose ranges and nonzeros are given.
void add_block(std::vector<LocalBlock>& blocks, std::vector<Panel>& panels, std::int64_t rows, Range columns,
               std::span<const Range> ranges, std::span<const std::int64_t> counts, const BlockFormat& format) {
    const std::int64_t nonzeros = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    LocalBlock& block = blocks.emplace_back(rows, columns.size(), nonzeros, format);
    std::int64_t before = 0;
    for (std::size_t p = 0; p < ranges.size(); ++p) {
        panels.push_back({ranges[p], columns.begin, Writer(block, static_cast<std::int64_t>(p), before)});
        before += counts[p];
    }
}

}  // namespace

LocalBlock::LocalBlock(std::int64_t row_count, std::int64_t column_count, std::int64_t nonzero_count,
                       const BlockFormat& format)
    : rows(row_count),
      columns(column_count),
      nonzeros_(nonzero_count),
      panels_(panel_count(column_count, format.panel_columns)),
      row_start_bytes_(gnnplan::row_start_bytes({.row_start_bytes = format.row_start_bytes}, nonzero_count)),
      values_(format.values),
      buffer_(block_bytes(row_start_bytes_, panels_ * (rows + 1), nonzeros_, values_)) {
    std::memset(buffer_.data(), 0, buffer_.size());
}

std::span<std::int64_t> LocalBlock::row_start() {
    if (row_start_bytes_ != 8) return {};
    return {reinterpret_cast<std::int64_t*>(buffer_.data()), at(panels_ * (rows + 1))};
}

std::span<std::int32_t> LocalBlock::narrow_row_start() {
    if (row_start_bytes_ != 4) return {};
    return {reinterpret_cast<std::int32_t*>(buffer_.data()), at(panels_ * (rows + 1))};
}

std::span<std::int32_t> LocalBlock::column() {
    std::byte* const behind = buffer_.data() + row_start_bytes_ * panels_ * (rows + 1);
    return {reinterpret_cast<std::int32_t*>(behind), at(nonzeros_)};
}

std::span<float> LocalBlock::value() {
    if (!values_) return {};
    return {reinterpret_cast<float*>(column().data() + nonzeros_), at(nonzeros_)};
}

kernels::Csr LocalBlock::view() const {
    return view_of(buffer(), rows, columns, nonzeros_, panels_, values_, row_start_bytes_);
}

kernels::Csr view_of(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                     std::int64_t panels, bool values, std::int64_t row_start_bytes) {
    const std::int64_t row_starts = panels * (rows + 1);
    const bool all_there = bytes.size() >= block_bytes(row_start_bytes, row_starts, nonzeros, values);
    ensure(all_there, "a sparse block has all its nonzeros");
    const auto* column = reinterpret_cast<const std::int32_t*>(bytes.data() + row_start_bytes * row_starts);
    kernels::Csr matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    if (row_start_bytes == 8) matrix.row_start = reinterpret_cast<const std::int64_t*>(bytes.data());
    if (row_start_bytes == 4) matrix.narrow_row_start = reinterpret_cast<const std::int32_t*>(bytes.data());
    matrix.column = column;
    if (values) matrix.value = reinterpret_cast<const float*>(column + nonzeros);
    matrix.panels = panels;
    matrix.panel_stride = rows + 1;
    matrix.most_nonzeros = nonzeros;
    return matrix;
}

std::vector<float> block_scales(const DegreeScales& scales, bool transposed, bool of_rows, Range range,
                                const VertexOrder* order) {
    const VertexValues& all = of_rows == transposed ? scales.target : scales.source;
    std::vector<float> found(at(range.size()), 1.0F);
    if (all.empty()) return found;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t vertex = order == nullptr ? i : order->vertex_at(i);
        found[at(i - range.begin)] = static_cast<float>(all[at(vertex)]);
    }
    return found;
}

std::vector<LocalBlock> build_blocks(const Graph& graph, MatrixId which, Range rows, std::span<const Range> columns,
                                     const DegreeScales& scales, const VertexOrder* order, const BlockFormat& format) {
    for (std::size_t t = 1; t < columns.size(); ++t) {
        ensure(columns[t - 1].end <= columns[t].begin, "column ranges ascend and are disjoint");
    }
    ensure(format.values || !graph.matrix(which).weighted(),
           "with weights of edges, values are no products of two scales");
    if (columns.empty()) return {};
    const std::vector<Range> ranges = panels_of(columns, format);
    const std::vector<std::int64_t> counts = count_blocks(graph, which, rows, ranges, order);
    std::vector<LocalBlock> blocks;
    blocks.reserve(columns.size());  // writers point into them
    std::vector<Panel> panels;
    panels.reserve(ranges.size());
    for (const Range& range : columns) {
        const auto count = at(panel_count(range.size(), format.panel_columns));
        const std::size_t first = panels.size();
        add_block(blocks, panels, rows.size(), range, std::span(ranges).subspan(first, count),
                  std::span(counts).subspan(first, count), format);
    }

    const EdgeValues values(scales, which.transposed);
    MatrixRows matrix(graph.matrix(which), {columns.front().begin, columns.back().end}, order);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        std::size_t t = 0;
        const std::span<const std::int32_t> entries = matrix.ascending(i);
        const std::span<const float> weights = matrix.weights();
        for (std::size_t k = 0; k < entries.size(); ++k) {
            const std::int32_t c = entries[k];
            while (c >= panels[t].columns.end) ++t;  // the last range ends where the entries do
            if (c < panels[t].columns.begin) continue;
            const float weight = weights.empty() ? 1.0F : weights[k];
            const float value = format.values ? values.at(matrix.vertex(i), matrix.vertex(c), weight) : 1.0F;
            panels[t].writer.add(c - panels[t].block_begin, value);
        }
        for (Panel& panel : panels) panel.writer.end_row();
    }
    return blocks;
}

LocalBlock build_block(const Graph& graph, MatrixId which, Range rows, Range columns, const DegreeScales& scales,
                       const VertexOrder* order, const BlockFormat& format) {
    return std::move(build_blocks(graph, which, rows, std::span(&columns, 1), scales, order, format).front());
}

std::vector<std::int32_t> compact_columns(LocalBlock& block) {
    std::vector<std::int32_t> index(at(block.columns), 0);
    for (const std::int32_t c : block.column()) index[at(c)] = 1;
    std::vector<std::int32_t> kept;
    for (std::size_t c = 0; c < index.size(); ++c) {
        if (index[c] == 0) continue;
        index[c] = static_cast<std::int32_t>(kept.size());
        kept.push_back(static_cast<std::int32_t>(c));
    }
    for (std::int32_t& c : block.column()) c = index[at(c)];
    block.columns = static_cast<std::int64_t>(kept.size());
    return kept;
}

}  // namespace gnnplan::data
