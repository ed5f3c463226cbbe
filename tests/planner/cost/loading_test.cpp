// Time of loading, counted by hand: 12 vertices with 6 nonzeros in each row, a self loop among them, so that a file
// lists 60 edges, on 4 ranks.
#include "planner/cost/loading.hpp"
#include "planner/cost/rates.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gnnplan::cost {
namespace {

const UniformStats graph(12, 72, true);

GraphRecord record() {
    GraphRecord record;
    record.vertices = 12;
    record.nonzeros = 72;
    return record;
}

// A message takes `latency`, and a byte `byte`.
Machine machine(double latency, double byte) {
    Machine machine;
    machine.ranks_per_node = 4;
    machine.intra_node = {latency, 1 / byte};
    machine.inter_node = {100 * latency, 1 / byte};
    machine.calibration.emplace();
    machine.calibration->loading = LoadingCost{1e-3, 2e-3, 4e-3, 8e-3};
    return machine;
}
Machine messages_of_a_second() { return machine(1, 1e-12); }

Schedule schedule(const Grid& grid, Loading loading = Loading::sharded, Axes columns = {}) {
    Schedule schedule;
    schedule.grid = grid;
    schedule.loading = loading;
    Tensor matrix;
    matrix.role = Role::adjacency;
    matrix.rows = matrix.columns = 12;
    matrix.layout = {Axes::parse("x"), columns, {}};
    matrix.transposed = true;
    schedule.tensors.push_back(matrix);
    return schedule;
}

LoadingSeconds seconds(const Grid& grid, const Machine& on, const Listing& listing = {}) {
    return loading_seconds(schedule(grid), graph, record(), listing, on);
}

// Each rank reads 15 edges and is dealt 15, in one round and in one that finds that all are dealt.
constexpr double dealing = 15 * 1e-3 + 15 * 2e-3;
constexpr double deal_messages = 3 * (2 + 1);

TEST(LoadingSeconds, OfRanksWithRowsOfTheirOwn) {
    const LoadingSeconds found = seconds({4, 1, 1}, messages_of_a_second());
    EXPECT_NEAR(found.deal, dealing + deal_messages, 1e-6);
    EXPECT_NEAR(found.rows, 15 * 4e-3, 1e-9) << "nobody has the same";
    EXPECT_NEAR(found.degrees, 3 * (1 + 2), 1e-6) << "how many, which, their scales";
    EXPECT_NEAR(found.cut, 18 * 8e-3, 1e-9);
    EXPECT_DOUBLE_EQ(found.total(), found.deal + found.rows + found.degrees + found.cut);
}

TEST(LoadingSeconds, OfRanksThatKeepAllRows) {
    const LoadingSeconds found = seconds({1, 4, 1}, messages_of_a_second());
    EXPECT_NEAR(found.deal, dealing + deal_messages, 1e-6);
    EXPECT_NEAR(found.rows, 15 * 4e-3 + 3 * 2, 1e-6) << "lengths and columns, to each of three";
    EXPECT_NEAR(found.degrees, 3 * 2 + 3, 1e-6) << "two scales of each row; no column is another's";
    EXPECT_NEAR(found.cut, 72 * 8e-3, 1e-9);
}

TEST(LoadingSeconds, OfRanksInPairs) {
    const LoadingSeconds found = seconds({2, 2, 1}, messages_of_a_second());
    EXPECT_NEAR(found.rows, 15 * 4e-3 + 2, 1e-6);
    EXPECT_NEAR(found.degrees, 2 + 3 + 2 * 2, 1e-6) << "two of three peers keep other rows";
    EXPECT_NEAR(found.cut, 36 * 8e-3, 1e-9);
    Machine small_nodes = messages_of_a_second();
    small_nodes.ranks_per_node = 2;
    const LoadingSeconds across = seconds({2, 2, 1}, small_nodes);
    EXPECT_NEAR(across.rows, found.rows, 1e-6) << "pairs are within nodes";
    EXPECT_NEAR(across.degrees, 2 + (1 + 2 * 100) + 2 * 2 * 100, 1e-6);
}

TEST(LoadingSeconds, CountsBytes) {
    const Machine on = machine(0, 1);
    const LoadingSeconds found = seconds({2, 2, 1}, on);
    EXPECT_NEAR(found.deal, dealing + 2 * 3 * 24 + 0.75 * 15 * 8, 1e-9);
    EXPECT_NEAR(found.rows, 15 * 4e-3 + 3 * 8 + 18 * 4, 1e-9);
    const auto met = static_cast<double>(graph.columns_met(true, {0, 6}, {6, 12}));
    EXPECT_GT(met, 0);
    EXPECT_NEAR(found.degrees, 3 * 16 + 3 * 8 + 12 * met, 1e-9);
    GraphRecord unweighed = record();
    unweighed.normalisation = Normalisation::none;
    EXPECT_NEAR(loading_seconds(schedule({2, 2, 1}), graph, unweighed, {}, on).degrees, 3 * 16, 1e-9);
}

TEST(LoadingSeconds, OfFilesThatOneRankReads) {
    const LoadingSeconds found = seconds({4, 1, 1}, machine(0, 1e-12), {.divisible = false});
    EXPECT_NEAR(found.deal, 60 * 1e-3 + 2e-3 * (60 + 15) / 2, 1e-6);
    const LoadingSeconds binary = seconds({4, 1, 1}, machine(0, 1e-12), {.text = false});
    EXPECT_LT(binary.deal, dealing);
    EXPECT_GT(binary.deal, 15 * 2e-3);
    EXPECT_NEAR(seconds({4, 1, 1}, machine(0, 1e-12), {.edges = 120}).deal, 2 * dealing, 1e-6);
}

// Twelve rows of five numbers, of which each rank reads three, in one round and in one that finds that all are dealt.
TEST(LoadingSeconds, OfFeaturesThatAreDealt) {
    const FeatureListing text{5};
    EXPECT_EQ(seconds({4, 1, 1}, messages_of_a_second()).features, 0) << "where rows are found in place";
    const LoadingSeconds found = seconds({4, 1, 1}, messages_of_a_second(), {.features = text});
    constexpr double parsed = 0.8 * 3 * 5 * 1e-3, messages = 3 * (2 + 2);
    EXPECT_NEAR(found.features, parsed + messages, 1e-6);
    EXPECT_EQ(found.total(), found.deal + found.rows + found.degrees + found.cut + found.features);
    // Three of four rows leave a rank, with their numbers.
    const LoadingSeconds bytes = seconds({4, 1, 1}, machine(0, 1), {.features = text});
    EXPECT_NEAR(bytes.features, parsed + 2 * 3 * 16 + 3 * 0.75 * (4 + 4 * 5), 1e-6);
    // One rank reads all of what is compressed, and of two files two ranks read one each.
    const auto of_some = [&](FeatureListing listing) {
        return seconds({4, 1, 1}, machine(0, 1e-12), {.features = listing}).features;
    };
    EXPECT_NEAR(of_some({5, true, 1}), 4 * parsed, 1e-9);
    EXPECT_NEAR(of_some({5, true, 2}), 2 * parsed, 1e-9);
    EXPECT_NEAR(of_some({5, true, 9}), parsed, 1e-9);
    EXPECT_NEAR(of_some({5, false, 1}), 4 * 3 * 5 * 1e-4, 1e-9);
    EXPECT_EQ(loading_seconds(schedule({4, 1, 1}, Loading::whole), graph, record(), {.features = text},
                              messages_of_a_second())
                  .features,
              0)
        << "where each rank reads all of them";
}

TEST(LoadingSeconds, EdgesGoToBothEndsWhereTheirReverseIsAdded) {
    GraphRecord symmetrised = record();
    symmetrised.symmetrised = true;
    EXPECT_EQ(listed_edges({}, symmetrised), 30);
    const LoadingSeconds found = loading_seconds(schedule({4, 1, 1}), graph, symmetrised, {}, messages_of_a_second());
    EXPECT_NEAR(found.deal, 7.5 * 1e-3 + 15 * 2e-3 + 3 * (2 + 2), 1e-6);
    EXPECT_NEAR(found.rows, 15 * 4e-3, 1e-9);
}

TEST(LoadingSeconds, ColumnsAreSortedAgainInAnotherNumbering) {
    Schedule shuffled = schedule({1, 4, 1});
    shuffled.numbering.permuted = true;
    const LoadingSeconds found = loading_seconds(shuffled, graph, record(), {}, machine(0, 1e-12));
    EXPECT_NEAR(found.rows, (15 + 72) * 4e-3, 1e-6);
}

TEST(LoadingSeconds, OfDrawnEdges) {
    const UniformStats drawn = graph.drawn({2, 1}, true, true);
    Schedule layers = schedule({4, 1, 1});
    layers.tensors.push_back(layers.tensors.front());
    layers.tensors[0].sample = 1;
    layers.tensors[1].sample = 2;
    const LoadingSeconds found = loading_seconds(layers, drawn, record(), {}, machine(0, 1e-12));
    const double kept = 3 * (2 + 1) + 3 * (1 + 1);
    EXPECT_NEAR(found.rows, (15 + kept) * 4e-3, 1e-6);
    EXPECT_NEAR(found.cut, kept * 8e-3, 1e-6);
}

TEST(LoadingSeconds, OfWholeGraphs) {
    const LoadingSeconds found =
        loading_seconds(schedule({4, 1, 1}, Loading::whole), graph, record(), {}, messages_of_a_second());
    EXPECT_NEAR(found.deal, 60 * 1e-3, 1e-9);
    EXPECT_NEAR(found.rows, 60 * 4e-3, 1e-9);
    EXPECT_EQ(found.degrees, 0);
    EXPECT_NEAR(found.cut, 18 * 8e-3, 1e-9);
}

TEST(LoadingSeconds, MachinesThatWereNotMeasuredTakeWhatIsUsual) {
    Machine preset = messages_of_a_second();
    preset.calibration.reset();
    const LoadingCost usual = loading_cost(preset);
    EXPECT_GT(usual.parse_seconds_per_edge, 0);
    preset.calibration.emplace();
    EXPECT_EQ(loading_cost(preset), usual) << "of a calibration of an earlier version";
    EXPECT_NEAR(seconds({4, 1, 1}, preset).cut, 18 * usual.cut_seconds_per_nonzero, 1e-12);
}

// Not measured, what one thread takes is divided by the threads of a rank.
TEST(LoadingSeconds, AreDividedByTheThreadsOfARank) {
    Machine machine = messages_of_a_second();
    machine.intra_node = machine.inter_node = {0, 1e18};
    machine.calibration.reset();
    const LoadingSeconds one = seconds({4, 1, 1}, machine);
    machine.threads_per_rank = 32;
    const LoadingSeconds many = seconds({4, 1, 1}, machine);
    EXPECT_NEAR(many.total(), one.total() / 32, 1e-9 * one.total());
    EXPECT_NEAR(many.rows, one.rows / 32, 1e-9 * one.rows);
    machine.threads_per_rank.reset();
    machine.calibration.emplace().threads = 8;
    EXPECT_NEAR(seconds({4, 1, 1}, machine).total(), one.total() / 8, 1e-9 * one.total());
    machine.calibration->loading = LoadingCost{1, 1, 1, 1};
    EXPECT_EQ(loading_cost(machine), (LoadingCost{1, 1, 1, 1})) << "was measured with all threads";
}

}  // namespace
}  // namespace gnnplan::cost
