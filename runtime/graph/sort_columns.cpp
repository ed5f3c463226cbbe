#include "runtime/graph/sort_columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace gnnplan::data {
namespace {

constexpr std::size_t short_row = 32;
constexpr std::size_t long_row = 256;

// The place of each entry is how many are smaller. All pairs are compared, without a branch that nobody can predict.
void sort_short(std::span<std::int32_t> row) {
    std::array<std::int32_t, short_row> sorted;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
    for (std::size_t i = 0; i < row.size(); ++i) {
        std::uint32_t smaller = 0;
        for (std::size_t j = 0; j < row.size(); ++j)
            smaller +=
                static_cast<std::uint32_t>(row[j] < row[i]) | static_cast<std::uint32_t>((row[j] == row[i]) & (j < i));
        sorted[smaller] = row[i];
    }
    std::copy_n(sorted.begin(), row.size(), row.begin());
}

// By digits, the lowest first; `other` has room for the row.
template <int digit_bits>
void sort_by_digits(std::span<std::int32_t> row, std::int32_t* other, int bits) {
    constexpr std::uint32_t values = 1U << digit_bits;
    std::int32_t *from = row.data(), *to = other;
    for (int shift = 0; shift < bits; shift += digit_bits) {
        const auto digit = [&](std::int32_t column) {
            return static_cast<std::uint32_t>(column) >> shift & (values - 1);
        };
        std::array<std::uint32_t, values> next{};
        for (std::size_t i = 0; i < row.size(); ++i) ++next[digit(from[i])];
        std::uint32_t before = 0;
        for (std::uint32_t& count : next) before += std::exchange(count, before);
        for (std::size_t i = 0; i < row.size(); ++i) to[next[digit(from[i])]++] = from[i];
        std::swap(from, to);
    }
    if (from != row.data()) std::copy_n(from, row.size(), row.data());
}

}  // namespace

ColumnSorter::ColumnSorter(std::int64_t columns)
    : bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(columns - 1)))) {}

void ColumnSorter::sort(std::span<std::int32_t> row) {
    if (row.size() <= short_row) return sort_short(row);
    if (row.size() > other_.size()) other_.resize(row.size());
    if (row.size() < long_row) return sort_by_digits<6>(row, other_.data(), bits_);
    sort_by_digits<9>(row, other_.data(), bits_);
}

}  // namespace gnnplan::data
