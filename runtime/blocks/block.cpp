#include "runtime/blocks/block.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <cstring>
#include <utility>

namespace gnnplan::data {
namespace {

std::size_t block_bytes(std::int64_t row_start_bytes, std::int64_t row_starts, std::int64_t nonzeros, bool values) {
    return at(checked_add(checked_multiply(row_start_bytes, row_starts), checked_multiply(values ? 8 : 4, nonzeros)));
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
    std::memset(buffer_.data(), 0, at(row_start_bytes_ * panels_ * (rows + 1)));
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

std::vector<float> block_scales(const DegreeScales& scales, bool transposed, bool of_rows, const BlockRows& some,
                                const VertexOrder* order) {
    const VertexValues& all = of_rows == transposed ? scales.target : scales.source;
    std::vector<float> found(at(some.size()), 1.0F);
    if (all.empty()) return found;
    for (std::int64_t i = 0; i < some.size(); ++i) {
        const std::int64_t vertex = order == nullptr ? some.at(i) : order->vertex_at(some.at(i));
        found[at(i)] = static_cast<float>(all[at(vertex)]);
    }
    return found;
}

void number_columns(LocalBlock& block, std::span<const std::int32_t> kept) {
    std::vector<std::int32_t> number(at(block.columns), 0);
    for (std::size_t i = 0; i < kept.size(); ++i) number[at(kept[i])] = static_cast<std::int32_t>(i);
    for (std::int32_t& c : block.column()) c = number[at(c)];
    block.columns = std::ssize(kept);
}

}  // namespace gnnplan::data
