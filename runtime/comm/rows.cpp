#include "runtime/comm/rows.hpp"

#include "kernels/parallel.hpp"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gnnplan::comm {
namespace {

// Measured: bench/results/redistribution.md.
constexpr std::size_t streamed_from = 16 << 20;    // bytes
constexpr std::size_t prefetched_bytes = 4096;     // of rows, ahead of the one that is copied
constexpr std::size_t line = 64;                   // bytes
constexpr std::int64_t thread_portion = 64 << 10;  // bytes that a thread copies at a time, about

// How far ahead to prefetch in rows with gaps, which the hardware does not foresee; 0 where it does.
std::size_t prefetch_distance(const RowCursor<const std::byte>& from) {
    if (from.gap_bytes() == 0 || from.row_bytes() >= prefetched_bytes) return 0;
    return (prefetched_bytes / from.row_bytes()) * (from.row_bytes() + from.gap_bytes());
}

#ifdef __SSE2__
void stream_line(std::byte* to, const std::byte* from) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
}
// Streamed stores come in no order with others until then.
void end_streaming() { _mm_sfence(); }
#else
void stream_line(std::byte* to, const std::byte* from) { std::memcpy(to, from, line); }
void end_streaming() {}
#endif

// Lines that are not covered as a whole are stored as usual: a streamed part of a line costs as much as the line.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
    const std::size_t head = std::min((line - reinterpret_cast<std::uintptr_t>(to) % line) % line, bytes);
    const std::size_t end = head + (bytes - head) / line * line;
    std::memcpy(to, from, head);
    for (std::size_t i = head; i < end; i += line) stream_line(to + i, from + i);
    std::memcpy(to + end, from + end, bytes - end);
}

// Rows shorter than a few lines that do not fill them are stored as usual even so: most of their lines have two owners.
bool worth_streaming(std::size_t address, std::size_t run, std::size_t gap_bytes) {
    return run >= 1024 || (address | run | gap_bytes) % line == 0;
}

// As memcpy, without the call, which costs as much as a short row.
void copy_short(std::byte* to, const std::byte* from, std::size_t bytes) {
    constexpr std::size_t piece = 16;
    if (bytes < piece) {
        for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
        return;
    }
    for (std::size_t i = 0; i + piece <= bytes; i += piece) std::memcpy(to + i, from + i, piece);
    std::memcpy(to + bytes - piece, from + bytes - piece, piece);
}

}  // namespace

Stores stores_for(std::size_t bytes) { return bytes >= streamed_from ? Stores::streamed : Stores::cached; }

void copy_rows(RowCursor<const std::byte>& from, RowCursor<std::byte>& to, std::size_t bytes, Stores stores) {
    if (bytes == 0) return;
    const std::size_t ahead = prefetch_distance(from);
    const bool streamed =
        stores == Stores::streamed && worth_streaming(reinterpret_cast<std::uintptr_t>(to.run().data()),
                                                      std::min(from.run().size(), to.run().size()), to.gap_bytes());
    while (bytes > 0) {
        const std::byte* source = from.run().data();
        std::byte* target = to.run().data();
        const std::size_t run = std::min({from.run().size(), to.run().size(), bytes});
        const std::size_t count = std::min({from.pieces(run), to.pieces(run), bytes / run});
        const std::size_t from_stride = from.stride(run);
        const std::size_t to_stride = to.stride(run);
        for (std::size_t piece = 0; piece < count; ++piece, source += from_stride, target += to_stride) {
            if (ahead > 0)
                for (std::size_t i = 0; i < run; i += line) __builtin_prefetch(source + ahead + i);
            if (streamed)
                stream(target, source, run);
            else if (run < 256)
                copy_short(target, source, run);
            else
                std::memcpy(target, source, run);
        }
        from.advance(count, run);
        to.advance(count, run);
        bytes -= count * run;
    }
    if (streamed) end_streaming();
}

void copy_rows(const ConstRows& from, const MutableRows& to, Stores stores) {
    const auto all = static_cast<std::int64_t>(from.bytes());
    const auto row = static_cast<std::int64_t>(to.contiguous() ? from.row_bytes : to.row_bytes);
    const std::int64_t portion = row >= thread_portion || row == 0 ? thread_portion : thread_portion / row * row;
    const auto work = static_cast<std::int64_t>(from.bytes() / sizeof(float));
    kernels::parallel_chunks(all, portion, work, [&](std::int64_t first, std::int64_t last) {
        RowCursor<const std::byte> source(from, static_cast<std::size_t>(first));
        RowCursor<std::byte> target(to, static_cast<std::size_t>(first));
        copy_rows(source, target, static_cast<std::size_t>(last - first), stores);
    });
}

}  // namespace gnnplan::comm
