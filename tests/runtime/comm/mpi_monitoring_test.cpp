// The counting decorator's counts against those that Open MPI's own monitoring component has of each process:
// exchanges for each pair of ranks, broadcasts in total (a tree sends as much as the flat convention, from other
// ranks). All-reduce is left out: the library's algorithm need not be a ring.
//
// With pml_monitoring_enable 2 and pml_monitoring_enable_output 3, MPI_Finalize writes PREFIX.RANK.prof, with tabs
// between:
//   E    FROM  TO  BYTES bytes  N msgs sent ...   by point-to-point calls (tags >= 0), world ranks
//   I    FROM  TO  BYTES bytes  N msgs sent       by collectives and the library itself (tags < 0)
//   D    COMMUNICATOR NAME  procs: ...            what follows belongs to this communicator
//   O2A  RANK  BYTES bytes  N msgs sent           by this rank as root of one-to-all collectives: (g - 1) times the
//   length
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace {

using Pairs = std::map<std::pair<int, int>, std::int64_t>;

struct Record {
    Pairs counted_pairs;               // by the decorator
    std::int64_t counted = 0;          // bytes sent by all ranks
    Pairs external;                    // by the library: "E"
    std::int64_t internal = 0;         // "I", all ranks
    std::int64_t data_one_to_all = 0;  // "O2A" on the data communicators, all ranks
};

void read_counted(const std::string& path, Record& record) {
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    std::string key;
    while (file >> key) {
        int from = 0;
        int to = 0;
        std::int64_t bytes = 0;
        if (key == "pair") file >> from >> to;
        file >> bytes;
        if (key == "pair") record.counted_pairs[{from, to}] = bytes;
        if (key == "sent") record.counted += bytes;
    }
}

void read_profile(const std::string& path, Record& record) {
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    std::string communicator;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string key;
        std::getline(fields, key, '\t');
        if (key == "D") std::getline(fields, communicator, '\t');
        int from = 0;
        int to = 0;
        std::int64_t bytes = 0;
        fields >> from;
        if (key == "E" || key == "I") fields >> to;
        fields >> bytes;
        if (key == "E" && bytes > 0) record.external[{from, to}] = bytes;
        if (key == "I") record.internal += bytes;
        if (key == "O2A" && communicator == "gnnplan data") record.data_one_to_all += bytes;
    }
}

Record run(int ranks, const std::string& kind) {
    const std::string folder = testing::TempDir() + "gnnplan-monitoring-" + std::to_string(ranks) + "-" + kind;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string prefix = folder + "/traffic";
    const std::string command = std::string(MPIRUN) + " " + std::to_string(ranks) +
                                " --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3"
                                " --mca pml_monitoring_filename " +
                                prefix + " " + TRAFFIC_PROGRAM + " " + kind + " " + prefix;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    Record record;
    for (int rank = 0; rank < ranks; ++rank) {
        read_counted(prefix + "." + std::to_string(rank) + ".counted", record);
        read_profile(prefix + "." + std::to_string(rank) + ".prof", record);
    }
    std::filesystem::remove_all(folder);
    return record;
}

class Monitoring : public testing::TestWithParam<int> {};

TEST_P(Monitoring, AgreesWithTheCountedBytes) {
    const Record none = run(GetParam(), "none");
    EXPECT_EQ(none.counted, 0);
    EXPECT_THAT(none.external, testing::IsEmpty());
    EXPECT_EQ(none.data_one_to_all, 0);

    const Record exchange = run(GetParam(), "exchange");
    EXPECT_GT(exchange.counted, 0);
    EXPECT_EQ(exchange.external, exchange.counted_pairs);
    EXPECT_EQ(exchange.internal, none.internal) << "an exchange uses no collectives";

    const Record broadcast = run(GetParam(), "broadcast");
    EXPECT_GT(broadcast.counted, 0);
    EXPECT_THAT(broadcast.external, testing::IsEmpty());
    EXPECT_EQ(broadcast.internal - none.internal, broadcast.counted);
    EXPECT_EQ(broadcast.data_one_to_all, broadcast.counted);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Monitoring, testing::Values(2, 3, 4));

}  // namespace
