#include "runtime/graph/rows.hpp"

#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/rows_in_place.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace gnnplan::data {
namespace {

// A row of a matrix; without entries where there is no matrix.
struct Row {
    std::span<const std::int32_t> column;
    std::span<const float> weight;  // none where edges have none
};

Row row_of(const Csr* matrix, std::int64_t row) {
    if (matrix == nullptr) return {};
    const std::size_t begin = at(matrix->row_start[at(row)]), count = at(matrix->degree(row));
    return {std::span(matrix->column).subspan(begin, count),
            matrix->weighted() ? std::span(matrix->weight).subspan(begin, count) : std::span<const float>()};
}

// Writes the union of two rows, ascending, and returns its end. Which of them the next entry is from cannot be
// predicted.
std::int32_t* unite(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int32_t* out) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        const std::int32_t in_a = a[i], in_b = b[j];
        *out++ = std::min(in_a, in_b);
        i += static_cast<std::size_t>(in_a <= in_b);
        j += static_cast<std::size_t>(in_b <= in_a);
    }
    out = std::ranges::copy(a.subspan(i), out).out;
    return std::ranges::copy(b.subspan(j), out).out;
}

// The union of two rows, from entry `next` on; returns where the next row begins. An entry of both has the mean weight.
std::int64_t merge_row(Csr& csr, std::int64_t next, const Row& a, const Row& b) {
    return unite(a.column, b.column, csr.column.data() + next) - csr.column.data();
}

std::int64_t merge_weighted_row(Csr& csr, std::int64_t next, const Row& a, const Row& b) {
    std::size_t i = 0, j = 0;
    for (; i < a.column.size() || j < b.column.size(); ++next) {
        const bool in_a = i < a.column.size() && (j == b.column.size() || a.column[i] <= b.column[j]);
        const bool in_b = j < b.column.size() && (i == a.column.size() || b.column[j] <= a.column[i]);
        csr.column[at(next)] = in_a ? a.column[i] : b.column[j];
        csr.weight[at(next)] = in_a && in_b ? static_cast<float>((double{a.weight[i]} + double{b.weight[j]}) / 2)
                               : in_a       ? a.weight[i]
                                            : b.weight[j];
        i += in_a ? 1 : 0;
        j += in_b ? 1 : 0;
    }
    return next;
}

// Puts a vertex, of weight 1, among the entries of its row, unless it is there; returns the new end.
std::int64_t add_loop(Csr& csr, std::int64_t begin, std::int64_t end, std::int64_t vertex) {
    const auto insert = [&](auto& values, std::int64_t place, auto value) {
        std::copy_backward(values.begin() + place, values.begin() + end, values.begin() + end + 1);
        values[at(place)] = value;
    };
    const auto found = std::lower_bound(csr.column.begin() + begin, csr.column.begin() + end, vertex);
    const std::int64_t place = found - csr.column.begin();
    if (place < end && *found == vertex) return end;
    insert(csr.column, place, static_cast<std::int32_t>(vertex));
    if (csr.weighted()) insert(csr.weight, place, 1.0F);
    return end + 1;
}

}  // namespace

void join_rows(Csr& csr, const std::vector<RowsInPlace>& parts) {
    std::int64_t end = 0;
    for (const RowsInPlace& part : parts) {
        const std::int64_t by = part.begin - end;
        if (by > 0) {
            const auto close = [&](auto& values) {
                const auto first = values.begin() + part.begin;
                std::copy(first, first + part.kept, values.begin() + end);
            };
            close(csr.column);
            if (csr.weighted()) close(csr.weight);
            for (std::int64_t u = part.rows.begin; u < part.rows.end; ++u) csr.row_start[at(u) + 1] -= by;
        }
        end += part.kept;
    }
    const auto shrink = [&](auto& values) {
        values.resize(at(end));
        if (values.capacity() - values.size() > values.capacity() / 16) values.shrink_to_fit();
    };
    if (csr.weighted()) shrink(csr.weight);
    shrink(csr.column);
}

void accumulate_counts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = 1; i < row_start.size(); ++i) row_start[i] += row_start[i - 1];
}

void rewind_starts(std::vector<std::int64_t>& row_start) {
    for (std::size_t i = row_start.size() - 1; i > 0; --i) row_start[i] = row_start[i - 1];
    row_start[0] = 0;
}

Csr scatter(EdgeList edges, std::int64_t rows, bool weighted) {
    // Threads divide the edges as they are listed, and their counts take no more memory than half of the edges.
    const std::int64_t parts = std::clamp(edges.size() / std::max<std::int64_t>(1, rows), std::int64_t{1},
                                          std::int64_t{kernels::max_threads()});
    const auto part_of = [&](std::int64_t part) { return balanced_block({0, edges.size()}, part, parts); };
    // How many edges of each row a part has, then where in the row the next of them goes.
    std::vector<std::vector<std::int32_t>> next(at(parts));
    for_parts(parts, [&](std::int64_t part) {
        std::vector<std::int32_t>& count = next[at(part)];
        count.assign(at(rows), 0);
        edges.for_part(part_of(part), [&](Edge e) { ++count[at(e.from)]; });
    });
    Csr csr{rows, std::vector<std::int64_t>(at(rows) + 1, 0), {}};
    for (std::size_t row = 0; row < at(rows); ++row) {
        std::int64_t length = 0;
        for (std::vector<std::int32_t>& of_part : next)
            length += std::exchange(of_part[row], static_cast<std::int32_t>(length));
        ensure(length <= std::numeric_limits<std::int32_t>::max(), "an edge is not listed 2^31 times");
        csr.row_start[row + 1] = csr.row_start[row] + length;
    }
    csr.column.resize(at(csr.row_start.back()));
    if (weighted) csr.weight.resize(csr.column.size());
    for_parts(parts, [&](std::int64_t part) {
        std::int32_t* const place = next[at(part)].data();
        edges.drain_part(part_of(part), [&](Edge e, float weight) {
            const std::size_t k = at(csr.row_start[at(e.from)] + place[e.from]++);
            csr.column[k] = e.to;
            if (weighted) csr.weight[k] = weight;
        });
    });
    edges.clear();
    return csr;
}

Csr merge(const Csr& a, const Csr* b, const RowVertices& vertices, bool self_loops, bool weighted) {
    Csr csr{a.vertices, std::vector<std::int64_t>(a.row_start.size(), 0), {}};
    // Where a row begins if none before it has a column in both matrices; threads close their gaps in the end.
    const auto at_most = [&](std::int64_t row) {
        return a.row_start[at(row)] + (b != nullptr ? b->row_start[at(row)] : 0) + (self_loops ? row : 0);
    };
    csr.column.resize(at(at_most(a.rows())));
    if (weighted) csr.weight.resize(csr.column.size());
    std::vector<RowsInPlace> parts;
    for (const Range rows : row_parts(a.row_start)) parts.push_back({rows, at_most(rows.begin)});
    for_parts(std::ssize(parts), [&](std::int64_t i) {
        RowsInPlace& part = parts[at(i)];
        std::int64_t next = part.begin;
        for (std::int64_t u = part.rows.begin; u < part.rows.end; ++u) {
            const std::int64_t begin = next;
            const Row of_a = row_of(&a, u), of_b = row_of(b, u);
            next = weighted ? merge_weighted_row(csr, begin, of_a, of_b) : merge_row(csr, begin, of_a, of_b);
            if (self_loops) next = add_loop(csr, begin, next, vertices[u]);
            csr.row_start[at(u) + 1] = next;
        }
        part.kept = next - part.begin;
    });
    join_rows(csr, parts);
    return csr;
}

}  // namespace gnnplan::data
