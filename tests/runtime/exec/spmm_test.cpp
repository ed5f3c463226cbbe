// Distributed products against products of dense matrices. All values are small integers, so that sums are exact in any
// order.
#include "tests/runtime/exec/products.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <cmath>

namespace gnnplan::exec {
namespace {

using testing::ProductCase;

class Spmm : public ::testing::TestWithParam<int> {
protected:
    // Runs the product on every rank; what it leaves is the dense product, and it moves what it is predicted to move,
    // whether panels travel or are lent.
    void check(const data::Graph& graph, const ProductCase& product) const {
        SCOPED_TRACE(product.text());
        const Schedule schedule = testing::schedule_of(product);
        ASSERT_NO_THROW(validate(schedule));
        const data::DegreeScales scales = testing::integer_scales(graph);
        const auto numbered = testing::numbered_counts(graph, schedule.numbering);
        const testing::DenseProduct expected(graph, scales, numbered->order(), product);
        for (const bool lends : {false, true}) run(product, graph, scales, schedule, expected, lends);
    }

private:
    static void run(const ProductCase& product, const data::Graph& graph, const data::DegreeScales& scales,
                    const Schedule& schedule, const testing::DenseProduct& expected, bool lends) {
        comm::run_ranks(product.grid.size(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, scales, comm);
            rank.world.lends = lends;
            rank.fill(testing::operand, testing::operand_element);
            for (TensorId out = testing::operand + 1; out <= testing::result_of(schedule); ++out) {
                rank.fill(out, [](auto, auto) { return std::nanf(""); });
            }
            for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
                rank.run(step);
                rank.expect_predicted_bytes(step);
            }
            rank.expect(testing::result_of(schedule), [&](auto i, auto j) { return expected.at(i, j); });
            rank.expect(testing::operand, testing::operand_element);  // it is left as it was
        });
    }
};

TEST_P(Spmm, IsTheDenseProductForEveryGridExchangeAndOverlap) {
    const data::Graph graph = data::testing::random_graph(23, 110, false, true, 4);
    int turn = 0;
    for (const ProductCase& on : testing::grids_and_contractions(GetParam())) {
        for (const Exchange exchange : {Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}) {
            for (const bool overlap : {false, true}) {
                ProductCase product = on;
                if (!product.switch_to(exchange, overlap)) continue;
                ++turn;
                product.ranks_per_node = 2 + turn % 5;
                product.wire = turn / 2 % 3 == 0 ? Wire::bfloat16 : Wire::fp32;  // which rounds none of these numbers
                product.transposed = turn % 2 == 0;
                product.width = turn % 3 == 0 ? 1 : 6;
                product.permuted = turn % 5 < 2;
                check(graph, product);
                product.rows = 13;  // the block of a matrix whose other rows and columns nobody needs
                product.columns = turn % 4 < 2 ? 19 : 7;
                check(graph, product);
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_GT(turn, 0);
}

// Blocks come in any number of pieces, more than they have rows too, of which any number is on its way. Received data
// lies within the planned buffers. Dense rows take as many bytes as in whole blocks; nonzeros that are sent have row
// starts for each piece.
TEST_P(Spmm, OfPiecesIsTheDenseProductWithinItsBuffers) {
    const data::Graph graph = data::testing::random_graph(23, 110, false, true, 4);
    const data::DegreeScales scales = testing::integer_scales(graph);
    int turn = 0;
    for (const ProductCase& on : testing::grids_and_contractions(GetParam())) {
        for (const int splits : {2, 3, 7, 30}) {
            ProductCase product = on;
            ++turn;
            const Exchange exchange =
                std::array{Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}[turn / 3 % 4];
            if (!product.switch_to(exchange, turn % 3 > 0)) continue;
            product.ranks_per_node = 2 + turn % 4;
            product.wire = turn / 2 % 2 == 0 ? Wire::bfloat16 : Wire::fp32;
            product.splits = splits;
            product.ahead = product.overlap ? turn % (splits + 1) : 0;
            product.transposed = turn % 5 < 2;
            product.permuted = turn % 7 < 3;
            check(graph, product);
            const Schedule schedule = testing::schedule_of(product);
            product.splits = 1, product.ahead = 0;
            const Schedule whole = testing::schedule_of(product);
            comm::run_ranks(product.grid.size(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, scales, comm);
                rank.world.lends = false;
                const MemoryPlan plan = plan_memory(schedule, *rank.counts, comm.rank());
                EXPECT_EQ(rank.tracker.current(), plan.adjacency_bytes + plan.arena_bytes + plan.request_bytes);
                rank.fill(testing::operand, testing::operand_element);
                for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
                    rank.run(step);
                    const auto* spmm = product_of(schedule.steps[step].operation);
                    if (spmm == nullptr) continue;
                    const SpmmBuffers buffers = spmm_buffers(schedule, *spmm, *rank.counts, comm.rank());
                    EXPECT_LE(rank.world.received_extent(), buffers.exchange_bytes());
                    const RankTraffic of_whole = traffic_of(whole, whole.steps[step], *rank.counts, comm.rank());
                    if (gathers_matrix(schedule.grid, schedule.tensors.front())) continue;
                    EXPECT_EQ(rank.traffic.sent_bytes, of_whole.sent_bytes);
                    EXPECT_EQ(rank.traffic.received_bytes, of_whole.received_bytes);
                }
            });
            if (HasFailure()) return;
        }
    }
}

// Rows are copied before they are multiplied, all at once or a slice of columns after the other.
TEST_P(Spmm, OfRowsThatAreCopiedIsTheDenseProduct) {
    const data::Graph graph = data::testing::random_graph(23, 110, false, true, 4);
    for (const std::int64_t cache : {0, 23 * 16 * 4}) {
        for (ProductCase product : testing::grids_and_contractions(GetParam())) {
            product.switch_to(Exchange::panels, false);
            product.width = 41;
            product.blocking = gpu_blocking(0);
            product.blocking.row_start_bytes = gnnplan::testing::wanted_blocking().row_start_bytes;
            product.blocking.cache_bytes = cache;
            product.blocking.least_slice_columns = 8;
            check(graph, product);
            if (HasFailure()) return;
        }
    }
}

// Pieces without nonzeros, rows without neighbours, more ranks than vertices.
TEST_P(Spmm, OfGraphsWithoutEdgesOrWithFewerVerticesThanRanks) {
    for (const data::Graph& graph : {data::testing::random_graph(7, 0, false, false, 5), testing::ring_graph(2),
                                     data::testing::random_graph(9, 9, false, false, 6)}) {
        for (const ProductCase& on : testing::grids_and_contractions(GetParam())) {
            for (const Exchange exchange : {Exchange::panels, Exchange::rows}) {
                ProductCase product = on;
                if (!product.switch_to(exchange, GetParam() % 2 == 0)) continue;
                product.rows = product.columns = graph.vertices();
                check(graph, product);
                if (HasFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Spmm, ::testing::Values(1, 2, 3, 4, 5, 6, 8, 9, 12));

// Counts how often exchanges that are under way are looked after, or loses them. Panels travel, as between processes.
class WatchedCommunicator final : public comm::CountingCommunicator {
public:
    using CountingCommunicator::CountingCommunicator;
    std::unique_ptr<comm::PendingExchange> start_exchange(std::span<const comm::Send> sends,
                                                          std::span<const comm::Receive> receives) override {
        return std::make_unique<Watched>(CountingCommunicator::start_exchange(sends, receives), *this);
    }
    std::unique_ptr<comm::Loan> lend(std::span<const comm::Send> /*sends*/,
                                     std::span<const comm::Receive> /*receives*/) override {
        return nullptr;
    }
    int looks = 0;
    bool lost = false;

private:
    struct Watched final : comm::PendingExchange {
        Watched(std::unique_ptr<comm::PendingExchange> of, WatchedCommunicator& by)
            : exchange(std::move(of)), all(by) {}
        void progress() override {
            ++all.looks;
            if (all.lost) throw Error(ErrorCode::internal, "lost while it was multiplied");
            exchange->progress();
        }
        void wait() override { exchange->wait(); }
        std::unique_ptr<comm::PendingExchange> exchange;
        WatchedCommunicator& all;
    };
};

// Messages that need it are looked after during a product with overlap, and what becomes of them then is not lost.
TEST(SpmmOverlap, LooksAfterWhatIsUnderWay) {
    const data::Graph graph = data::testing::random_graph(301, 24000, false, true, 7);
    for (const bool lost : {false, true}) {
        ProductCase product{"1d", {2, 1, 1}, "z"};
        product.rows = product.columns = graph.vertices();
        product.width = 100;
        ASSERT_TRUE(product.switch_to(Exchange::panels, true));
        const Schedule schedule = testing::schedule_of(product);
        comm::run_ranks(2, [&](comm::Communicator& comm) {
            comm::Traffic traffic;
            WatchedCommunicator watched(comm, traffic);
            watched.lost = lost;
            testing::Rank rank(schedule, graph, testing::integer_scales(graph), watched);
            rank.fill(testing::operand, testing::operand_element);
            const std::size_t last = schedule.steps.size() - 1;
            if (!rank.world.needs_progress()) {
                rank.run(last);
                EXPECT_EQ(watched.looks, 0);
            } else if (lost) {
                EXPECT_THROW(rank.run(last), Error);
            } else {
                rank.run(last);
                EXPECT_GT(watched.looks, 0);
            }
        });
    }
}

// Pieces with so much work that others are looked after several times meanwhile.
TEST(SpmmOverlap, OfLargePiecesIsTheDenseProduct) {
    const data::Graph graph = data::testing::random_graph(301, 24000, false, true, 7);
    ProductCase product{"1d", {2, 1, 1}, "z"};
    product.rows = product.columns = graph.vertices();
    product.width = 2600;
    ASSERT_TRUE(product.switch_to(Exchange::rows, true));
    const Schedule schedule = testing::schedule_of(product);
    const data::DegreeScales scales = testing::integer_scales(graph);
    const testing::DenseProduct expected(graph, scales, {}, product);
    comm::run_ranks(2, [&](comm::Communicator& comm) {
        testing::Rank rank(schedule, graph, scales, comm);
        rank.fill(testing::operand, testing::operand_element);
        for (std::size_t step = 0; step < schedule.steps.size(); ++step) rank.run(step);
        rank.expect(testing::result_of(schedule), [&](auto i, auto j) { return expected.at(i, j); });
    });
}

// In every piece a rank is asked for exactly those rows that the asking rank's nonzeros meet.
class Indices : public ::testing::TestWithParam<int> {};

TEST_P(Indices, ServedAreTheRequestedOnes) {
    const data::Graph graph = data::testing::random_graph(23, 60, false, true, 8);
    for (ProductCase product : testing::grids_and_contractions(GetParam())) {
        for (const bool permuted : {false, true}) {
            if (!product.switch_to(Exchange::rows, false)) continue;
            product.permuted = permuted;
            SCOPED_TRACE(product.text());
            const Schedule schedule = testing::schedule_of(product);
            const auto order = testing::numbered_counts(graph, schedule.numbering);
            const testing::DenseProduct dense(graph, testing::integer_scales(graph), order->order(), product);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                rank.run(0);
                rank.expect_predicted_bytes(0);
                std::int64_t served = 0;
                std::int64_t requested = 0;
                for (const SparseStage& stage : rank.store.part(testing::matrix).stages()) {
                    requested += static_cast<std::int64_t>(stage.request.size());
                    for (const RowService& service : stage.rows) {
                        const Range rows = block_of(schedule, testing::matrix, service.rank).rows;
                        const auto index = rank.download<std::int32_t>(service.index->data(), service.needed);
                        EXPECT_EQ(index, dense.columns_met(rows, service.rows));
                        served += service.needed;
                    }
                }
                EXPECT_EQ(rank.traffic.sent_bytes, 4 * requested);
                EXPECT_EQ(rank.traffic.received_bytes, 4 * served);
            });
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Indices, ::testing::Values(2, 3, 4, 6, 8, 12));

}  // namespace
}  // namespace gnnplan::exec
