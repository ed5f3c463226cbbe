// The messages, buffers and work of a maximum over neighbours and its gradient, and the errors of schedules about them.
#include "planner/ir/sharded.hpp"

#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <functional>

namespace gnnplan {
namespace {

constexpr std::int64_t vertices = 23, width = 5;
const UniformStats graph(vertices, 131, false);

enum Tensors : TensorId { forward, backward, in, maxima, ties, arrived, share, in_gradient };
enum Steps : std::size_t { max, move, divide, max_back };

// max over A^T, its gradient brought to C and divided by ties, and max_back over A. `contraction` is as in an
// adjacency's layout.
Schedule max_schedule(const Grid& grid, const std::string& contraction = "z", Exchange exchange = Exchange::panels,
                      bool overlap = false) {
    Schedule s;
    s.grid = grid;
    const Layout split{Axes::parse("x"), Axes::parse(contraction), {}};
    if (grid.x == 1) exchange = Exchange::none;
    s.tensors = {{"A^T", Role::adjacency, DType::f32, vertices, vertices, split, true},
                 {"A", Role::adjacency, DType::f32, vertices, vertices, split, false}};
    const auto dense = [&](const char* name, Role role, const Layout& layout) {
        s.tensors.push_back({name, role, DType::f32, vertices, width, layout});
    };
    dense("X", Role::features, layout_c()), dense("Y", Role::transient, layout_c());
    dense("n", Role::transient, layout_c()), dense("dY.R", Role::features, layout_r());
    dense("dY", Role::transient, layout_c()), dense("dX", Role::transient, layout_c());
    s.spaces = {{"vertices", vertices, 0}};
    for (Tensor& tensor : s.tensors) {
        tensor.space = 0;
        if (tensor.role == Role::adjacency) tensor.column_space = 0;
    }
    s.steps = {{"max", Phase::epoch, SpmmStep{forward, {in}, {maxima, ties}, exchange, overlap, false, Program::max}},
               {"to_c", Phase::epoch, RedistributeStep{arrived, share}},
               {"divide", Phase::epoch, MapStep{MapOp::divide, share, ties, {}, 0, Activation::none, false}},
               {"max_back", Phase::epoch,
                SpmmStep{backward, {share, maxima}, {in_gradient}, exchange, overlap, false, Program::max_back, {in}}}};
    if (exchange != Exchange::rows) return s;
    for (const TensorId matrix : {backward, forward})
        s.steps.push_back(
            {"index." + s.tensors[static_cast<std::size_t>(matrix)].name, Phase::setup, RowRequestStep{matrix}});
    return s;
}

SpmmStep& product(Schedule& s, std::size_t step) { return std::get<SpmmStep>(s.steps[step].operation); }

// The same sum of one operand with `columns` columns, whose bytes and buffers are tested elsewhere.
Schedule one_sum(const Schedule& of, TensorId matrix, std::int64_t columns) {
    Schedule s = of;
    s.tensors[in].columns = s.tensors[in_gradient].columns = columns;
    SpmmStep sum = std::get<SpmmStep>(of.steps[max].operation);
    sum.matrix = matrix, sum.program = Program::sum, sum.results = {in_gradient};
    s.steps = {{"sum", Phase::epoch, sum}};
    return s;
}

const std::vector<Grid> grids = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {1, 4, 1}, {2, 2, 1}, {3, 2, 1}, {4, 3, 1}};

void for_every_schedule(const std::function<void(const Schedule&)>& check) {
    for (const Grid& grid : grids) {
        for (const char* contraction : {"z", "zy"}) {
            for (const Exchange exchange : {Exchange::panels, Exchange::rows}) {
                for (const bool overlap : {false, true}) {
                    if (overlap && grid.x == 1) continue;
                    SCOPED_TRACE(grid.text() + " " + contraction + (exchange == Exchange::rows ? " rows" : "") +
                                 (overlap ? " overlap" : ""));
                    check(max_schedule(grid, contraction, exchange, overlap));
                }
            }
        }
    }
}

TEST(Max, SchedulesAreValid) {
    for_every_schedule([](const Schedule& s) { EXPECT_NO_THROW(validate(s)); });
}

// A maximum moves what a sum does, and its gradient two operands of as many columns: (p_x - 1) N 2w in all.
TEST(Max, MovesItsColumnOperands) {
    for (const Grid& grid : grids) {
        const Schedule s = max_schedule(grid);
        const auto total = [&](std::size_t step) {
            std::int64_t bytes = 0;
            for (const Message& message : messages_of(s, s.steps[step], graph)) bytes += message.bytes;
            return bytes;
        };
        EXPECT_EQ(total(max), (grid.x - 1) * vertices * width * 4) << grid.text();
        EXPECT_EQ(total(max_back), (grid.x - 1) * vertices * 2 * width * 4) << grid.text();
    }
}

// Exactly what sums move and stage, once for each column operand: of panels and of needed rows, with and without
// overlap, and where nonzeros are gathered.
TEST(Max, MovesAndStagesLikeSumsOfItsOperands) {
    for_every_schedule([](const Schedule& s) {
        const Schedule once = one_sum(s, forward, width);
        const Schedule back = one_sum(s, backward, width);
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            EXPECT_EQ(traffic_of(s, s.steps[max], graph, rank), traffic_of(once, once.steps[0], graph, rank));
            const SpmmBuffers of_max = spmm_buffers(s, *product_of(s.steps[max].operation), graph, rank);
            const SpmmBuffers of_sum = spmm_buffers(once, *product_of(once.steps[0].operation), graph, rank);
            EXPECT_EQ(of_max.bytes(), of_sum.bytes());
            for (const int peer : StepMessages(s, s.steps[max_back], graph).peers(rank)) {
                const Message two = StepMessages(s, s.steps[max_back], graph).between(peer, rank);
                const Message one = StepMessages(back, back.steps[0], graph).between(peer, rank);
                const bool rows = s.grid.coordinate(peer, Axis::y) == s.grid.coordinate(rank, Axis::y);
                EXPECT_EQ(two.bytes, (rows ? 2 : 1) * one.bytes);
                EXPECT_EQ(two.count, (rows ? 2 : 1) * one.count);
            }
            const SpmmBuffers two = spmm_buffers(s, *product_of(s.steps[max_back].operation), graph, rank);
            const SpmmBuffers one = spmm_buffers(back, *product_of(back.steps[0].operation), graph, rank);
            const auto twice = [](std::int64_t bytes) { return 2 * bytes; };
            EXPECT_NEAR(static_cast<double>(two.dense), static_cast<double>(twice(one.dense)), 64) << "padding";
            EXPECT_NEAR(static_cast<double>(two.pack), static_cast<double>(twice(one.pack)), 64) << "padding";
            EXPECT_EQ(two.nonzeros, one.nonzeros);
            EXPECT_EQ(two.panel, 0) << "of several operands nothing is packed";
        }
    });
}

// Counts for all ranks of a slice at once equal those of each of them alone.
TEST(Max, ShardedSlicesCountEveryOperand) {
    for_every_schedule([](const Schedule& s) {
        ShardedSlices slices(s, graph);
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            for (const std::size_t step : {max, max_back}) {
                if (!slices.matrix_of(s.steps[step])) continue;
                EXPECT_EQ(slices.traffic(s.steps[step], rank), traffic_of(s, s.steps[step], graph, rank));
                const SpmmStep& spmm = *product_of(s.steps[step].operation);
                SpmmBuffers counted = slices.buffers(spmm, rank);
                const SpmmBuffers expected = spmm_buffers(s, spmm, graph, rank);
                counted.panel = expected.panel;
                EXPECT_EQ(counted.bytes(), expected.bytes());
            }
        }
    });
}

// Two rows of the dense operands are read at each nonzero of a gradient.
TEST(Max, WorksAtTheWidthOfWhatANonzeroReads) {
    const Schedule s = max_schedule({2, 2, 1});
    for (int rank = 0; rank < 4; ++rank) {
        const RankWork forwards = work_of(s, s.steps[max], graph, rank);
        const RankWork backwards = work_of(s, s.steps[max_back], graph, rank);
        const std::int64_t columns = block_of(s, in, rank).columns.size();
        EXPECT_EQ(forwards.sparse_width, columns);
        EXPECT_EQ(backwards.sparse_width, 2 * columns);
        const Range rows = block_of(s, forward, rank).rows;
        EXPECT_EQ(forwards.sparse_flops,
                  static_cast<double>(2 * graph.block_nonzeros(forward_matrix, rows, {0, vertices}) * columns));
        EXPECT_EQ(backwards.sparse_flops,
                  static_cast<double>(2 * graph.block_nonzeros(backward_matrix, rows, {0, vertices}) * 2 * columns));
        const std::int64_t streamed = work_of(s, s.steps[divide], graph, rank).streamed_bytes;
        EXPECT_EQ(streamed, 3 * block_bytes(s, share, rank)) << "both are read, one is written";
    }
}

TEST(Max, SignaturesTellProgramsAndOperandsApart) {
    Schedule s = max_schedule({2, 1, 1});
    const std::string signature = signature_of(s, s.steps[max_back].operation);
    product(s, max_back).row_operands = {};
    EXPECT_NE(signature_of(s, s.steps[max_back].operation), signature);
    SpmmStep sum{forward, {in}, {maxima}, Exchange::panels, false};
    SpmmStep other = sum;
    other.program = Program::max;
    EXPECT_NE(signature_of(s, sum), signature_of(s, other));
}

TEST(Max, OperandsAreListed) {
    const Schedule s = max_schedule({2, 1, 1});
    EXPECT_EQ(operands_of(s.steps[max].operation).reads, (std::vector<TensorId>{forward, in}));
    EXPECT_EQ(operands_of(s.steps[max].operation).writes, (std::vector<TensorId>{maxima, ties}));
    EXPECT_EQ(operands_of(s.steps[max_back].operation).reads, (std::vector<TensorId>{backward, share, maxima, in}));
    EXPECT_EQ(operands_of(s.steps[max_back].operation).writes, (std::vector<TensorId>{in_gradient}));
    EXPECT_EQ(operands_of(s.steps[divide].operation).reads, (std::vector<TensorId>{share, ties}));
}

struct Alteration {
    const char* what;
    std::function<void(Schedule&)> apply;
};

const Alteration alterations[] = {
    {"a maximum without ties", [](Schedule& s) { product(s, max).results = {maxima}; }},
    {"no result", [](Schedule& s) { product(s, max).results = {}; }},
    {"maxima and ties in one tensor",
     [](Schedule& s) {
         product(s, max).results = {maxima, maxima};
     }},
    {"a maximum in place",
     [](Schedule& s) {
         product(s, max).results = {in, ties};
     }},
    {"a maximum of two operands",
     [](Schedule& s) {
         product(s, max).column_operands = {in, in};
     }},
    {"a maximum with a row operand", [](Schedule& s) { product(s, max).row_operands = {in}; }},
    {"a gradient without maxima", [](Schedule& s) { product(s, max_back).column_operands = {share}; }},
    {"a gradient without features", [](Schedule& s) { product(s, max_back).row_operands = {}; }},
    {"a gradient over its features",
     [](Schedule& s) { s.tensors[in].role = Role::transient, product(s, max_back).results = {in}; }},
    {"a tensor that does not exist", [](Schedule& s) { product(s, max_back).row_operands = {1000}; }},
    {"maxima of another width", [](Schedule& s) { s.tensors[maxima].columns = s.tensors[ties].columns = width + 1; }},
    {"features of another width", [](Schedule& s) { s.tensors[in].columns = width - 1; }},
    {"features in another layout", [](Schedule& s) { s.tensors[in].layout = layout_r(); }},
    {"ties that are no floats", [](Schedule& s) { s.tensors[ties].dtype = DType::f64; }},
    {"a gradient of other rows", [](Schedule& s) { s.tensors[in_gradient].rows = vertices - 1; }},
    {"rows that are not the matrix's",
     [](Schedule& s) {
         s.spaces.push_back({"needed.1", vertices, 1}), s.tensors[maxima].space = s.tensors[ties].space = 1;
     }},
    {"a maximum that rounds", [](Schedule& s) { product(s, max).bf16 = true; }},
    {"no exchange", [](Schedule& s) { product(s, max).exchange = Exchange::none; }},
    {"a sum where a maximum was meant", [](Schedule& s) { product(s, max).program = Program::sum; }},
    {"a division by itself", [](Schedule& s) { std::get<MapStep>(s.steps[divide].operation).operand = share; }},
    {"a division with an output", [](Schedule& s) { std::get<MapStep>(s.steps[divide].operation).out = ties; }},
    {"a division by nothing", [](Schedule& s) { std::get<MapStep>(s.steps[divide].operation).operand = {}; }},
    {"a division by what lies elsewhere", [](Schedule& s) { s.tensors[ties].layout = layout_f(); }},
    {"a gradient before its maxima", [](Schedule& s) { std::swap(s.steps[max], s.steps[max_back]); }},
};

TEST(Max, AlteredSchedulesAreRefused) {
    for (const Alteration& alteration : alterations) {
        Schedule s = max_schedule({2, 2, 1});
        ASSERT_NO_THROW(validate(s));
        alteration.apply(s);
        EXPECT_THROW(validate(s), Error) << alteration.what;
    }
}

// Parts of a maximum are no summands: where the contraction side is split over z, or dealt over y, it is refused with a
// sentence.
TEST(Max, OfAPartOfTheContractionSideIsRefused) {
    for (const auto& [grid, contraction] :
         {std::pair{Grid{2, 1, 2}, "z"}, std::pair{Grid{2, 2, 2}, "zy"}, std::pair{Grid{2, 2, 1}, "y"}}) {
        Schedule s = max_schedule(grid, contraction);
        const bool dealt = std::string_view(contraction) == "y";
        const Layout parts{Axes::parse("x"), Axes::parse(dealt ? "" : "y"), Axes::parse(dealt ? "y" : "z")};
        for (const TensorId id : {maxima, ties, in_gradient}) s.tensors[static_cast<std::size_t>(id)].layout = parts;
        try {
            validate(s);
            ADD_FAILURE() << grid.text() << " " << contraction;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("no sum"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace gnnplan
