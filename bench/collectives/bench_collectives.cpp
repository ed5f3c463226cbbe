// Times the collectives of runtime/comm for sizes from 1 KB to 64 MB and fits latency and bandwidth.
//   mpirun -n P bench_collectives        ranks as MPI processes
//   bench_collectives --in-process P     ranks as threads
// For each size: an untimed run whose result is checked, then batches of runs that take about --seconds together. The
// time printed is that of the median batch, for one run, on the slowest rank. `gnnplan calibrate` measures one message
// of these. Algorithm bandwidth is buffer bytes over time; bus bandwidth corrects it so that it does not depend on the
// number of ranks.
#include "planner/calibrate/line.hpp"
#include "runtime/calibrate/collective.hpp"
#include "runtime/calibrate/setting.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/threads.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gnnplan::bench {
namespace {

struct Options {
    int in_process = 0;
    std::int64_t smallest = 1 << 10;
    std::int64_t largest = 1 << 26;
    double seconds = 0.2;
    bool cold = false;

    std::int64_t cold_bytes() const { return cold ? std::int64_t{1} << 27 : 0; }
};

// Bytes over the busiest link for each byte of buffer, as nccl-tests have it: a perfect algorithm on links of bandwidth
// B takes bytes * bus_factor / B, whatever the number of ranks.
double bus_factor(const std::string& kind, int ranks) {
    const double others = static_cast<double>(ranks - 1) / ranks;
    if (kind == "all_reduce") return 2 * others;
    if (kind != "broadcast") return others;
    return ranks > 1 ? 1 : 0;
}

void run_kind(comm::Communicator& comm, const std::string& kind, const Options& options) {
    const double factor = bus_factor(kind, comm.size());
    measure::SteadyClock clock;
    const auto processor = kernels::host_device(kernels::cpu_table());
    const calibrate::Setting setting{comm, clock, *processor, {options.seconds, 7}};
    std::vector<calibrate::Timing> timings;
    for (std::int64_t bytes = options.smallest; bytes <= options.largest; bytes *= 2) {
        const auto collective = calibrate::make_collective(kind, comm, *processor, bytes, options.cold_bytes());
        collective->check();
        const double seconds = measure::median(calibrate::seconds_of_collective(setting, [&] { collective->run(); }));
        const auto size = static_cast<double>(bytes);
        timings.push_back({size * factor, seconds});
        if (comm.rank() == 0)
            fmt::print("{:<14} {:>10} B {:>12.2f} us {:>9.3f} {:>9.3f}\n", kind, bytes, seconds * 1e6,
                       size / seconds * 1e-9, size * factor / seconds * 1e-9);
    }
    if (timings.size() < 2 || factor == 0) return;
    const calibrate::AlphaBeta fit = calibrate::fit_alpha_beta(timings);
    if (comm.rank() == 0)
        fmt::print("{:<14} alpha {:.2f} us, beta {:.4f} ns/B ({:.3f} GB/s)\n\n", kind, fit.alpha * 1e6, fit.beta * 1e9,
                   1e-9 / fit.beta);
}

void run_all(comm::Communicator& comm, const Options& options) {
    if (comm.rank() == 0)
        fmt::print("{} ranks\n{:<14} {:>12} {:>15} {:>9} {:>9}\n", comm.size(), "collective", "buffer", "time",
                   "alg GB/s", "bus GB/s");
    for (const char* kind : {"exchange", "broadcast", "all_reduce", "reduce_scatter"}) run_kind(comm, kind, options);
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
    CLI::App app("Times exchange, broadcast, all_reduce and reduce_scatter");
    app.add_option("--in-process", options.in_process, "ranks as threads of this process")->check(CLI::PositiveNumber);
    app.add_option("--smallest", options.smallest, "smallest buffer, bytes")->check(CLI::PositiveNumber);
    app.add_option("--largest", options.largest, "largest buffer, bytes")->check(CLI::PositiveNumber);
    app.add_option("--seconds", options.seconds, "time for each size")->check(CLI::PositiveNumber);
    app.add_flag("--cold", options.cold, "other buffers in each run");
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
