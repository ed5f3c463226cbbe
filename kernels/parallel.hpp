// How work is split over the threads of the calling rank: chunks whose bounds do not depend on which thread runs them,
// so that results are the same bits in every run.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace gnnplan::kernels {

// Below this many elementary operations a team of threads costs more than it saves.
inline constexpr std::int64_t serial_work = 1 << 15;

inline int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// Whether this thread called the kernel that is at work.
inline bool leads_team() {
#ifdef _OPENMP
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

enum class LoopSchedule : bool { fixed, dynamic };

// body(i) for i < count; `work` estimates the operations of all of them together. Bodies do not throw.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t work, [[maybe_unused]] LoopSchedule schedule, const Body& body) {
#ifdef _OPENMP
    if (work >= serial_work && count > 1 && max_threads() > 1) {
        if (schedule == LoopSchedule::dynamic) {
#pragma omp parallel for schedule(dynamic, 1)
            for (std::int64_t i = 0; i < count; ++i) body(i);
        } else {
#pragma omp parallel for schedule(static)
            for (std::int64_t i = 0; i < count; ++i) body(i);
        }
        return;
    }
#else
    static_cast<void>(work);
#endif
    for (std::int64_t i = 0; i < count; ++i) body(i);
}

// body(thread, threads) on each thread of a team, at the same time; of one thread where the work is little. Bodies do
// not throw.
template <class Body>
void on_all_threads(std::int64_t work, const Body& body) {
#ifdef _OPENMP
    if (work >= serial_work && max_threads() > 1) {
#pragma omp parallel
        body(omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#else
    static_cast<void>(work);
#endif
    body(0, 1);
}

// body(first, last) over consecutive ranges of `chunk` items (the last may be shorter) that cover 0 .. total - 1.
template <class Body>
void parallel_chunks(std::int64_t total, std::int64_t chunk, std::int64_t work, const Body& body) {
    parallel_for((total + chunk - 1) / chunk, work, LoopSchedule::fixed,
                 [&](std::int64_t i) { body(i * chunk, std::min(total, (i + 1) * chunk)); });
}

// Rows of `columns` elements that make a chunk worth handing to a thread; a multiple of eight.
inline std::int64_t rows_per_chunk(std::int64_t columns) {
    constexpr std::int64_t chunk_elements = 1 << 13;
    return std::max<std::int64_t>(8, chunk_elements / std::max<std::int64_t>(1, columns) / 8 * 8);
}

}  // namespace gnnplan::kernels
