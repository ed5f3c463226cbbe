// Pieces that keep the buffers of products below a bound: as few as are enough, and as many on their way as fit.
#include "planner/lower/buffers.hpp"
#include "tests/planner/lower/full_configurations.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gnnplan::lower {
namespace {

// A graph that is there.
class Counted : public GraphStats {
public:
    explicit Counted(std::int64_t vertices) : vertices_(vertices) {}
    std::int64_t vertices() const override { return vertices_; }
    std::int64_t nonzeros() const override { return row_nonzeros(forward_matrix, {0, vertices_}); }
    bool symmetric() const override { return false; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId which, Range rows) const override {
        return block_nonzeros(which, rows, {0, vertices_});
    }
    std::int64_t training_vertices() const override { return vertices_; }
    std::vector<std::int64_t> loss_rows(int layers) const override {
        return std::vector<std::int64_t>(static_cast<std::size_t>(layers) + 1, vertices_);
    }
    std::shared_ptr<const GraphStats> numbered(const Numbering& /*numbering*/) const override { return nullptr; }

private:
    std::int64_t vertices_;
};

// Vertex v has edges from v, from most of `hubs` vertices one after the other, and from some others.
class SmallGraph final : public Counted {
public:
    SmallGraph(std::int64_t vertices, std::int64_t first_hub, std::int64_t hubs) : Counted(vertices) {
        for (std::int64_t v = 0; v < vertices; ++v) {
            for (std::int64_t u = 0; u < vertices; ++u) {
                const bool hub = u >= first_hub && u < first_hub + hubs;
                if (u == v || (hub && (u + v) % 3 > 0) || (u * 7 + v * 5) % 11 == 0) edges_.push_back({v, u});
            }
        }
    }
    std::int64_t block_nonzeros(MatrixId which, Range rows, Range columns) const override {
        return std::ssize(columns_of(which, rows, columns));
    }
    std::int64_t distinct_columns(MatrixId which, Range rows, Range columns) const override {
        std::vector<std::int64_t> found = columns_of(which, rows, columns);
        std::sort(found.begin(), found.end());
        return std::unique(found.begin(), found.end()) - found.begin();
    }

private:
    struct Edge {
        std::int64_t row, column;  // of A^T
    };
    std::vector<std::int64_t> columns_of(MatrixId which, Range rows, Range columns) const {
        std::vector<std::int64_t> found;
        for (const Edge& edge : edges_) {
            const std::int64_t row = which.transposed ? edge.row : edge.column;
            const std::int64_t column = which.transposed ? edge.column : edge.row;
            if (rows.begin <= row && row < rows.end && columns.begin <= column && column < columns.end)
                found.push_back(column);
        }
        return found;
    }

    std::vector<Edge> edges_;
};

// Every vertex has edges from the same ones: from all between `first` and `last`, and from one in `sparse` elsewhere.
class LargeGraph final : public Counted {
public:
    LargeGraph(std::int64_t vertices, Range dense, std::int64_t sparse) : Counted(vertices), before_{0} {
        for (std::int64_t v = 0; v < vertices; ++v) {
            const bool is_source = (v >= dense.begin && v < dense.end) || v % sparse == 0;
            before_.push_back(before_.back() + (is_source ? 1 : 0));
        }
    }
    std::int64_t block_nonzeros(MatrixId which, Range rows, Range columns) const override {
        return which.transposed ? rows.size() * sources(columns) : columns.size() * sources(rows);
    }
    std::int64_t distinct_columns(MatrixId which, Range /*rows*/, Range columns) const override {
        return which.transposed ? sources(columns) : columns.size();
    }

private:
    std::int64_t sources(Range range) const {
        return before_[static_cast<std::size_t>(range.end)] - before_[static_cast<std::size_t>(range.begin)];
    }
    std::vector<std::int64_t> before_;
};

// The most that the buffers of one piece, and of all pieces at a time, take in any product and on any rank.
struct Largest {
    std::int64_t piece = 0, all = 0;
};
Largest largest(const Schedule& schedule, const GraphStats& graph) {
    Largest found;
    for (const Step& step : schedule.steps) {
        const SpmmStep* product = product_of(step.operation);
        for (int rank = 0; product != nullptr && rank < schedule.grid.size(); ++rank) {
            const SpmmBuffers buffers = spmm_buffers(schedule, *product, graph, rank);
            found.piece = std::max(found.piece, buffers.dense + buffers.nonzeros);
            found.all = std::max(found.all, buffers.exchange_bytes());
        }
    }
    return found;
}

Schedule cut_into(Schedule schedule, int splits) {
    for (Tensor& tensor : schedule.tensors) {
        if (tensor.role == Role::adjacency) tensor.storage.splits = splits, tensor.storage.ahead = 1;
    }
    return schedule;
}

const Storage& cut_of(const Schedule& schedule) {
    return std::ranges::find(schedule.tensors, Role::adjacency, &Tensor::role)->storage;
}

std::int64_t bytes_sent(const Schedule& schedule, const GraphStats& graph) {
    return total_traffic(schedule, Phase::epoch, graph).total_bytes;
}

const std::vector<std::int64_t> widths{13, 7, 5};

void expect_bounded(const FullCase& full, const GraphStats& graph, std::int64_t bytes) {
    const Schedule before = lowered(full, widths, graph);
    Schedule schedule = before;
    const std::int64_t needed = bound_buffers(schedule, graph, bytes);
    if (needed > 0) {
        EXPECT_GT(needed, bytes);
        Schedule again = before;
        EXPECT_EQ(bound_buffers(again, graph, needed), 0) << "what is said to be enough is";
        again = before;
        EXPECT_EQ(bound_buffers(again, graph, needed - 1), needed) << "and is the smallest";
        return;
    }
    EXPECT_NO_THROW(validate(schedule));
    EXPECT_LE(largest(schedule, graph).all, bytes);
    const bool sends_nonzeros = full.on.sends_nonzeros();
    if (!sends_nonzeros) {
        EXPECT_EQ(bytes_sent(schedule, graph), bytes_sent(before, graph)) << "pieces are the same rows";
    }
    // One adjacency after the other: with fewer splits its products would take more.
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Storage cut = schedule.tensors[id].storage, was = before.tensors[id].storage;
        if (schedule.tensors[id].role != Role::adjacency) continue;
        for (int fewer = was.splits; fewer < cut.splits; ++fewer) {
            Schedule other = schedule;
            other.tensors[id].storage.splits = fewer;
            other.tensors[id].storage.ahead = full.overlap ? 1 : 0;
            EXPECT_GT(largest(other, graph).all, bytes) << fewer << " splits instead of " << cut.splits;
        }
        if (!full.overlap) {
            EXPECT_EQ(cut.ahead, 0);
        }
        if (full.overlap && cut.pieces_ahead() < cut.splits) {
            Schedule other = schedule;
            ++other.tensors[id].storage.ahead;
            EXPECT_GT(largest(other, graph).all, bytes) << "one more piece would fit";
        }
    }
}

TEST(Buffers, AreBoundedByAsFewPiecesAsAreEnough) {
    const SmallGraph even(29, 0, 0), hubs(31, 11, 6);
    std::size_t turn = 0, cut = 0;
    for (const FullCase& any : full_cases({1, 2, 3, 4, 6, 8}, 23)) {
        FullCase full = any;
        full.loss_rows = false;
        const SmallGraph& graph = turn++ % 2 == 0 ? even : hubs;
        for (const std::int64_t bytes : {64, 128, 192, 448, 1024, 4096, 1 << 20}) {
            SCOPED_TRACE(full.text() + ", " + std::to_string(bytes) + " bytes");
            expect_bounded(full, graph, bytes);
            if (HasFailure()) return;
            Schedule schedule = lowered(full, widths, graph);
            if (bound_buffers(schedule, graph, bytes) > 0) continue;
            for (const Tensor& tensor : schedule.tensors) cut += tensor.storage.splits > 8 ? 1U : 0U;
        }
    }
    EXPECT_GT(cut, 10U);
}

// Sizes alone say how large panels are, whatever is known of the graph: no bound is passed by any rank.
TEST(Buffers, OfPanelsAreExactOnCardsToo) {
    const UniformStats graph(100'003, 1'300'000, true);
    for (FullCase full : full_cases({2, 4, 12, 64}, 1009)) {
        if (full.on.sends_nonzeros() || !full.on.sends_rows()) continue;
        full.exchange = Exchange::panels;
        full.loss_rows = false;
        const Schedule before = lowered(full, widths, graph);
        for (const std::int64_t bytes : {1 << 10, 1 << 14, 1 << 18, 1 << 26}) {
            Schedule schedule = before;
            SCOPED_TRACE(full.text() + ", " + std::to_string(bytes) + " bytes");
            const std::int64_t needed = bound_buffers(schedule, graph, bytes);
            if (needed > 0) {
                EXPECT_LT(bytes, 1 << 14) << "most_splits is enough for all but tiny buffers";
                continue;
            }
            EXPECT_LE(largest(schedule, graph).all, bytes);
            if (bytes == 1 << 26) {
                EXPECT_EQ(cut_of(schedule), cut_of(before)) << "whole blocks fit";
            }
            const int splits = cut_of(schedule).splits;
            if (splits > cut_of(before).splits) {
                EXPECT_GT(largest(cut_into(before, splits - 1), graph).all, bytes);
            }
        }
    }
}

// Needed rows lie unevenly: of hubs in the middle of a block three pieces have as many in one as it has whole.
TEST(Buffers, OfNeededRowsCountTheRowsOfEachPiece) {
    const SmallGraph graph(60, 40, 10);
    FullCase full{{Sharing::replicated, {2, 1, 1}}, two_layer_choices({Sharing::replicated, {2, 1, 1}}).front()};
    full.exchange = Exchange::rows;
    const Schedule before = lowered(full, widths, graph);
    std::map<int, std::int64_t> piece;
    for (int splits = 1; splits <= 30; ++splits) piece[splits] = largest(cut_into(before, splits), graph).piece;
    for (const auto& [splits, bytes] : piece) {
        Schedule schedule = before;
        ASSERT_EQ(bound_buffers(schedule, graph, bytes), 0);
        const auto smallest =
            std::find_if(piece.begin(), piece.end(), [&](const auto& other) { return other.second <= bytes; });
        EXPECT_EQ(cut_of(schedule).splits, smallest->first) << bytes;
    }
}

// The search passes numbers of splits over that are hopeless, and no other.
TEST(Buffers, OfLargeGraphsAreOfAsFewPieces) {
    FullCase full{{Sharing::replicated, {2, 1, 1}}, two_layer_choices({Sharing::replicated, {2, 1, 1}}).front()};
    full.exchange = Exchange::rows;
    for (const Range dense : {Range{0, 0}, Range{100, 160}, Range{3000, 3900}, Range{1900, 2100}, Range{0, 2000}}) {
        const LargeGraph graph(4000, dense, 19);
        Schedule schedule = lowered(full, widths, graph);
        // The requests and the products with A^T are all that is compared.
        std::erase_if(schedule.steps, [&](const Step& step) {
            const SpmmStep* product = product_of(step.operation);
            return product == nullptr || !tensor_of(schedule, product->matrix).transposed;
        });
        const auto id = static_cast<std::size_t>(std::ranges::find(schedule.tensors, true, &Tensor::transposed) -
                                                 schedule.tensors.begin());
        std::vector<std::int64_t> piece{0};
        for (int splits = 1; splits <= 400; ++splits) piece.push_back(largest(cut_into(schedule, splits), graph).piece);
        std::int64_t checked = 0;
        for (std::int64_t bytes = 64 * 3; bytes < piece[1]; bytes += bytes / 5 / 64 * 64 + 64) {
            const auto enough = std::find_if(piece.begin() + 1, piece.end(), [&](auto size) { return size <= bytes; });
            if (enough == piece.end()) continue;
            Schedule cut = schedule;
            ASSERT_EQ(bound_buffers(cut, graph, bytes), 0);
            EXPECT_EQ(cut.tensors[id].storage.splits, enough - piece.begin()) << bytes << ", " << dense.begin;
            ++checked;
        }
        EXPECT_GT(checked, 5);
    }
}

// 4096 pieces are the most, as what a rank keeps of each has to stay small.
TEST(Buffers, AreNotMadeOfAnyNumberOfPieces) {
    EXPECT_EQ(most_splits({1, 1, 1}), 4096);
    EXPECT_EQ(most_splits({2, 7, 1}), 4096);
    EXPECT_EQ(most_splits({16384, 1, 1}), 64);
    const UniformStats graph(1'000'000, 13'000'000, true);
    FullCase full{{Sharing::replicated, {2, 1, 1}}, two_layer_choices({Sharing::replicated, {2, 1, 1}}).front()};
    full.exchange = Exchange::panels;
    Schedule schedule = lowered(full, widths, graph);
    // 500,000 rows of 13 floats in 4096 pieces are 123 rows at most.
    const std::int64_t enough = aligned(123 * 13 * 4);
    EXPECT_EQ(bound_buffers(schedule, graph, enough - 1), enough);
    schedule = lowered(full, widths, graph);
    EXPECT_EQ(bound_buffers(schedule, graph, enough), 0);
    EXPECT_NO_THROW(validate(schedule));
    schedule = cut_into(schedule, 4097);
    EXPECT_THROW(validate(schedule), Error);
}

}  // namespace
}  // namespace gnnplan::lower
