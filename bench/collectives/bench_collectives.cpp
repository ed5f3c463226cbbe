// Times the collectives of runtime/comm for sizes from 1 KB to 64 MB and fits latency and bandwidth.
//   mpirun -n P bench_collectives        ranks as MPI processes
//   bench_collectives --in-process P     ranks as threads
// For each size: an untimed run whose result is checked, then seven batches of runs that take about --seconds together.
// The time printed is that of the median batch, for one run, on the slowest rank. Algorithm bandwidth is buffer bytes
// over time; bus bandwidth corrects it so that it does not depend on the number of ranks.
#include "bench/collectives/collective.hpp"
#include "bench/collectives/fit.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/threads.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>

namespace gnnplan::bench {
namespace {

struct Options {
    int in_process = 0;
    std::int64_t smallest = 1 << 10;
    std::int64_t largest = 1 << 26;
    double seconds = 0.2;
};

// Seconds for each of `repeats` runs, on the slowest rank.
double time_runs(comm::Communicator& comm, Collective& collective, int repeats) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) collective.run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return comm::control_max(comm, taken.count()) / repeats;
}

// Median of several batches: the machine may be shared.
double measure(comm::Communicator& comm, Collective& collective, double seconds) {
    constexpr std::size_t batches = 7;
    collective.check();
    const double rough = time_runs(comm, collective, 3);
    const int repeats = static_cast<int>(std::clamp(seconds / batches / std::max(rough, 1e-9), 1.0, 10'000.0));
    std::vector<double> times;
    while (times.size() < batches) times.push_back(time_runs(comm, collective, repeats));
    std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
    return times[batches / 2];
}

void run_kind(comm::Communicator& comm, const std::string& kind, const Options& options) {
    const double factor = bus_factor(kind, comm.size());
    std::vector<Sample> samples;
    for (std::int64_t bytes = options.smallest; bytes <= options.largest; bytes *= 2) {
        const double seconds = measure(comm, *make_collective(kind, comm, bytes), options.seconds);
        const auto size = static_cast<double>(bytes);
        samples.push_back({size * factor, seconds});
        if (comm.rank() == 0)
            fmt::print("{:<10} {:>10} B {:>12.2f} us {:>9.3f} {:>9.3f}\n", kind, bytes, seconds * 1e6,
                       size / seconds * 1e-9, size * factor / seconds * 1e-9);
    }
    const AlphaBeta fit = fit_alpha_beta(samples);
    if (comm.rank() == 0 && samples.size() > 1 && factor > 0)
        fmt::print("{:<10} alpha {:.2f} us, beta {:.4f} ns/B ({:.3f} GB/s)\n\n", kind, fit.alpha * 1e6, fit.beta * 1e9,
                   1e-9 / fit.beta);
}

void run_all(comm::Communicator& comm, const Options& options) {
    if (comm.rank() == 0)
        fmt::print("{} ranks\n{:<10} {:>12} {:>15} {:>9} {:>9}\n", comm.size(), "collective", "buffer", "time",
                   "alg GB/s", "bus GB/s");
    for (const char* kind : {"exchange", "broadcast", "all_reduce"}) run_kind(comm, kind, options);
}

void run_under_mpi([[maybe_unused]] const Options& options) {
#ifdef GNNPLAN_HAVE_MPI
    comm::MpiEnvironment mpi;
    try {
        run_all(mpi.world(), options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        mpi.abort(static_cast<int>(ErrorCode::internal));
    }
#else
    throw Error(ErrorCode::unavailable, "built without MPI", "bench_collectives", "use --in-process P");
#endif
}

}  // namespace
}  // namespace gnnplan::bench

int main(int argc, char** argv) {
    using namespace gnnplan;
    bench::Options options;
    CLI::App app("Times exchange, broadcast and all_reduce");
    app.add_option("--in-process", options.in_process, "ranks as threads of this process")->check(CLI::PositiveNumber);
    app.add_option("--smallest", options.smallest, "smallest buffer, bytes")->check(CLI::PositiveNumber);
    app.add_option("--largest", options.largest, "largest buffer, bytes")->check(CLI::PositiveNumber);
    app.add_option("--seconds", options.seconds, "time for each size")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        if (options.in_process > 0)
            comm::run_ranks(options.in_process, [&](comm::Communicator& comm) { run_all(comm, options); });
        else if (comm::launched_by_mpi())
            run_under_mpi(options);
        else
            throw Error(ErrorCode::usage, "no ranks", "bench_collectives", "use --in-process P or mpirun -n P");
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return EXIT_FAILURE;
    }
}
