#include "runtime/run/values_seen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace gnnplan::run {
namespace {

// The finalizer of SplitMix64 (Steele et al. 2014).
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

template <class T>
void append(std::string& text, const std::vector<T>& values) {
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
std::vector<T> taken(const std::string& text, std::size_t from, std::size_t bytes) {
    std::vector<T> values(bytes / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), text.data() + from, bytes);
    return values;
}

// How many rows are in any of the ranges; several ranks may have the same rows.
std::int64_t rows_in(std::vector<Range> ranges) {
    std::ranges::sort(ranges, {}, &Range::begin);
    std::int64_t rows = 0, end = 0;
    for (const Range& range : ranges) {
        rows += std::max<std::int64_t>(0, range.end - std::max(end, range.begin));
        end = std::max(end, range.end);
    }
    return rows;
}

}  // namespace

void ValuesSeen::look(const deploy::OutputRows& rows, Range part, Range columns, std::span<const float> values) {
    const auto width = static_cast<std::size_t>(columns.size());
    for (std::int64_t row = part.begin; row < part.end; ++row) {
        const std::int64_t vertex = rows.vertex(row);
        auto place = static_cast<std::uint64_t>(vertex * columns_ + columns.begin);
        std::int64_t bad = 0;
        for (const float value : values.subspan(static_cast<std::size_t>(row - part.begin) * width, width)) {
            constexpr std::uint32_t exponent = 0x7f800000;  // all ones: an infinity, or no number
            const auto bits = std::bit_cast<std::uint32_t>(value);
            bad += (bits & exponent) == exponent ? 1 : 0;
            hash_ += mixed(place++ * 0x9e3779b97f4a7c15U + bits);
        }
        if (bad == 0) continue;
        first_vertex_ = values_ == 0 ? vertex : std::min(first_vertex_, vertex);
        values_ += bad;
        if (rows_.empty() || rows_.back().end != row) rows_.push_back({row, row});
        rows_.back().end = row + 1;
    }
}

std::string ValuesSeen::hash(comm::Communicator& comm) const {
    std::uint64_t sum = 0;
    for (const std::string& one : comm.control_all_gather(std::to_string(hash_))) sum += std::stoull(one);
    return fmt::format("sum64:{:016x}", sum);
}

std::optional<NotFinite> ValuesSeen::not_finite(comm::Communicator& comm) const {
    if (comm::control_max(comm, values_ > 0 ? 1 : 0) == 0) return std::nullopt;
    const std::vector<std::int64_t> counts{values_, first_vertex_};
    constexpr std::size_t bytes_of_counts = 2 * sizeof(std::int64_t);
    std::string mine;
    append(mine, counts);
    append(mine, rows_);
    NotFinite all;
    std::vector<Range> rows;
    for (const std::string& text : comm.control_all_gather(mine)) {
        const auto of_rank = taken<std::int64_t>(text, 0, bytes_of_counts);
        if (of_rank[0] == 0) continue;
        all.first_vertex = all.values == 0 ? of_rank[1] : std::min(all.first_vertex, of_rank[1]);
        all.values += of_rank[0];
        for (const Range& range : taken<Range>(text, bytes_of_counts, text.size() - bytes_of_counts))
            rows.push_back(range);
    }
    all.vertices = rows_in(std::move(rows));
    return all;
}

}  // namespace gnnplan::run
