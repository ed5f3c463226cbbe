// CAGNET's costs (sections IV-A to IV-D), one test per formula, from our counts of messages. In words of 4 bytes; n
// rows, width f in every layer, P processes, even sizes. The paper gives what one process receives, which in its
// collectives is what the busiest one sends, too, and drops factors like (P - 1) / P; those are exact here. Both sides
// are counted.
#include "tests/planner/lower/full_configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <stdexcept>

namespace gnnplan {
namespace {

constexpr std::int64_t n = 576;
constexpr std::int64_t f = 24;
constexpr std::int64_t nnz = n * n;  // without zeros, so that blocks have as many nonzeros as they have places

// The busiest rank sends, or receives, so much in one step.
struct Side {
    std::int64_t words = 0;
    std::int64_t messages = 0;
    bool operator==(const Side&) const = default;
};
void PrintTo(const Side& side, std::ostream* out) { *out << side.words << " words in " << side.messages; }

// One step: words that leave ranks for others, and both sides of the busiest rank.
struct Cost {
    std::int64_t total_words = 0;
    Side sent, received;
};

void expect_both_sides(const Cost& cost, std::int64_t words, std::int64_t messages) {
    EXPECT_EQ(cost.received, (Side{words, messages})) << "received";
    EXPECT_EQ(cost.sent, (Side{words, messages})) << "sent";
}

// Two layers as CAGNET runs them: the sparse matrix first in both passes, A G kept for the weight gradient.
class Epoch {
public:
    Epoch(const std::string& scheme, const Grid& grid)
        : schedule_(lower::lowered(configured(scheme, grid), {f, f, f}, graph_)) {}

    const Grid& grid() const { return schedule_.grid; }
    const Tensor& matrix() const {
        return *std::find_if(schedule_.tensors.begin(), schedule_.tensors.end(),
                             [](const Tensor& tensor) { return tensor.role == Role::adjacency; });
    }

    Cost cost(const std::string& name) const {
        for (const Step& step : schedule_.steps) {
            if (step.name == name) return cost_of(step);
        }
        throw std::logic_error("no step " + name);
    }

    // The four products of the epoch, which cost the same.
    std::vector<Cost> products() const {
        std::vector<Cost> costs;
        for (const Step& step : schedule_.steps) {
            const bool spmm = std::holds_alternative<SpmmStep>(step.operation);
            if (step.phase == Phase::epoch && spmm) costs.push_back(cost_of(step));
        }
        return costs;
    }

private:
    static lower::FullCase configured(const std::string& scheme, const Grid& grid) {
        lower::FullCase full{distribution_of(scheme, grid).value(), {}};
        full.choices.push_back({Order::sparse_first, Order::none, Operand::gradient});
        full.choices.push_back({Order::sparse_first, Order::sparse_first, Operand::gradient});
        full.exchange = grid.x > 1 ? Exchange::panels : Exchange::none;
        return full;
    }

    static Side busiest(const std::vector<Side>& ranks) {
        Side most;
        for (const Side& rank : ranks)
            most = {std::max(most.words, rank.words), std::max(most.messages, rank.messages)};
        return most;
    }

    Cost cost_of(const Step& step) const {
        const auto ranks = static_cast<std::size_t>(schedule_.grid.size());
        std::vector<Side> sent(ranks), received(ranks);
        const auto add = [](Side& side, const Message& message) {
            side.words += message.bytes / 4, side.messages += message.count;
        };
        Cost cost;
        for (const Message& message : messages_of(schedule_, step, graph_)) {
            add(sent[static_cast<std::size_t>(message.from)], message);
            add(received[static_cast<std::size_t>(message.to)], message);
            cost.total_words += message.bytes / 4;
        }
        cost.sent = busiest(sent), cost.received = busiest(received);
        return cost;
    }

    UniformStats graph_{n, nnz, true};
    Schedule schedule_;
};

// IV-A: alpha (P - 1) + beta (P - 1) / P n f for each product. Exactly that; the paper goes on with P and n f.
TEST(Cagnet1D, ProductBroadcastsEveryPanel) {
    for (const int P : {2, 3, 4, 8, 12}) {
        const std::vector<Cost> products = Epoch("1d", {P, 1, 1}).products();
        ASSERT_EQ(products.size(), 4U) << "sum over l of n f^(l-1) + n f^l: two products a layer";
        for (const Cost& product : products) {
            expect_both_sides(product, (P - 1) * n * f / P, P - 1);
            EXPECT_EQ(product.total_words, (P - 1) * n * f);
        }
    }
}

// IV-A: alpha lg P + beta f^2 for Y, the cost of a tree that sends f^2 once. A ring moves 2 (P - 1) / P f^2 in 2 (P -
// 1) messages: within twice the words, and no words more when P grows.
TEST(Cagnet1D, WeightGradientIsARing) {
    for (const int P : {2, 3, 4, 8, 12}) {
        const Cost reduce = Epoch("1d", {P, 1, 1}).cost("all_reduce.W2");
        expect_both_sides(reduce, 2 * (P - 1) * f * f / P, 2 * (P - 1));
        EXPECT_LT(reduce.received.words, 2 * f * f);
    }
}

// IV-B: alpha P / c^2 lg(P / c^2) + beta (n f / c + n f c / P). First term: P / c^2 panels of n c / P rows reach each
// process; exactly so on processes whose own panel is another column's, one less on the others. In all (P / c - 1) n f.
// A pipelined broadcast sends as much from each of them. Here the c processes that hold a panel share its P / c
// receivers, so that each sends P / c^2 panels as well; the messages are the panels, straight from who holds them: no
// lg.
TEST(Cagnet15D, ProductBroadcastsTheChunkOfAColumn) {
    for (const auto& [P, c] :
         {std::pair{4, 2}, std::pair{8, 2}, std::pair{16, 2}, std::pair{16, 4}, std::pair{36, 3}}) {
        for (const Cost& product : Epoch("1.5d", {P / c, c, 1}).products()) {
            SCOPED_TRACE("P=" + std::to_string(P) + " c=" + std::to_string(c));
            expect_both_sides(product, n * f / c, P / (c * c));
            EXPECT_EQ(product.total_words, (P / c - 1) * n * f);
        }
    }
}

// Second term: the sum over a process row, which the paper takes as n c / P f words, that is, as if an all-reduce moved
// its result once; it moves it 2 (c - 1) / c times. Ours is in two parts: reduce-scatter, the dense product on a c-th
// of the rows instead of c times on all, and all-gather of its result; (c - 1) n w and (c - 1) n f_l in all.
TEST(Cagnet15D, SumIsScatteredAndGatheredAgain) {
    for (const auto& [P, c] :
         {std::pair{4, 2}, std::pair{8, 2}, std::pair{16, 4}, std::pair{36, 3}, std::pair{12, 6}}) {
        const Epoch epoch("1.5d", {P / c, c, 1});
        for (const char* part : {"forward.1.spmm.reduce_scatter", "forward.2.input", "backward.2.input"}) {
            SCOPED_TRACE(part);
            expect_both_sides(epoch.cost(part), (c - 1) * n * f / P, c - 1);
            EXPECT_EQ(epoch.cost(part).total_words, (c - 1) * n * f) << part;
        }
    }
}

// "Our implementation is more general": c need only divide P, and the total stays. A process sends and receives as many
// panels as it is dealt, or one less.
TEST(Cagnet15D, ChunksNeedNotBeEven) {
    for (const auto& [P, c] : {std::pair{6, 3}, std::pair{8, 4}, std::pair{12, 3}, std::pair{12, 6}}) {
        for (const Cost& product : Epoch("1.5d", {P / c, c, 1}).products()) {
            SCOPED_TRACE("P=" + std::to_string(P) + " c=" + std::to_string(c));
            EXPECT_EQ(product.total_words, (P / c - 1) * n * f);
            const std::int64_t dealt = (P / c + c - 1) / c;
            expect_both_sides(product, dealt * n * c / P * f, dealt);
        }
    }
}

// Without replication: n f (P / c + c - 2) for a product with its sum. At P = 16, c = 4 that is 6 n f; CAGNET's, with
// the all-gather of the next operand, 9 n f, at c times the dense memory.
TEST(Cagnet15D, WithoutReplicationMovesLess) {
    const auto total = [](const Epoch& epoch, std::vector<const char*> parts) {
        std::int64_t words = 0;
        for (const char* part : parts) words += epoch.cost(part).total_words;
        return words;
    };
    for (const auto& [P, c] :
         {std::pair{4, 2}, std::pair{8, 2}, std::pair{16, 4}, std::pair{36, 3}, std::pair{12, 6}}) {
        const Epoch ours("1.5d", {P / c, 1, c});
        EXPECT_EQ(total(ours, {"forward.1.spmm", "forward.1.spmm.reduce_scatter"}), n * f * (P / c + c - 2));
    }
    const Epoch ours("1.5d", {4, 1, 4});
    const Epoch cagnets("1.5d", {4, 4, 1});
    EXPECT_EQ(total(ours, {"forward.1.spmm", "forward.1.spmm.reduce_scatter"}), 6 * n * f);
    EXPECT_EQ(total(cagnets, {"forward.1.spmm", "forward.1.spmm.reduce_scatter", "forward.2.input"}), 9 * n * f);
}

// Words of a product that gathers blocks of the matrix from y - 1 others: the paper counts a nonzero as one word, ours
// are two, value and column; row starts, which the paper leaves out, are two words for each row of a piece and one
// more.
std::int64_t sparse_words(const Epoch& epoch, std::int64_t nonzeros, bool sent) {
    const Grid& grid = epoch.grid();
    std::vector<std::int64_t> pieces(static_cast<std::size_t>(grid.size()), 0);
    for (int rank = 0; rank < grid.size(); ++rank) {
        for (const Piece& piece : pieces_of(grid, epoch.matrix(), rank)) {
            if (piece.matrix_root != rank) ++pieces[static_cast<std::size_t>(sent ? piece.matrix_root : rank)];
        }
    }
    return 2 * nonzeros + 2 * (n / grid.x + 1) * *std::max_element(pieces.begin(), pieces.end());
}

void expect_both_sides_of_blocks(const Epoch& epoch, const Cost& product, std::int64_t words, std::int64_t nonzeros) {
    EXPECT_EQ(product.received.words, words + sparse_words(epoch, nonzeros, false));
    EXPECT_EQ(product.sent.words, words + sparse_words(epoch, nonzeros, true));
}

// IV-C: beta (nnz / sqrt(P) + n f / sqrt(P)) for the product proper, each times 1 - 1 / sqrt(P): a process has its own
// block already. The paper's 2 sqrt(P) alpha are these sqrt(P) - 1 panels and as many blocks, and the dense part's
// below.
TEST(Cagnet2D, ProductMovesBlocksOfBothMatrices) {
    for (const int p : {2, 3, 4, 6}) {
        const Epoch epoch("2d", {p, p, 1});
        for (const Cost& product : epoch.products()) {
            expect_both_sides_of_blocks(epoch, product, n * f / p * (p - 1) / p, nnz / p * (p - 1) / p);
            EXPECT_EQ(product.received.messages, 2 * (p - 1));
            EXPECT_EQ(product.sent.messages, 2 * (p - 1));
        }
    }
}

// IV-C.6, rectangular: nnz / P_r + n f / P_c. The paper's gcf(P_r, P_c) alpha is off: stages are the common refinement
// of both splits, P_r + P_c - gcf of them, each with at most one panel and one block.
TEST(Cagnet2D, RectangularGrids) {
    for (const auto& [r, c] : {std::pair{2, 3}, std::pair{3, 2}, std::pair{4, 2}, std::pair{2, 6}, std::pair{8, 3}}) {
        const Epoch epoch("2d", {r, c, 1});
        const std::int64_t stages = r + c - std::gcd(r, c);
        for (const Cost& product : epoch.products()) {
            expect_both_sides_of_blocks(epoch, product, n * f / c * (r - 1) / r, nnz / r * (c - 1) / c);
            EXPECT_LE(product.received.messages, 2 * stages);
        }
    }
}

// IV-C: the dense product after it. CAGNET broadcasts T along the row, n f / sqrt(P) for each process, (p_c - 1) n f in
// all, and leaves Z where the next product wants it. Ours goes to R and back, (p_c - 1) / p_c n f each: less for p_c >
// 2, the same for 2. The softmax's all-gather (IV-C.2) and the 2 n f / sqrt(P) of Y (IV-C.4) are not needed in R.
TEST(Cagnet2D, DensePartIsTwoRedistributions) {
    for (const auto& [r, c] : {std::pair{2, 2}, std::pair{3, 3}, std::pair{4, 4}, std::pair{6, 2}, std::pair{2, 6}}) {
        const Epoch epoch("2d", {r, c, 1});
        std::int64_t total = 0;
        for (const char* part : {"forward.1.redistribute", "forward.2.input"}) {
            expect_both_sides(epoch.cost(part), n * f / (r * c) * (c - 1) / c, c - 1);
            total += epoch.cost(part).total_words;
        }
        const std::int64_t cagnets = (c - 1) * n * f;
        EXPECT_EQ(total, 2 * (c - 1) * n * f / c);
        EXPECT_EQ(total<cagnets, c> 2);
        EXPECT_EQ(total == cagnets, c == 2);
        EXPECT_THROW(epoch.cost("backward.2.operand.G"), std::logic_error) << "Y moves no dense matrix";
        EXPECT_EQ(epoch.cost("loss").total_words, 0);
    }
}

// IV-D: beta (nnz / P^(2/3) + 2 n f / P^(2/3)) for a product with its sum: gathered rows and partial sums, each times
// 1 - P^(-1/3). alpha (P^(1/3) + lg P): P^(1/3) - 1 panels and as many blocks, and a ring of P^(1/3) - 1 messages.
TEST(Cagnet3D, ProductWithItsSum) {
    for (const int p : {2, 3, 4}) {
        const Epoch epoch("3d", {p, p, p});
        for (const Cost& product : epoch.products()) {
            const std::int64_t gathered = n * f / (p * p) * (p - 1) / p;
            expect_both_sides_of_blocks(epoch, product, gathered, nnz / (p * p) * (p - 1) / p);
            EXPECT_EQ(product.received.messages, 2 * (p - 1));
            EXPECT_EQ(product.sent.messages, 2 * (p - 1));
        }
        const Cost sum = epoch.cost("forward.1.spmm.reduce_scatter");
        expect_both_sides(sum, n * f / (p * p) * (p - 1) / p, p - 1);
        EXPECT_EQ(sum.total_words, (p - 1) * n * f);
    }
}

}  // namespace
}  // namespace gnnplan
