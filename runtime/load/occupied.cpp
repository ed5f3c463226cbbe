#include "runtime/load/occupied.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace gnnplan::load {
namespace {

constexpr std::int64_t block_bytes = std::int64_t{1} << 16;  // of each rank at a time

// A bit for each vertex.
std::vector<std::uint8_t> ends_of(const data::Csr& sources, const data::RowVertices& names, std::int64_t vertices) {
    std::vector<std::uint8_t> ends(at((vertices + 7) / 8), 0);
    const auto mark = [&](std::int64_t vertex) {
        ends[at(vertex / 8)] |= static_cast<std::uint8_t>(1U << (vertex % 8));
    };
    for (std::int64_t row = 0; row < sources.rows(); ++row) {
        const std::int64_t target = names[row];
        for (std::int64_t e = sources.row_start[at(row)]; e < sources.row_start[at(row + 1)]; ++e) {
            const std::int64_t source = sources.column[at(e)];
            if (source == target) continue;
            mark(source);
            mark(target);
        }
    }
    return ends;
}

}  // namespace

std::int64_t count_with_edges(comm::Communicator& comm, const data::Csr& sources, const data::RowVertices& names,
                              std::int64_t vertices) {
    const std::vector<std::uint8_t> own = ends_of(sources, names, vertices);
    std::int64_t count = 0;
    for (std::int64_t first = 0; first < std::ssize(own); first += block_bytes) {
        const auto begin = own.begin() + first;
        const std::int64_t bytes = std::min(block_bytes, std::ssize(own) - first);
        std::vector<std::uint8_t> all(at(bytes), 0);
        for (const std::string& of_rank : comm.control_all_gather(std::string(begin, begin + bytes))) {
            for (std::size_t i = 0; i < all.size(); ++i) all[i] |= static_cast<std::uint8_t>(of_rank.at(i));
        }
        for (const std::uint8_t byte : all) count += std::popcount(byte);
    }
    return count;
}

}  // namespace gnnplan::load
