// The tools as their user runs them: generate or take a graph, plan it for four ranks, train under mpirun, and read the
// report that they leave. With Open MPI, whose monitoring component writes at its end what it saw leave each process,
// the report's counted bytes are compared with that.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

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

// The messages that Open MPI saw one process send: by point-to-point calls, and as root of one-to-all collectives on
// the data communicators, where it counts (g - 1) times the length. PREFIX.RANK.prof has, with tabs between:
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

// Whether a step sums over the ranks that share columns only, by messages of its own.
bool sums_within_group(const StepRecord& step) {
    for (const char* what : {".source.", ".target.", ".inner.", ".squares.", ".scores.", ".weights."}) {
        if (step.kind == "all_reduce" && step.name.find(std::string(what) + "all_reduce") != std::string::npos)
            return true;
    }
    return false;
}

// Bytes a rank counted in all steps but reductions over all ranks, which have collectives of their own: in setup, once,
// in `epochs` epochs and in `evaluations` evaluations.
std::int64_t counted(const RunReport& report, std::size_t rank, std::int64_t epochs, std::int64_t evaluations) {
    const auto sum = [&](const std::vector<StepRecord>& records) {
        std::int64_t bytes = 0;
        for (const StepRecord& step : records) {
            const bool own = step.kind == "all_reduce" && !sums_within_group(step);
            const bool moves = !own && rank < step.counted_bytes_by_rank.size();
            bytes += moves ? step.counted_bytes_by_rank[rank] : 0;
        }
        return bytes;
    };
    return sum(report.setup) + epochs * sum(report.steps) + evaluations * sum(report.evaluation);
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
    for (const char* model :
         {"gcn", "sage --bias", "sage --aggregator sum --loss-rows on", "sage --aggregator max", "gin --bias",
          "sage --aggregator pool --bias --activation elu --loss-rows on", "gin --epsilon train --residual",
          "gcn --residual --jk concat --activation leaky_relu --bias", "gat --heads 4 --bias",
          "gat --heads 3 --average-heads --output-heads 2 --loss-rows on", "agnn --bias", "sgc --bias --loss-rows on",
          "appnp --bias", "sign --bias --hops 3"}) {
        SCOPED_TRACE(model);
        const RunReport report =
            plan_and_train(planted(), std::string("--hidden 16 --model ") + model, "--epochs 30 --autotune 0");
        check(report, 30);
        if (HasFatalFailure()) return;
        EXPECT_GT(report.epochs.back().judgement.accuracy.test.value(), 0.35);  // one of five by chance
    }
}

// An .npy of floats: rows x columns in its header, which is a multiple of 64 bytes.
std::vector<float> read_npy(const std::filesystem::path& path, const std::string& shape) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
    const std::size_t header = 10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
    EXPECT_EQ(header % 64, 0U);
    EXPECT_NE(bytes.find("'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")"), std::string::npos);
    std::vector<float> values((bytes.size() - header) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(float));
    return values;
}

// Rows lie where their vertices are in the data, however the ranks number them.
TEST_F(Product, EmbeddingsAreInTheNumberingOfTheData) {
    generate(601, 6000, 24, 5);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<std::vector<float>> embeddings;
    for (const char* numbering : {"", "--permute on --loss-rows on", "--partition --replication 2"}) {
        SCOPED_TRACE(numbering);
        const auto path = folder.path() / "embeddings.npy";
        const RunReport report =
            plan_and_train(planted(), std::string("--hidden 16 --model sage --aggregator max ") + numbering,
                           "--epochs 4 --dropout 0 --autotune 0 --eval-every 1 --save-embeddings " + path.string());
        check(report, 4);
        if (HasFatalFailure()) return;
        embeddings.push_back(read_npy(path, "601, 5"));
        ASSERT_EQ(embeddings.back().size(), 601U * 5U);
        EXPECT_TRUE(close(std::vector<double>(embeddings.back().begin(), embeddings.back().end()),
                          std::vector<double>(embeddings.front().begin(), embeddings.front().end()), 1e-4));
    }
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

struct Planned {
    const char* name;
    const char* flags;   // of gnnplan plan
    const char* scheme;  // that the plan must have
};

class Monitored : public Product, public ::testing::WithParamInterface<Planned> {};

TEST_P(Monitored, BytesAreThoseOpenMpiSaw) {
    generate(101, 900, 9, 3);
    ASSERT_FALSE(HasFatalFailure());
    mpirun_flags =
        " --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename " +
        profile_prefix();
    const RunReport report = plan_and_train(planted(), std::string("--hidden 7 ") + GetParam().flags,
                                            "--epochs 4 --eval-every 2 --dropout 0.2 --autotune 0");
    check(report, 4);
    if (HasFatalFailure()) return;
    EXPECT_EQ(scheme_of(report.configuration), GetParam().scheme);
    std::int64_t exchanged = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const Seen seen = read_profile(fmt::format("{}.{}.prof", profile_prefix(), rank));
        EXPECT_EQ(seen.point_to_point, counted(report, rank, 4, 2)) << "rank " << rank;
        EXPECT_EQ(seen.one_to_all, 0) << "rank " << rank;
        exchanged += seen.point_to_point;
    }
    EXPECT_GT(exchanged, 0);
}

// The paper's orders whose masks move as bits (ids 6 and 9), and one whose weight gradients need a third SpMM (id 15).
INSTANTIATE_TEST_SUITE_P(
    Paper, Monitored,
    ::testing::Values(Planned{"RA1_id6", "--space paper --replication 1 --forward DS --backward SD", "1d"},
                      Planned{"RA1_id9", "--space paper --replication 1 --forward SD --backward DS", "1d"},
                      Planned{"RA1_id15", "--space paper --replication 1 --forward DD --backward DD", "1d"},
                      Planned{"RA2_id6", "--space paper --replication 2 --forward DS --backward SD", "rdm"},
                      Planned{"RA2_id9", "--space paper --replication 2 --forward SD --backward DS", "rdm"},
                      Planned{"RA2_id15", "--space paper --replication 2 --forward DD --backward DD", "rdm"},
                      Planned{"RA4_id6", "--space paper --replication 4 --forward DS --backward SD", "rdm"},
                      Planned{"RA4_id9", "--space paper --replication 4 --forward SD --backward DS", "rdm"},
                      Planned{"RA4_id15", "--space paper --replication 4 --forward DD --backward DD", "rdm"}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Full, Monitored,
    ::testing::Values(Planned{"OneD", "--scheme 1d --exchange panels --overlap on", "1d"},
                      Planned{"OneDNeededRows", "--scheme 1d --exchange rows --overlap on --permute on", "1d"},
                      Planned{"OneAndAHalfD", "--scheme 1.5d --grid 2x2 --exchange rows", "1.5d"},
                      Planned{"OneAndAHalfDUnreplicated", "--scheme 1.5d --grid 2x1x2 --overlap on", "1.5d"},
                      Planned{"TwoD", "--scheme 2d --grid 2x2 --exchange panels --overlap on", "2d"},
                      Planned{"TwoDNeededRows", "--scheme 2d --grid 2x2 --exchange rows", "2d"},
                      Planned{"ThreeD", "--scheme 3d", "3d"},
                      Planned{"Rdm", "--scheme rdm --grid 2x2 --exchange rows --permute on", "rdm"}),
    [](const auto& instance) { return instance.param.name; });

// Heads that y cuts and heads that it does not, and values of edges that are sent to where their transposes have them.
INSTANTIATE_TEST_SUITE_P(
    Attention, Monitored,
    ::testing::Values(
        Planned{"Gat", "--model gat --heads 3 --average-heads --output-heads 2 --grid 2x2 --exchange panels", "rdm"},
        Planned{"GatNeededRows", "--model gat --heads 7 --grid 4x1 --exchange rows --overlap on", "1d"},
        Planned{"GatStored",
                "--model gat --heads 3 --average-heads --output-heads 2 --attention stored --grid 2x2 --exchange rows",
                "rdm"},
        Planned{"GatStoredOneD", "--model gat --heads 7 --attention stored --grid 4x1 --exchange panels --overlap on",
                "1d"},
        Planned{"AgnnColumns", "--model agnn --grid 2x2 --scores columns --exchange rows", "rdm"},
        Planned{"AgnnWholeRows", "--model agnn --grid 2x2 --scores whole-rows --exchange panels", "rdm"},
        Planned{"AgnnDealtRows", "--model agnn --grid 2x2 --scores dealt-rows --exchange panels", "rdm"},
        Planned{"Appnp", "--model appnp --hops 3 --bias --grid 2x2 --exchange rows --loss-rows on", "rdm"},
        Planned{"SgcThreeD", "--model sgc --layers 2 --scheme 3d --grid 1x2x2", "3d"},
        Planned{"AgnnOneD", "--model agnn --grid 4x1 --exchange rows --overlap on", "1d"}),
    [](const auto& instance) { return instance.param.name; });

// Messages of ranks that load a graph in shares are in the setup.
INSTANTIATE_TEST_SUITE_P(
    Loading, Monitored,
    ::testing::Values(Planned{"SharesOfRows", "--load sharded --loss-rows off --grid 4x1 --exchange rows", "1d"},
                      Planned{"SharesOfGroups", "--load sharded --loss-rows off --grid 2x2 --permute on", "rdm"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace gnnplan::testing
