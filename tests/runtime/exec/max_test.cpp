// The largest neighbours and their gradient, on every grid that keeps the contraction side whole, against their
// definition in double precision. Features are small integers, so that many are equal; gradients are multiples of every
// number of ties that occurs, so that shares and their sums are exact in any order.
#include "tests/runtime/exec/products.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <cmath>

namespace gnnplan::exec {
namespace {

constexpr std::int64_t most_ties = 12;
constexpr float shared_evenly = 27720;  // the least common multiple of 1 .. most_ties

float few_values(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 7 + j * 3 + i / 5) % 4 - 2); }
float gradient(std::int64_t i, std::int64_t j) { return shared_evenly * static_cast<float>((i + 2 * j) % 5 - 2); }

// The tensors of max_schedule: A^T, whose block is rows x columns, and A, whose block is columns x rows; the features;
// the largest ones and their ties; their gradient, as it comes and as it is shared; and that of the features.
enum Tensors : TensorId { forward, backward, in, maxima, ties, arrived, share, in_gradient };

// The requests for rows, where rows are exchanged; max; its gradient brought to its layout and divided by ties; and
// max_back.
Schedule max_schedule(const testing::ProductCase& on, const Storage& storage, bool shares_nonzeros) {
    Schedule schedule;
    schedule.grid = on.grid;
    schedule.blocking = on.blocking;
    schedule.numbering.permuted = on.permuted;
    schedule.numbering.seed = 11;
    const Layout layout = testing::matrix_layout(on.contraction);
    testing::add(schedule, "A^T", Role::adjacency, DType::f32, on.rows, on.columns, layout);
    testing::add(schedule, "A", Role::adjacency, DType::f32, on.columns, on.rows, layout);
    for (const TensorId matrix : {forward, backward}) {
        Tensor& tensor = schedule.tensors[static_cast<std::size_t>(matrix)];
        tensor.transposed = matrix == forward;
        tensor.storage = storage;
    }
    if (shares_nonzeros) schedule.tensors[backward].structure = forward;
    const auto dense = [&](const char* name, Role role, std::int64_t rows) {
        testing::add(schedule, name, role, DType::f32, rows, on.width, layout_c());
    };
    dense("X", Role::features, on.columns);
    dense("Y", Role::transient, on.rows), dense("n", Role::transient, on.rows);
    testing::add(schedule, "dY.R", Role::features, DType::f32, on.rows, on.width, layout_r());
    dense("dY", Role::transient, on.rows);
    dense("dX", Role::transient, on.columns);
    if (by_need(on.exchange)) {
        const bool relayed = on.exchange == Exchange::relayed_rows;
        schedule.steps.push_back({"index", Phase::setup, RowRequestStep{forward, false, relayed}});
        if (!shares_nonzeros)
            schedule.steps.push_back({"index.back", Phase::setup, RowRequestStep{backward, false, relayed}});
    }
    testing::add_step(schedule, "max",
                      SpmmStep{forward, {in}, {maxima, ties}, on.exchange, on.overlap, false, Program::max});
    testing::add_step(schedule, "to_c", RedistributeStep{arrived, share});
    testing::add_step(schedule, "divide", MapStep{MapOp::divide, share, ties, {}, 0, Activation::none, false});
    testing::add_step(
        schedule, "max_back",
        SpmmStep{backward, {share, maxima}, {in_gradient}, on.exchange, on.overlap, false, Program::max_back, {in}});
    return schedule;
}

using Element = std::function<float(std::int64_t, std::int64_t)>;

// The results of the programs from `feature` and gradient(), by the edges of the upper left block of A^T, their ends in
// the schedule's numbering.
class Definition {
public:
    Definition(const data::Graph& graph, const data::VertexOrder& order, const testing::ProductCase& on,
               const Element& feature)
        : width_(on.width),
          largest_(static_cast<std::size_t>(on.rows * width_), 0),
          ties_(largest_.size(), 0),
          gradient_(static_cast<std::size_t>(on.columns * width_), 0) {
        const std::vector<std::pair<std::int64_t, std::int64_t>> edges = edges_of(graph, order, on);
        for (std::int64_t j = 0; j < width_; ++j) {
            for (const auto& [u, v] : edges) {
                const double x = feature(u, j);
                double& largest = largest_[at(v, j)];
                double& ties = ties_[at(v, j)];
                if (ties == 0 || x > largest) largest = x, ties = 0;
                if (x == largest) ++ties;
            }
            for (const auto& [u, v] : edges) {
                if (feature(u, j) == largest_[at(v, j)]) gradient_[at(u, j)] += gradient(v, j) / ties_[at(v, j)];
            }
        }
    }

    float largest(std::int64_t v, std::int64_t j) const { return static_cast<float>(largest_[at(v, j)]); }
    float ties(std::int64_t v, std::int64_t j) const { return static_cast<float>(ties_[at(v, j)]); }
    float gradient_of(std::int64_t u, std::int64_t j) const { return static_cast<float>(gradient_[at(u, j)]); }
    const std::vector<double>& all_ties() const { return ties_; }

private:
    std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * width_ + j); }

    static std::vector<std::pair<std::int64_t, std::int64_t>> edges_of(const data::Graph& graph,
                                                                       const data::VertexOrder& order,
                                                                       const testing::ProductCase& on) {
        const auto position = [&](std::int64_t v) {
            return order.identity() ? v : std::int64_t{order.position[static_cast<std::size_t>(v)]};
        };
        std::vector<std::pair<std::int64_t, std::int64_t>> edges;
        for (std::int64_t u = 0; u < graph.vertices(); ++u) {
            for (auto k = graph.out.row_start[static_cast<std::size_t>(u)];
                 k < graph.out.row_start[static_cast<std::size_t>(u) + 1]; ++k) {
                const std::int64_t v = position(graph.out.column[static_cast<std::size_t>(k)]);
                if (v < on.rows && position(u) < on.columns) edges.emplace_back(position(u), v);
            }
        }
        return edges;
    }

    std::int64_t width_;
    std::vector<double> largest_, ties_, gradient_;
};

class Max : public ::testing::TestWithParam<int> {
protected:
    // Runs both programs on every rank: they leave what the definition says, move what they are predicted to move, and
    // take the memory that they are predicted to take.
    void check(const data::Graph& graph, const testing::ProductCase& on, const Storage& storage = {},
               bool shares_nonzeros = false, const Element& feature = few_values) {
        SCOPED_TRACE(on.text());
        const Schedule schedule = max_schedule(on, storage, shares_nonzeros);
        ASSERT_NO_THROW(validate(schedule));
        const auto numbered = testing::numbered_counts(graph, schedule.numbering);
        const Definition expected(graph, numbered->order(), on, feature);
        comm::run_ranks(on.grid.size(), [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, testing::integer_scales(graph), comm);
            const MemoryPlan plan = plan_memory(schedule, *rank.counts, comm.rank());
            EXPECT_EQ(rank.tracker.current(), plan.adjacency_bytes + plan.arena_bytes + plan.request_bytes);
            rank.fill(in, feature), rank.fill(arrived, gradient);
            for (const TensorId made : {maxima, ties, in_gradient}) {
                rank.fill(made, [](auto, auto) { return std::nanf(""); });
            }
            for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
                rank.run(step);
                rank.expect_predicted_bytes(step);
                if (schedule.steps[step].name != "max") continue;
                rank.expect(maxima, [&](auto v, auto j) { return expected.largest(v, j); });
                rank.expect(ties, [&](auto v, auto j) { return expected.ties(v, j); });
            }
            rank.expect(in_gradient, [&](auto u, auto j) { return expected.gradient_of(u, j); });
            rank.expect(in, feature);  // it is left as it was
        });
        for (const double ties : expected.all_ties()) {
            EXPECT_LE(ties, most_ties);
            tied_ += ties > 1 ? 1 : 0;
            nobody_ += ties == 0 ? 1 : 0;
        }
    }

    std::int64_t tied_ = 0;    // maxima that several have
    std::int64_t nobody_ = 0;  // rows without neighbours, a column each
};

// Those whose contraction side is whole on every rank.
std::vector<testing::ProductCase> whole_contractions(int ranks) {
    std::vector<testing::ProductCase> cases = testing::grids_and_contractions(ranks);
    std::erase_if(cases, [](const testing::ProductCase& on) { return on.grid.z > 1 || on.scheme == "dealt"; });
    return cases;
}

TEST_P(Max, IsAsDefinedForEveryGridExchangeAndOverlap) {
    const data::Graph graph = data::testing::random_graph(23, 60, false, false, 4);
    int turn = 0;
    for (const testing::ProductCase& of : whole_contractions(GetParam())) {
        for (const Exchange exchange : {Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}) {
            for (const bool overlap : {false, true}) {
                testing::ProductCase on = of;
                if (!on.switch_to(exchange, overlap)) continue;
                ++turn;
                on.width = turn % 3 == 0 ? 1 : 6;
                on.permuted = turn % 5 < 2;
                Storage storage;
                storage.splits = overlap ? 1 + turn % 3 : 1;
                storage.panel_columns = turn % 2 == 0 ? 3 : 0;
                check(graph, on, storage);
                on.rows = 13;  // the rows that a loss needs
                on.columns = turn % 4 < 2 ? 19 : 23;
                check(graph, on, storage);
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_GT(turn, 0);
    EXPECT_GT(tied_, 0);
    EXPECT_GT(nobody_, 0);
}

// The transpose of a symmetric matrix uses its nonzeros, and values are not stored.
TEST_P(Max, OfSharedNonzeros) {
    const data::Graph graph = data::testing::random_graph(23, 30, true, false, 5);
    Storage storage;
    storage.factored = true;
    for (testing::ProductCase on : whole_contractions(GetParam())) {
        for (const Exchange exchange : {Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}) {
            if (!on.switch_to(exchange, false)) continue;
            check(graph, on, storage, true);
            if (HasFailure()) return;
        }
    }
}

// Pieces without nonzeros, rows without neighbours, more ranks than vertices.
TEST_P(Max, OfGraphsWithoutEdgesOrWithFewerVerticesThanRanks) {
    for (const data::Graph& graph : {data::testing::random_graph(7, 0, false, false, 5), testing::ring_graph(2),
                                     data::testing::random_graph(9, 9, false, false, 6)}) {
        for (testing::ProductCase on : whole_contractions(GetParam())) {
            for (const Exchange exchange :
                 {Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}) {
                if (!on.switch_to(exchange, by_need(exchange) && GetParam() % 2 == 0)) continue;
                on.rows = on.columns = graph.vertices();
                check(graph, on);
                if (HasFailure()) return;
            }
        }
    }
}

// Pieces with so much work that others are looked after several times meanwhile, and into slices of the columns.
TEST_P(Max, OfLargePieces) {
    const data::Graph graph = data::testing::random_graph(301, 24000, false, true, 7);
    testing::ProductCase on{"1d", {GetParam(), 1, 1}, "z", 301, 301, 330};
    if (!on.switch_to(Exchange::rows, true)) return;
    Storage storage;
    storage.panel_columns = 60;
    check(graph, on, storage, false,
          [](std::int64_t i, std::int64_t j) { return static_cast<float>((i * 37 + j * 11) % 151); });
    EXPECT_GT(tied_, 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Max, ::testing::Values(1, 2, 3, 4, 6));

// The gradient is that of the sum of all maxima, each times its gradient: moving one feature moves it by so much, as
// long as no other becomes the largest. Without ties, where a maximum has a derivative.
TEST(MaxGradient, EqualsFiniteDifferences) {
    const data::Graph graph = data::testing::random_graph(17, 70, false, true, 8);
    testing::ProductCase on{"whole", {2, 1, 1}, "z", 17, 17, 3};
    ASSERT_TRUE(on.switch_to(Exchange::panels, true));
    const Schedule schedule = max_schedule(on, {}, false);
    const auto distinct = [](std::int64_t i, std::int64_t j) { return static_cast<float>((i * 5 + j) % 17) - 8; };
    const auto weight = [](std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); };
    const auto neighbours = data::testing::dense_pattern(graph, true);
    // The weighted sum of maxima, one feature moved by a quarter of the distance between any two.
    const auto total = [&](std::size_t moved, std::int64_t j, double by) {
        double sum = 0;
        for (std::size_t v = 0; v < 17; ++v) {
            double largest = -std::numeric_limits<double>::infinity();
            for (std::size_t u = 0; u < 17; ++u) {
                if (neighbours[v][u] == 0) continue;
                largest = std::max(
                    largest, static_cast<double>(distinct(static_cast<std::int64_t>(u), j)) + (u == moved ? by : 0));
            }
            sum += largest * static_cast<double>(weight(static_cast<std::int64_t>(v), j));
        }
        return sum;
    };
    comm::run_ranks(2, [&](comm::Communicator& comm) {
        testing::Rank rank(schedule, graph, comm);
        rank.fill(in, distinct), rank.fill(arrived, weight);
        for (std::size_t step = 0; step < schedule.steps.size(); ++step) rank.run(step);
        rank.expect(in_gradient, [&](auto u, auto j) {
            const auto moved = static_cast<std::size_t>(u);
            return static_cast<float>((total(moved, j, 0.25) - total(moved, j, -0.25)) / 0.5);
        });
    });
}

}  // namespace
}  // namespace gnnplan::exec
