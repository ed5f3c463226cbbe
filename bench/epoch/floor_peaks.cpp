#include "bench/epoch/floor_peaks.hpp"

#include "bench/epoch/floor_loops.hpp"
#include "bench/kernels/fma_peak.hpp"
#include "bench/kernels/huge_buffer.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gnnplan::bench {
namespace {

constexpr int least_rounds = 5, most_rounds = 200;
constexpr double enough_seconds = 0.02;
constexpr std::int64_t bytes_per_round = std::int64_t{4} << 20;  // of a thread
constexpr std::int64_t line_floats = 16;

std::int64_t cache_bytes(int name, std::int64_t usual) {
    const long known = sysconf(name);
    return known > 0 ? known : usual;
}

struct Team {
    int ranks = 1;
    int threads = 1;  // of a rank

    int size() const { return ranks * threads; }
};

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Measures how much the threads of a rank do in a second, together, the mean over ranks. `work(thread)` is a round of
// one thread and returns how much that was; threads begin a round together. Each counts with its best round, so that
// other programs, which take a core from one thread at a time, lower no peak. `prepare(thread)` comes before the first.
template <class Prepare, class Work>
double best_rate(const Team& team, const Prepare& prepare, const Work& work) {
    double sum = 0;
    bool more = true;
#pragma omp parallel num_threads(team.size()) reduction(+ : sum)
    {
        const int thread = omp_get_thread_num();
        prepare(thread);
#pragma omp barrier
        double best = 0;
        const double begin = seconds_now();
        for (int round = 1; more; ++round) {
            const double start = seconds_now();
            const double done = work(thread);
            best = std::max(best, done / (seconds_now() - start));
#pragma omp barrier
#pragma omp master
            more = round < least_rounds || (round < most_rounds && seconds_now() - begin < enough_seconds);
#pragma omp barrier
        }
        sum += best;
    }
    return sum / team.ranks;
}

using Buffers = std::vector<std::unique_ptr<HugeBuffer>>;

std::unique_ptr<HugeBuffer> floats_on_huge_pages(std::int64_t count) {
    return std::make_unique<HugeBuffer>(count, true);
}

// Bytes a second of a rank whose threads go through a part each of so many bytes again and again; pass(floats, count).
template <class Pass>
double stream_rate(const Team& team, std::int64_t bytes, const Pass& pass) {
    const std::int64_t floats = std::max(line_floats, bytes / 4 / team.threads / line_floats * line_floats);
    const std::int64_t passes = std::max<std::int64_t>(1, bytes_per_round / (4 * floats));
    Buffers buffers(static_cast<std::size_t>(team.size()));
    const auto buffer = [&](int thread) -> auto& { return buffers[static_cast<std::size_t>(thread)]; };
    return best_rate(
        team, [&](int thread) { buffer(thread) = floats_on_huge_pages(floats); },
        [&](int thread) {
            for (std::int64_t i = 0; i < passes; ++i) pass(buffer(thread)->data(), floats);
            return static_cast<double>(4 * floats * passes);
        });
}

double read_rate(const Team& team, std::int64_t bytes) {
    return stream_rate(team, bytes, [](const float* data, std::int64_t floats) { use(read(data, floats)); });
}

// Around the caches and through them, whichever is faster.
double write_rate(const Team& team, std::int64_t bytes) {
    return std::max(stream_rate(team, bytes, fill_streamed), stream_rate(team, bytes, fill));
}

// Seconds in which a rank copies one half of so many bytes to the other.
double copy_seconds(const Team& team, std::int64_t bytes) {
    const auto rate = [&](auto copy) {
        return stream_rate(team, bytes, [&](float* data, std::int64_t floats) {
            const std::int64_t half = floats / 2 / line_floats * line_floats;
            copy(data, data + half, half);
        });
    };
    return static_cast<double>(bytes) / std::max(rate(copy_streamed), rate(copy_plain));
}

// Each thread of a rank gathers a part of the rows of one table, round after round in one order, so that all rows are
// met before one comes again.
double gather_rate(const Team& team, std::int64_t width, std::int64_t rows) {
    const std::int64_t each = std::max<std::int64_t>(1, rows / team.threads);  // of a thread
    const std::int64_t count = std::min(each, std::max<std::int64_t>(1, bytes_per_round / (4 * width)));
    const std::int64_t passes = std::max<std::int64_t>(1, bytes_per_round / (4 * width * count) / 4);
    Buffers tables(static_cast<std::size_t>(team.ranks));
    std::vector<std::int64_t> next(static_cast<std::size_t>(team.size()), each);
    const auto table = [&](int thread) -> auto& { return tables[static_cast<std::size_t>(thread / team.threads)]; };
    double best = 0;
    // Without prefetching first: that is slow, and leaves the caches as they will stay.
    for (const int ahead : {0, 2, 4, 8, 16, 32, 64}) {
        const auto prepare = [&](int thread) {
            if (thread % team.threads == 0 && !table(thread)) table(thread) = floats_on_huge_pages(rows * width);
        };
        best = std::max(best, best_rate(team, prepare, [&](int thread) {
                            std::int64_t& at = next[static_cast<std::size_t>(thread)];
                            for (std::int64_t i = 0; i < passes; ++i) {
                                if (at + count > each) at = 0;
                                const std::int64_t first = thread % team.threads * each + at;
                                use(read_rows({table(thread)->data(), rows, width}, first, count, ahead));
                                at += count;
                            }
                            return static_cast<double>(4 * width * count * passes);
                        }));
    }
    return best;
}

double flops_rate(const Team& team) {
    return best_rate(
        team, [](int) {}, [](int) { return fma_burst(); });
}

// Sizes from the least to memory, two for each doubling: the next lower one, of which no rate is less.
std::int64_t stepped(std::int64_t bytes, std::int64_t most) {
    constexpr std::int64_t least = 32 << 10;
    if (bytes >= most) return most;
    const auto floor = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(bytes, least))));
    return bytes >= floor + floor / 2 ? floor + floor / 2 : floor;
}

// Asks `measure` about each argument once, and keeps the answer.
template <class Key, class Measure>
auto kept(Measure measure) {
    return [measure, known = std::make_shared<std::map<Key, double>>()](const Key& key) {
        const auto found = known->find(key);
        return found != known->end() ? found->second : known->emplace(key, measure(key)).first->second;
    };
}

// Measures the share of the shorter of reading and writing that copying does not hide.
double exposed_share(const Team& team, const Peaks& peaks) {
    const double half = static_cast<double>(peaks.memory_bytes) / 2;
    const double reading = half / peaks.read(peaks.memory_bytes), writing = half / peaks.write(peaks.memory_bytes);
    const double both = copy_seconds(team, peaks.memory_bytes);
    return std::clamp((both - std::max(reading, writing)) / std::min(reading, writing), 0.0, 1.0);
}

}  // namespace

Peaks measure_peaks(int ranks, int threads) {
    const Team team{ranks, threads};
    constexpr std::int64_t usual_second = 1 << 20, usual_third = 32 << 20, least_memory = 128 << 20;
    Peaks peaks;
    peaks.second_level_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, usual_second);
    peaks.memory_bytes = std::max(least_memory, 4 * cache_bytes(_SC_LEVEL3_CACHE_SIZE, usual_third));
    const std::int64_t most = peaks.memory_bytes;
    peaks.flops_per_second = flops_rate(team);
    const auto read = kept<std::int64_t>([team](std::int64_t bytes) { return read_rate(team, bytes); });
    const auto write = kept<std::int64_t>([team](std::int64_t bytes) { return write_rate(team, bytes); });
    peaks.read = [read, most](std::int64_t bytes) { return read(stepped(bytes, most)); };
    peaks.write = [write, most](std::int64_t bytes) { return write(stepped(bytes, most)); };
    const auto gather = kept<std::pair<std::int64_t, std::int64_t>>(
        [team](const auto& of) { return gather_rate(team, of.first, of.second); });
    peaks.gather = [gather, most](std::int64_t width, std::int64_t bytes) {
        const auto rows = static_cast<std::uint64_t>(std::max<std::int64_t>(1, std::min(bytes, most) / (4 * width)));
        return gather({width, static_cast<std::int64_t>(std::bit_floor(rows))});
    };
    peaks.exposed = exposed_share(team, peaks);
    return peaks;
}

}  // namespace gnnplan::bench
