// Rows of equal length at a constant distance, as a part of a row-major matrix lies in memory, and the one way to copy
// between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace gnnplan::comm {

// `rows` rows of `row_bytes` bytes; the next row starts `stride_bytes` >= row_bytes further on.
template <class Byte>
struct Rows {
    Byte* data = nullptr;
    std::size_t rows = 0;
    std::size_t row_bytes = 0;
    std::size_t stride_bytes = 0;

    std::size_t bytes() const { return rows * row_bytes; }
    bool contiguous() const { return rows <= 1 || stride_bytes == row_bytes; }
};

using ConstRows = Rows<const std::byte>;
using MutableRows = Rows<std::byte>;

template <class Byte>
Rows<Byte> one_row(std::span<Byte> bytes) {
    return {bytes.data(), 1, bytes.size(), bytes.size()};
}

// A place in rows that are read or written from the first byte to the last, whatever their length.
template <class Byte>
class RowCursor {
public:
    explicit RowCursor(const Rows<Byte>& rows)
        : at_(rows.data),
          row_bytes_(rows.contiguous() ? rows.bytes() : rows.row_bytes),
          gap_bytes_(rows.contiguous() ? 0 : rows.stride_bytes - rows.row_bytes),
          left_in_row_(row_bytes_),
          left_(rows.bytes()) {}

    // The same place in the last `rows.bytes() - begin` bytes, of which there is at least one.
    RowCursor(const Rows<Byte>& rows, std::size_t begin) : RowCursor(rows) {
        const std::size_t row = begin / row_bytes_, in_row = begin % row_bytes_;
        at_ += row * (row_bytes_ + gap_bytes_) + in_row;
        left_in_row_ -= in_row;
        left_ -= begin;
    }

    std::size_t left() const { return left_; }
    std::size_t row_bytes() const { return row_bytes_; }
    std::size_t gap_bytes() const { return gap_bytes_; }
    // The bytes that come next, up to the end of their row.
    std::span<Byte> run() const { return {at_, std::min(left_in_row_, left_)}; }
    // How many pieces of `bytes` bytes, no more than run() has, lie one stride() after another from here on.
    std::size_t pieces(std::size_t bytes) const { return bytes == row_bytes_ ? left_ / bytes : run().size() / bytes; }
    std::size_t stride(std::size_t bytes) const { return bytes == row_bytes_ ? bytes + gap_bytes_ : bytes; }
    // Moves on by so many of those pieces.
    void advance(std::size_t count, std::size_t bytes) {
        left_ -= count * bytes;
        left_in_row_ -= bytes == row_bytes_ ? 0 : count * bytes;
        if (left_ == 0) return;
        at_ += count * stride(bytes);
        if (left_in_row_ > 0) return;
        at_ += gap_bytes_;
        left_in_row_ = row_bytes_;
    }

private:
    Byte* at_;
    std::size_t row_bytes_;
    std::size_t gap_bytes_;
    std::size_t left_in_row_;
    std::size_t left_;
};

// How a copy leaves its target: in the caches, or in memory, which is faster where the caches cannot hold it anyway.
enum class Stores { cached, streamed };

// The way to store that fits the targets of one exchange, of `bytes` in total.
Stores stores_for(std::size_t bytes);

// Copies `bytes` bytes, no more than either side has left. The two may have rows of different lengths.
void copy_rows(RowCursor<const std::byte>& from, RowCursor<std::byte>& to, std::size_t bytes, Stores stores);

// All of it, on all threads of the rank; both sides have as many bytes.
void copy_rows(const ConstRows& from, const MutableRows& to, Stores stores);

}  // namespace gnnplan::comm
