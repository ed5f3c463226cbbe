// Rows of a matrix, and anything else, divided among the threads of a rank. The results of bodies must not depend on
// how many parts there are: matrices are the same bits however many threads make them.
#pragma once

#include "kernels/parallel.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace gnnplan::data {

// How many parts so many operations make. One where threads would cost more than they save; else some for each thread,
// so that none of them waits long for another.
inline std::int64_t part_count(std::int64_t work) {
    constexpr std::int64_t parts_of_thread = 4;
    const int threads = kernels::max_threads();
    return threads == 1 || work < kernels::serial_work ? 1 : threads * parts_of_thread;
}

// Consecutive ranges of as many rows each; at least one.
inline std::vector<Range> even_parts(Range rows, std::int64_t work) {
    const std::int64_t count = part_count(work);
    std::vector<Range> parts;
    for (std::int64_t i = 0; i < count; ++i) parts.push_back(balanced_block(rows, i, count));
    return parts;
}

// Consecutive ranges of rows with about as many nonzeros each, at least one; row i has row_start[i] .. row_start[i + 1]
// - 1.
inline std::vector<Range> row_parts(std::span<const std::int64_t> row_start) {
    const std::int64_t rows = std::ssize(row_start) - 1;
    // A row costs about as much as a nonzero, even where it is empty.
    const auto cost_before = [&](std::int64_t row) {
        return row_start[static_cast<std::size_t>(row)] - row_start.front() + row;
    };
    const std::int64_t all = rows > 0 ? cost_before(rows) : 0;
    const std::int64_t count = part_count(all);
    std::vector<Range> parts;
    std::int64_t begin = 0;
    for (std::int64_t part = 1; part <= count; ++part) {
        std::int64_t end = begin, after = std::max<std::int64_t>(0, rows);
        while (end < after) {
            const std::int64_t middle = (end + after) / 2;
            if (cost_before(middle) * count < all * part) {
                end = middle + 1;
            } else {
                after = middle;
            }
        }
        parts.push_back({begin, end});
        begin = end;
    }
    return parts;
}

// body(i) for i < count. Throws what the first of them threw, all of them having been tried.
template <class Body>
void for_parts(std::int64_t count, const Body& body) {
    if (count <= 1) {
        if (count == 1) body(0);
        return;
    }
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
    kernels::parallel_for(count, kernels::serial_work, kernels::LoopSchedule::dynamic, [&](std::int64_t i) {
        try {
            body(i);
        } catch (...) {
            failures[static_cast<std::size_t>(i)] = std::current_exception();
        }
    });
    const auto failed =
        std::find_if(failures.begin(), failures.end(), [](const auto& failure) { return failure != nullptr; });
    if (failed != failures.end()) std::rethrow_exception(*failed);
}

// body(rows) for ranges that cover all rows.
template <class Body>
void for_row_parts(std::span<const std::int64_t> row_start, const Body& body) {
    const std::vector<Range> parts = row_parts(row_start);
    for_parts(std::ssize(parts), [&](std::int64_t i) { body(parts[static_cast<std::size_t>(i)]); });
}

}  // namespace gnnplan::data
