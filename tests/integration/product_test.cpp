// The tools as their user runs them: generate or take a graph, plan it for four ranks, train under mpirun, and read the
// report that they leave. With Open MPI, whose monitoring component writes at its end what it saw leave each process,
// the report's counted bytes are compared with that.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "planner/io/report.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/tiny_graphs.hpp"

namespace gnnplan::testing {
namespace {

const std::string tools = GNNPLAN_TOOLS_DIR;
const std::string mpirun = GNNPLAN_MPIRUN;  // up to the program to run

// Runs a command of the shell; its output is shown when it fails.
void run(const std::string& command, const std::filesystem::path& log) {
    const int status = std::system(fmt::format("{} > {} 2>&1", command, log.string()).c_str());
    std::ifstream file(log);
    const std::string output{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(status, 0) << command << "\n" << output;
}

RunReport read_report(const std::filesystem::path& path) {
    std::ifstream file(path);
    return io::read_report(std::string{std::istreambuf_iterator<char>(file), {}}, path.string());
}

// What Open MPI saw one process send: by point-to-point calls, and as root of one-to-all collectives on the data
// communicators, where it counts (g - 1) times the length. PREFIX.RANK.prof has, with tabs between:
//   E    FROM  TO  BYTES bytes ...      point-to-point calls
//   D    COMMUNICATOR NAME  procs: ...  what follows belongs to this communicator
//   O2A  RANK  BYTES bytes ...          one-to-all collectives
struct Seen {
    std::int64_t point_to_point = 0;
    std::int64_t one_to_all = 0;
};

Seen read_profile(const std::string& path) {
    Seen seen;
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::string communicator;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string key;
        std::getline(fields, key, '\t');
        if (key == "D") std::getline(fields, communicator, '\t');
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::int64_t bytes = 0;
        if (key == "E" && fields >> from >> to >> bytes) seen.point_to_point += bytes;
        if (key == "O2A" && communicator == "gnnplan data" && fields >> from >> bytes) seen.one_to_all += bytes;
    }
    return seen;
}

// Bytes a rank counted in all steps of a kind, in `epochs` epochs and `evaluations` evaluations.
std::int64_t counted(const RunReport& report, const std::string& kind, std::size_t rank, std::int64_t epochs,
                     std::int64_t evaluations) {
    std::int64_t bytes = 0;
    for (const StepRecord& step : report.steps)
        bytes += step.kind == kind ? epochs * step.counted_bytes_by_rank[rank] : 0;
    for (const StepRecord& step : report.evaluation) {
        bytes += step.kind == kind ? evaluations * step.counted_bytes_by_rank[rank] : 0;
    }
    return bytes;
}

class Product : public ::testing::Test {
protected:
    void generate(std::int64_t vertices, std::int64_t nonzeros, int features, int classes) {
        run(fmt::format("{}/gnnplan graph generate planted --vertices {} --nonzeros {} --features {} --classes {} "
                        "--seed 3 -o {}",
                        tools, vertices, nonzeros, features, classes, planted()),
            folder.path() / "log");
    }
    std::string planted() const { return (folder.path() / "planted.npz").string(); }
    std::string profile_prefix() const { return (folder.path() / "traffic").string(); }

    // Plans and trains; `graph` is what both tools are told of the graph.
    RunReport plan_and_train(const std::string& graph, const std::string& plan_flags, const std::string& run_flags) {
        const auto plan = folder.path() / "plan.json";
        const auto report = folder.path() / "run.json";
        const auto log = folder.path() / "log";
        run(fmt::format("{}/gnnplan plan --graph {} --ranks 4 {} -o {}", tools, graph, plan_flags, plan.string()), log);
        if (HasFatalFailure()) return {};
        run(fmt::format("{}{} {}/gnnrun {} --data {} {} --threads 1 --report {}", mpirun, mpirun_flags, tools,
                        plan.string(), graph, run_flags, report.string()),
            log);
        if (HasFatalFailure()) return {};
        return read_report(report);
    }

    void check(const RunReport& report, std::size_t epochs) {
        if (HasFatalFailure()) return;
        EXPECT_EQ(report.ranks, 4);
        EXPECT_EQ(report.communicator, "mpi");
        ASSERT_EQ(report.epochs.size(), epochs);
        EXPECT_LT(report.epochs.back().loss, report.epochs.front().loss);
        ASSERT_FALSE(report.steps.empty());
        EXPECT_TRUE(bytes_as_predicted(report.steps));
        EXPECT_TRUE(bytes_as_predicted(report.evaluation));
        EXPECT_GT(report.measured.total_bytes, 0);
        EXPECT_EQ(report.measured.total_bytes, report.predicted.total_bytes);
        EXPECT_EQ(report.measured.max_rank_bytes, report.predicted.max_rank_bytes);
        EXPECT_EQ(report.measured.peak_bytes_per_rank, report.predicted.peak_bytes_per_rank);
    }

    TemporaryFolder folder;
    std::string mpirun_flags;
};

TEST_F(Product, LearnsAGeneratedGraphUnderMpirun) {
    generate(600, 6000, 24, 5);
    ASSERT_FALSE(HasFatalFailure());
    const RunReport report = plan_and_train(planted(), "--hidden 16", "--epochs 30 --autotune 0");
    check(report, 30);
    if (HasFatalFailure()) return;
    EXPECT_GT(report.epochs.back().test_accuracy.value(), 0.5);  // one of five by chance
}

TEST_F(Product, TrainsSlashdotUnderMpirun) {
    const char* data = std::getenv("GNNPLAN_DATA");
    const std::filesystem::path path =
        (data == nullptr ? std::filesystem::path(GNNPLAN_SOURCE_DIR) / "../shared/data" : std::filesystem::path(data)) /
        "snap/soc-slashdot0902.txt.gz";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no graph at " << path << ": set GNNPLAN_DATA";
    const RunReport report =
        plan_and_train(path.string(), "--symmetrise --features 16 --classes 4 --hidden 8", "--epochs 3");
    check(report, 3);
}

// Orders whose masks move as bits (ids 6 and 9), and one whose weight gradients need a third SpMM (id 15).
class Monitored : public Product, public ::testing::WithParamInterface<std::tuple<int, const char*>> {};

TEST_P(Monitored, BytesAreThoseOpenMpiSaw) {
    const auto [replication, orders] = GetParam();
    generate(101, 900, 9, 3);
    ASSERT_FALSE(HasFatalFailure());
    mpirun_flags =
        " --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename " +
        profile_prefix();
    const RunReport report =
        plan_and_train(planted(), fmt::format("--hidden 7 --replication {} {}", replication, orders),
                       "--epochs 4 --eval-every 2 --dropout 0.2 --autotune 0");
    check(report, 4);
    if (HasFatalFailure()) return;
    EXPECT_EQ(report.configuration.replication, replication);
    std::int64_t exchanged = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const Seen seen = read_profile(fmt::format("{}.{}.prof", profile_prefix(), rank));
        EXPECT_EQ(seen.point_to_point, counted(report, "redistribute", rank, 4, 2)) << "rank " << rank;
        EXPECT_EQ(seen.one_to_all, counted(report, "spmm", rank, 4, 2)) << "rank " << rank;
        exchanged += seen.point_to_point + seen.one_to_all;
    }
    EXPECT_GT(exchanged, 0);
}

std::string plan_name(const ::testing::TestParamInfo<std::tuple<int, const char*>>& instance) {
    std::string name = fmt::format("RA{}{}", std::get<0>(instance.param), std::get<1>(instance.param));
    std::erase_if(name, [](char c) { return c == '-' || c == ' '; });
    return name;
}

INSTANTIATE_TEST_SUITE_P(Plans, Monitored,
                         ::testing::Combine(::testing::Values(1, 2, 4),
                                            ::testing::Values("--forward DS --backward SD",
                                                              "--forward SD --backward DS",
                                                              "--forward DD --backward DD")),
                         plan_name);

}  // namespace
}  // namespace gnnplan::testing
