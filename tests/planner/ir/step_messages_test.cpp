// All views of the messages of a step agree, in every step of schedules of every scheme.
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace gnnplan {
namespace {

const std::vector<std::int64_t> widths = {13, 7, 5};

void expect_peers_mutual(const StepMessages& messages, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> peers = messages.peers(rank);
        EXPECT_EQ(std::set<int>(peers.begin(), peers.end()).size(), peers.size()) << "a peer twice";
        for (const int peer : peers) {
            EXPECT_NE(peer, rank);
            const std::vector<int> back = messages.peers(peer);
            EXPECT_NE(std::find(back.begin(), back.end(), rank), back.end()) << rank << " and " << peer;
        }
    }
}

// Sent bytes are received; sums over pairs, over the list of messages and over one rank's peers are the same.
void expect_views_agree(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    const int ranks = schedule.grid.size();
    const StepMessages messages(schedule, step, graph);
    expect_peers_mutual(messages, ranks);
    std::vector<RankTraffic> by_pair(static_cast<std::size_t>(ranks));
    std::int64_t pairs = 0;
    for (int from = 0; from < ranks; ++from) {
        for (const int to : messages.peers(from)) {
            const Message message = messages.between(from, to);
            EXPECT_EQ(message.from, from);
            EXPECT_EQ(message.to, to);
            EXPECT_EQ(message.count > 0, message.bytes > 0) << "empty messages do not exist";
            EXPECT_LE(message.count, message.bytes);
            by_pair[static_cast<std::size_t>(from)].sent_bytes += message.bytes;
            by_pair[static_cast<std::size_t>(to)].received_bytes += message.bytes;
            pairs += message.count > 0 ? 1 : 0;
        }
    }
    const std::vector<Message> list = messages_of(schedule, step, graph);
    EXPECT_EQ(static_cast<std::int64_t>(list.size()), pairs);
    EXPECT_EQ(traffic_of(schedule, step, graph), by_pair);
    RankTraffic total;
    for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(traffic_of(schedule, step, graph, rank), by_pair[static_cast<std::size_t>(rank)]);
        total.sent_bytes += by_pair[static_cast<std::size_t>(rank)].sent_bytes;
        total.received_bytes += by_pair[static_cast<std::size_t>(rank)].received_bytes;
    }
    EXPECT_EQ(total.sent_bytes, total.received_bytes);
}

TEST(StepMessages, ViewsAgreeInEveryStepOfEveryScheme) {
    const UniformStats graph(29, 170, false, 0.4);
    std::map<std::string, std::int64_t> seen;  // kinds of steps that moved something
    for (const lower::FullCase& full : lower::full_cases({1, 2, 3, 4, 6, 8, 9, 12}, 37)) {
        SCOPED_TRACE(full.text());
        const Schedule schedule = lower::lowered(full, widths, graph);
        const auto numbered = graph.numbered(schedule.numbering);
        for (const Step& step : schedule.steps) {
            SCOPED_TRACE(step.name);
            expect_views_agree(schedule, step, *numbered);
            if (!messages_of(schedule, step, *numbered).empty()) ++seen[std::string(kind_of(step.operation))];
            if (::testing::Test::HasFailure()) return;  // the first failure says enough
        }
    }
    for (const char* kind : {"spmm", "index", "reduce_scatter", "redistribute", "all_reduce", "loss"}) {
        EXPECT_GT(seen[kind], 10) << kind;
    }
    EXPECT_EQ(seen.size(), 6U) << "other steps move nothing";
}

}  // namespace
}  // namespace gnnplan
