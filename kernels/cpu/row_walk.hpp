// How the kernels of sparse products walk the rows of a matrix, vectorised over columns with the result row in
// registers. Part of vector_body.hpp, whose linkage rules hold here too.
//
// A result row of n columns is cut into strips of `width * strips` columns. A strip's results stay in registers while
// the row's nonzeros are walked once. The last strip takes the rest, at least one vector wide; its last vector is moved
// left until it ends at the row's end, so that it computes some of the strip's columns a second time (to the same
// value: every lane takes the nonzeros in their order) instead of leaving a scalar tail. Rows narrower than a vector
// use a narrower one.
// A `Row` (spmm_body.hpp, max_body.hpp) computes the result; it is a RowEntries with
//   columns()                        of the result
//   bytes()                          of the dense operands' rows that an entry reads
//   can_stream<width>()              whether results can be written past the caches
//   fetch_results(i)                 prefetches row i of the results
//   begin(i), advance(columns)       goes to the first column of row i, and to the next strip
//   strip<width>(columns, store, integer_sequence<int, 0 .. count - 1>)
//                                    computes the strip: columns in ((count - 1) * width, count * width] and >= width
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The entries of the row at work.
struct RowEntries {
    const std::int32_t* column;
    std::int64_t ahead = 0;  // entries from the one at work to the one that is prefetched
    std::int64_t first = 0;
    std::int64_t last = 0;
};

// Where vector n of a strip of `count` vectors begins.
template <int width>
constexpr std::int64_t vector_offset(int n, int count, std::int64_t columns) {
    return n + 1 < count ? std::int64_t{n} * width : columns - width;
}

// Fetches the rows of the results that are added to, some of them ahead of the one at work. Rows without nonzeros are
// skipped, so the next one is nowhere that hardware would expect.
template <class Row>
class AddedRows {
public:
    AddedRows(const Csr& a, const Row& row, std::int64_t first, std::int64_t last)
        : a_(a), row_(row), next_(first), last_(last) {
        for (int i = 0; i < ahead; ++i) fetch_next();
    }
    void fetch_next() {
        while (next_ < last_ && a_.row_start[next_] == a_.row_start[next_ + 1]) ++next_;
        if (next_ < last_) row_.fetch_results(next_++);
    }

private:
    static constexpr int ahead = 4;

    const Csr& a_;
    const Row& row_;
    std::int64_t next_;
    std::int64_t last_;
};

template <class Row>
using StripFunction = void (*)(const Row&, std::int64_t, Store);

template <int width, int count, class Row>
void strip_of(const Row& row, std::int64_t columns, Store store) {
    row.template strip<width>(columns, store, std::make_integer_sequence<int, count>{});
}

// The strip function for the last `columns` columns, 0 < columns <= width * sizeof...(n).
template <int width, class Row, int... n>
StripFunction<Row> last_strip(std::int64_t columns, std::integer_sequence<int, n...>) {
    constexpr StripFunction<Row> by_count[] = {strip_of<width, n + 1, Row>...};
    return by_count[(columns - 1) / width];
}

// Rows first_row .. last_row - 1 of a, which is in one panel.
template <int width, int strips, class Row>
void walk_rows(const Csr& a, Row row, Store store, std::int64_t first_row, std::int64_t last_row) {
    const std::int64_t columns = row.columns();
    if constexpr (width > 1) {
        if (columns < width) return walk_rows<width / 2, 2>(a, row, store, first_row, last_row);
    }
    constexpr std::int64_t strip_columns = std::int64_t{width} * strips;
    const std::int64_t full = (columns - width - 1) / strip_columns;
    const std::int64_t rest = columns - full * strip_columns;  // width .. strip_columns + width
    const auto last = last_strip<width, Row>(rest, std::make_integer_sequence<int, strips + 1>{});
    if (store == Store::nontemporal && !row.template can_stream<width>()) store = Store::write;
    const std::int64_t ahead = prefetch_distance(row.bytes());
    const std::int64_t end = a.row_start[a.rows];
    AddedRows added(a, row, first_row, store == Store::add ? last_row : first_row);
    for (std::int64_t i = first_row; i < last_row; ++i) {
        row.first = a.row_start[i];
        row.last = a.row_start[i + 1];
        row.ahead = row.last + ahead <= end ? ahead : 0;
        if (store == Store::add) {
            if (row.first == row.last) continue;
            added.fetch_next();
        }
        row.begin(i);
        for (std::int64_t s = 0; s < full; ++s) {
            strip_of<width, strips>(row, strip_columns, store);
            row.advance(strip_columns);
        }
        last(row, rest, store);
    }
    if (store == Store::nontemporal) finish_streaming();
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
