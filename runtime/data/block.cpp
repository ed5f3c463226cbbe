#include "runtime/data/block.hpp"

#include "runtime/data/matrix_rows.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <numeric>
#include <utility>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t block_bytes(std::int64_t rows, std::int64_t nonzeros) {
    return at(checked_multiply(8, checked_add(checked_add(rows, 1), nonzeros)));
}

// Nonzeros within each of several ascending, disjoint ranges of columns.
std::vector<std::int64_t> count_blocks(const Graph& graph, bool transposed, Range rows, std::span<const Range> columns,
                                       const VertexOrder* order) {
    if (columns.empty()) return {};
    if (columns.size() == 1) return {block_nonzeros(graph, transposed, rows, columns[0], order)};
    const Range hull = {columns.front().begin, columns.back().end};
    const std::vector<std::int32_t> of_column = column_nonzeros(graph, transposed, rows, hull, order);
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

    float at(std::int64_t row, std::int64_t column) const {
        return row_.empty() ? 1.0F : static_cast<float>(row_[data::at(row)] * column_[data::at(column)]);
    }

private:
    const std::vector<double>& row_;
    const std::vector<double>& column_;
};

// Fills a block entry by entry.
class Writer {
public:
    explicit Writer(LocalBlock& block)
        : row_start_(block.row_start().data()), column_(block.column().data()), value_(block.value().data()) {}

    void add(std::int64_t column, float value) {
        column_[next_] = static_cast<std::int32_t>(column);
        value_[next_++] = value;
    }
    void end_row() { *++row_start_ = next_; }

private:
    std::int64_t* row_start_;
    std::int32_t* column_;
    float* value_;
    std::int64_t next_ = 0;
};

}  // namespace

LocalBlock::LocalBlock(std::int64_t row_count, std::int64_t column_count, std::int64_t nonzero_count)
    : rows(row_count), columns(column_count), nonzeros_(nonzero_count), buffer_(block_bytes(rows, nonzeros_)) {}

std::span<std::int64_t> LocalBlock::row_start() {
    return {reinterpret_cast<std::int64_t*>(buffer_.data()), at(rows) + 1};
}

std::span<std::int32_t> LocalBlock::column() {
    return {reinterpret_cast<std::int32_t*>(row_start().data() + rows + 1), at(nonzeros_)};
}

std::span<float> LocalBlock::value() { return {reinterpret_cast<float*>(column().data() + nonzeros_), at(nonzeros_)}; }

kernels::Csr LocalBlock::view() const { return view_of(buffer_, rows, columns); }

kernels::Csr view_of(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns) {
    ensure(bytes.size() >= block_bytes(rows, 0), "a sparse block has all its row starts");
    const auto* row_start = reinterpret_cast<const std::int64_t*>(bytes.data());
    const std::int64_t nonzeros = row_start[rows];
    ensure(bytes.size() >= block_bytes(rows, nonzeros), "a sparse block has all its nonzeros");
    const auto* column = reinterpret_cast<const std::int32_t*>(row_start + rows + 1);
    return {rows, columns, row_start, column, reinterpret_cast<const float*>(column + nonzeros)};
}

std::vector<LocalBlock> build_blocks(const Graph& graph, bool transposed, Range rows, std::span<const Range> columns,
                                     const DegreeScales& scales, const VertexOrder* order) {
    for (std::size_t t = 1; t < columns.size(); ++t) {
        ensure(columns[t - 1].end <= columns[t].begin, "column ranges ascend and are disjoint");
    }
    if (columns.empty()) return {};
    const std::vector<std::int64_t> counts = count_blocks(graph, transposed, rows, columns, order);
    std::vector<LocalBlock> blocks;
    for (std::size_t t = 0; t < counts.size(); ++t) blocks.emplace_back(rows.size(), columns[t].size(), counts[t]);

    const EdgeValues values(scales, transposed);
    MatrixRows matrix(graph.matrix(transposed), {columns.front().begin, columns.back().end}, order);
    std::vector<Writer> writers(blocks.begin(), blocks.end());
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        std::size_t t = 0;
        for (const std::int32_t c : matrix.ascending(i)) {
            while (c >= columns[t].end) ++t;  // the last range ends where the entries do
            if (c < columns[t].begin) continue;
            writers[t].add(c - columns[t].begin, values.at(matrix.vertex(i), matrix.vertex(c)));
        }
        for (Writer& writer : writers) writer.end_row();
    }
    return blocks;
}

LocalBlock build_block(const Graph& graph, bool transposed, Range rows, Range columns, const DegreeScales& scales,
                       const VertexOrder* order) {
    return std::move(build_blocks(graph, transposed, rows, std::span(&columns, 1), scales, order).front());
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
