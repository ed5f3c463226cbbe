// Several labels for each vertex, as a data set has them.
#pragma once

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// Bit v * columns + j: whether vertex v has label j, least significant bits first.
struct LabelBits {
    std::int64_t vertices = 0;
    std::int64_t columns = 0;  // 0: there are none
    std::vector<std::uint8_t> value = {};
    std::vector<std::uint8_t> known =
        {};  // whether that is known, and `value` is 0 where it is not; empty: it is of all

    bool empty() const { return columns == 0; }
    bool all_known() const { return known.empty(); }
    bool has(std::int64_t vertex, std::int64_t label) const { return bit(value, vertex * columns + label); }
    bool is_known(std::int64_t vertex, std::int64_t label) const {
        return known.empty() || bit(known, vertex * columns + label);
    }
    // The number of labels of a vertex that are known.
    std::int64_t known_of(std::int64_t vertex) const {
        std::int64_t count = 0;
        for (std::int64_t j = 0; j < columns; ++j) count += is_known(vertex, j) ? 1 : 0;
        return count;
    }
    bool operator==(const LabelBits&) const = default;

    static bool bit(const std::vector<std::uint8_t>& bits, std::int64_t at) {
        return ((bits[static_cast<std::size_t>(at / 8)] >> (at % 8)) & 1U) != 0;
    }
};

}  // namespace gnnplan::data
