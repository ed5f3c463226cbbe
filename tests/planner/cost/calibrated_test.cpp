// Steps on a calibrated machine, each against a time worked out by hand.
#include "planner/cost/time.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace gnnplan::cost {
namespace {

Tensor dense(const char* name, std::int64_t rows, std::int64_t columns, Layout layout) {
    return {name, Role::transient, DType::f32, rows, columns, std::move(layout)};
}

double seconds(const Schedule& schedule, const Machine& m, const GraphStats& graph) {
    return step_seconds(schedule, schedule.steps[0], graph, m, {{0, 1, 2, 3}, {}});
}

Schedule redistribution() {
    return {{1, 4, 1},
            {},
            {dense("a", 8, 4, layout_c()), dense("b", 8, 4, layout_r())},
            {{"step", Phase::epoch, RedistributeStep{0, 1}}}};
}

TEST(CalibratedStep, MessagesCostWhatTheirSizeCosts) {
    const UniformStats graph(8, 8, true);
    Machine m = test::round_machine(4);
    m.intra_node.segments = {{0, 1e-6, 1e9}};
    EXPECT_DOUBLE_EQ(seconds(redistribution(), m, graph), seconds(redistribution(), test::round_machine(4), graph))
        << "one segment is the plain line";
    m.intra_node.segments = {{0, 9, 1}, {8, 2e-6, 4e6}, {9, 9, 1}};
    const double streamed = (32 + 32 + 2 * 24) / 1e10;
    EXPECT_NEAR(seconds(redistribution(), m, graph), streamed + 3 * 17.0, 1e-6)
        << "what 8 bytes of the first line cost";
    m.intra_node.segments[0] = {0, 1e-6, 1e9};
    EXPECT_NEAR(seconds(redistribution(), m, graph), streamed + 3 * (2e-6 + 8 / 4e6), 1e-12);
}

// From 32 bytes 24 come in messages, whose times include reading and writing them; 8 are copied, 24 unpacked.
TEST(CalibratedStep, ARedistributionCopiesWhatStays) {
    const UniformStats graph(8, 8, true);
    Machine m = test::round_machine(4);
    m.calibration = Calibration{.streams = {{ElementwiseKind::copy, 1, 1e9}}};
    EXPECT_NEAR(seconds(redistribution(), m, graph), 3 * 1e-6 + 24 / 1e9 + (2 * 8 + 2 * 24) / 1e9, 1e-15);
}

TEST(CalibratedStep, RedistributionHasItsOwnLinkWithinANode) {
    const UniformStats graph(8, 8, true);
    Machine m = test::round_machine(4);
    m.calibration = Calibration{.streams = {{ElementwiseKind::copy, 1, 1e9}}, .redistribution = Link{2e-6, 1e9}};
    EXPECT_NEAR(seconds(redistribution(), m, graph), 4 * 2e-6 + 32 / 1e9, 1e-15) << "no packing, and itself a peer";
    m.inter_node = {5e-6, 1e9};
    m.ranks_per_node = 2;
    EXPECT_NEAR(seconds(redistribution(), m, graph),
                2e-6 + 8 / 1e9 + 2 * 5e-6 + 16 / 1e9 + 2e-6 + 8 / 1e9 + 2 * 16 / 1e9, 1e-15)
        << "one peer near, two far, for which two thirds are packed";
    m.ranks_per_node = 1;
    EXPECT_NEAR(seconds(redistribution(), m, graph), 3 * 5e-6 + 24 / 1e9 + 2e-6 + 8 / 1e9 + 2 * 24 / 1e9, 1e-15);
}

// 40 bytes in a ring of four: 6 messages of 3 or 2 floats, 60 bytes from the rank that sends most.
TEST(CalibratedStep, AllReduceHasItsOwnLink) {
    const UniformStats graph(8, 8, true);
    const Schedule s{
        {4, 1, 1}, {}, {dense("g", 5, 2, {{}, {}, Axes::parse("x")})}, {{"step", Phase::epoch, AllReduceStep{0}}}};
    const double plain = seconds(s, test::round_machine(4), graph);
    Machine m = test::round_machine(4);
    m.calibration = Calibration{.all_reduce = m.intra_node};
    const double streamed = 2 * 40 / 1e10;
    EXPECT_NEAR(seconds(s, m, graph), plain - streamed, 1e-15) << "adding up is part of it";
    m.calibration->all_reduce = Link{2e-6, 1e9};
    EXPECT_NEAR(seconds(s, m, graph), plain - streamed + 6e-6, 1e-15);
    m.calibration->all_reduce.reset();
    EXPECT_NEAR(seconds(s, m, graph), plain, 1e-15);
}

// 400 vertices of which a quarter trains, 4 classes.
Schedule loss(Layout logits, int loss_layers) {
    Schedule s{{2, 2, 1},
               {},
               {dense("z", 400, 4, std::move(logits)),
                {"labels", Role::labels, DType::i32, 400, 1, layout_r()},
                {"subset", Role::subset, DType::u8, 400, 1, layout_r()},
                {"loss", Role::transient, DType::f64, 1, 1, {{}, {}, Axes::parse("xy")}}},
               {{"loss", Phase::epoch, LossStep{0, 1, 2, 3}}}};
    s.numbering.loss_layers = loss_layers;
    return s;
}

TEST(CalibratedStep, TheLossCostsRowsThatTrain) {
    const UniformStats graph(400, 1600, true, 0.25);
    Machine m = test::round_machine(4);
    m.intra_node = {0, 1e18};
    m.calibration = Calibration{.streams = {{ElementwiseKind::copy, 1, 1e9}}, .loss = LossCost{1e-6, 1e-8}};
    const auto cleared = [](double rows, double columns) { return 4 * rows * columns / 1e9; };
    EXPECT_NEAR(seconds(loss(layout_r(), 0), m, graph), 25 * 1.04e-6 + cleared(75, 4), 1e-12);
    EXPECT_NEAR(seconds(loss(layout_r(), 2), m, graph), 100 * 1.04e-6, 1e-12) << "the first rank has them all";
    const double parts = 2 * 2 * 8 * 200 / 1e9;  // each staged part is written and read
    EXPECT_NEAR(seconds(loss(layout_c(), 0), m, graph), 50 * 1.02e-6 + cleared(150, 2) + parts, 1e-12)
        << "columns cut: both passes together take as long as one over whole rows";
}

// 4 ranks have sums of 8 x 5 floats each, cut into blocks of two rows: three messages of 40 bytes.
TEST(CalibratedStep, ReduceScatterHasItsOwnLink) {
    const UniformStats graph(8, 8, true);
    const Schedule s{
        {4, 1, 1},
        {},
        {dense("partial", 8, 5, {{}, {}, Axes::parse("x")}), dense("sum", 8, 5, {Axes::parse("x"), {}, {}})},
        {{"step", Phase::epoch, ReduceScatterStep{0, 1}}}};
    Machine m = test::round_machine(4);
    m.calibration = Calibration{.reduce_scatter = Link{2e-6, 1e9}};
    EXPECT_NEAR(seconds(s, m, graph), 3 * 2e-6 + 120 / 1e9, 1e-15) << "adding up is part of it";
    m.calibration->reduce_scatter.reset();
    EXPECT_GT(seconds(s, m, graph), 3 * 1e-6 + 120 / 1e9);
}

Schedule product(bool overlap, std::int64_t panel_columns = 0, std::int64_t width = 8) {
    Schedule s{{4, 1, 1},
               {},
               {{"A^T", Role::adjacency, DType::f32, 400, 400, {Axes::parse("x"), Axes::parse("z"), {}}, true},
                dense("a", 400, width, layout_c()),
                dense("b", 400, width, layout_c())},
               {{"step", Phase::epoch, SpmmStep{0, {1}, {2}, Exchange::panels, overlap}}}};
    s.tensors[0].storage.panel_columns = panel_columns;
    return s;
}

// Each rank has 100 rows of 400 nonzeros, in four pieces of 100 columns.
TEST(CalibratedStep, AProductCostsItsNonzerosAndItsRowsInEachPanel) {
    const UniformStats graph(400, 160'000, true);
    Machine m = test::round_machine(4);
    m.intra_node = {0, 1e18};
    m.calibration = Calibration{.gather = {{8, {{1 << 10, 2e-9}, {1 << 20, 2e-9}}, 1e-6}}};
    EXPECT_NEAR(seconds(product(false), m, graph), 40'000 * 2e-9 + 4 * 100 * 1e-6 + 3 * 100 * 64 / 1e10, 1e-10);
    EXPECT_NEAR(seconds(product(false, 30), m, graph), 40'000 * 2e-9 + 16 * 100 * 1e-6 + 15 * 100 * 64 / 1e10, 1e-10)
        << "panels of 25";
    EXPECT_NEAR(seconds(product(false, 100), m, graph), 40'000 * 2e-9 + 4 * 100 * 1e-6 + 3 * 100 * 64 / 1e10, 1e-10);
    m.calibration->gather[0].seconds_per_row_again = 2e-7;
    EXPECT_NEAR(seconds(product(false), m, graph), 40'000 * 2e-9 + 4 * 100 * 1e-6 + 3 * 100 * 2e-7, 1e-10)
        << "as measured, not at the rate of copies";
    m.calibration->gather.clear();
    EXPECT_NEAR(seconds(product(false), m, graph), 2.0 * 40'000 * 8 / 1e9, 1e-10) << "the single rate";
}

// Curves of graphs of any size, for products whose messages cost nothing.
GatherCurve flat_curve(std::int64_t width, double seconds) {
    return {width, {{1 << 10, seconds}, {1 << 20, seconds}}, 1e-6, 2e-7};
}
Machine with_curves(std::vector<GatherCurve> curves) {
    Machine m = test::round_machine(4);
    m.intra_node = {0, 1e18};
    m.calibration = Calibration{.gather = std::move(curves)};
    return m;
}

// Rows of 24 columns lie within cache lines; packed, they are gathered like rows of 32.
TEST(CalibratedStep, PackedPanelsCostTheirCopyAndTheGatheringOfWholeLines) {
    const UniformStats graph(400, 160'000, true);
    const Machine m =
        with_curves({flat_curve(16, 2e-9), flat_curve(24, 9e-9), flat_curve(32, 3e-9), flat_curve(200, 9e-8)});
    const double rows = 16 * 100 * 1e-6 + 15 * 100 * 2e-7;
    const double copies = 2 * 400 * 24 * 4 / 1e10;
    EXPECT_NEAR(seconds(product(false, 30, 24), m, graph), 40'000 * 3e-9 + rows + copies, 1e-10);
    EXPECT_NEAR(seconds(product(false, 30, 32), m, graph), 40'000 * 3e-9 + rows, 1e-10) << "whole lines as they lie";
    const double wide = rows * 416 / 200 + 2 * 400 * 416 * 4 / 1e10;
    EXPECT_NEAR(seconds(product(false, 30, 416), m, graph), 40'000 * 3 * 3e-9 * 144 / 32 + wide, 1e-10)
        << "three slices of 144 columns";
}

// Rows that are whole kibibytes long are a family of their own, where others are known on both sides.
TEST(CalibratedStep, WholeKibibytesAreInterpolatedAmongThemselves) {
    const UniformStats graph(400, 160'000, true);
    const auto of = [&](std::int64_t width, std::vector<GatherCurve> curves) {
        constexpr double rows = 4 * 100 * 1e-6 + 3 * 100 * 2e-7;
        return seconds(product(false, 0, width), with_curves(std::move(curves)), graph) - rows;
    };
    const std::vector<GatherCurve> curves{flat_curve(128, 1e-9), flat_curve(250, 2e-9), flat_curve(256, 9e-9),
                                          flat_curve(350, 3e-9)};
    EXPECT_NEAR(of(300, curves), 40'000 * 2.5e-9, 1e-10);
    EXPECT_NEAR(of(189, curves), 40'000 * 1.5e-9, 1e-10);
    EXPECT_NEAR(of(256, curves), 40'000 * 9e-9, 1e-10);
    EXPECT_NEAR(of(192, {flat_curve(128, 1e-9), flat_curve(256, 9e-9)}), 40'000 * 5e-9, 1e-10) << "an older profile";
}

// Rows of 28 columns lie across the sectors of a GPU, which copies and gathers them like rows of 32.
TEST(CalibratedStep, ASinglePanelOfAGpuCostsItsCopyAndTheGatheringOfWholeSectors) {
    const UniformStats graph(400, 160'000, true);
    Machine m = with_curves({flat_curve(20, 8e-9), flat_curve(24, 1e-9), flat_curve(30, 7e-9), flat_curve(40, 5e-9)});
    const double rows = 4 * 100 * 1e-6 + 3 * 100 * 2e-7;
    Schedule s = product(false, 0, 28);
    EXPECT_NEAR(seconds(s, m, graph), 40'000 * 5e-9 + rows, 1e-10) << "between 24 and 30, as they lie";
    m.blocking = s.blocking = gpu_blocking(0);
    const double copies = 2 * 400 * 28 * 4 / 1e10;
    EXPECT_NEAR(seconds(s, m, graph), 40'000 * 3e-9 + rows + copies, 1e-10) << "half-way between 24 and 40";
}

TEST(CalibratedStep, OverlapSlowsProductsDown) {
    const UniformStats graph(400, 160'000, true);
    Machine m = test::round_machine(4);
    m.intra_node = {0, 1e6};
    m.calibration = Calibration{.overlap_slowdown = 1.5};
    const double compute = 2.0 * 40'000 * 8 / 1e9;
    const double transfer = 3 * 100 * 8 * 4 / 1e6;
    EXPECT_NEAR(seconds(product(true), m, graph), transfer + compute / 4, 1e-12);
    m.intra_node = {0, 1e12};
    EXPECT_NEAR(seconds(product(true), m, graph), 1.5 * compute * 3 / 4 + compute / 4, 1e-12);
    EXPECT_NEAR(seconds(product(false), m, graph), compute + 3 * 100 * 8 * 4 / 1e12, 1e-12) << "one after the other";
    m.calibration->overlap_exposed = 0.5;
    EXPECT_NEAR(seconds(product(true), m, graph), 1.5 * compute * 3 / 4 + compute / 4, 1e-12) << "little to hide";
    m.intra_node = {0, 1e6};
    EXPECT_NEAR(seconds(product(true), m, graph), transfer + 0.5 * compute * 3 / 4 + compute / 4, 1e-12);
}

// A machine that moves its bytes itself, one after the other with multiplying: whatever travels comes on top, and a
// product that hardly sends anything takes no longer than one that sends nothing.
TEST(CalibratedStep, OverlapIsExactWhereNothingIsHidden) {
    const UniformStats graph(400, 160'000, true);
    Machine m = test::round_machine(4);
    const double compute = 2.0 * 40'000 * 8 / 1e9;
    for (const double ratio : {0.02, 0.1, 0.5, 1.0, 2.0}) {
        const double transfer = ratio * compute;
        m.intra_node = {0, 3 * 100 * 8 * 4 / transfer};
        m.calibration = Calibration{.overlapping = OverlapCost{1, 0, 1}};
        EXPECT_NEAR(seconds(product(true), m, graph), compute + transfer, 1e-12) << ratio;
        m.calibration->overlapping = OverlapCost{1.25, 1e-6, 1};
        const double looks = 2.0 * 40'000 * 8 / flops_per_look * 3 / 4;
        EXPECT_NEAR(seconds(product(true), m, graph), compute * (1.25 * 3 / 4 + 1.0 / 4) + transfer + looks * 1e-6,
                    1e-12)
            << ratio;
        m.calibration->threads = 4;
        EXPECT_NEAR(seconds(product(true), m, graph), compute * (1.25 * 3 / 4 + 1.0 / 4) + transfer + looks / 4 * 1e-6,
                    1e-12)
            << "four threads compute between two looks";
    }
    m.calibration->overlapping = OverlapCost{};
    m.intra_node = {0, 1e12};
    EXPECT_NEAR(seconds(product(true), m, graph), compute, 1e-9) << "all is hidden";
}

TEST(CalibratedStep, LentPanelsTakeWhatShowingThemTakes) {
    const UniformStats graph(400, 160'000, true);
    Machine m = test::round_machine(4);
    const double compute = 2.0 * 40'000 * 8 / 1e9;
    m.calibration = Calibration{.lent_panel_seconds = 1e-5, .overlapping = OverlapCost{1.25, 1e-6, 1}};
    EXPECT_NEAR(seconds(product(false), m, graph), compute + 3 * 1e-5, 1e-12);
    EXPECT_NEAR(seconds(product(true), m, graph), compute + 3 * 1e-5, 1e-12) << "nothing is under way";
    Schedule relayed = product(false);
    std::get<SpmmStep>(relayed.steps[0].operation).exchange = Exchange::relay;
    Machine apart = m;
    apart.ranks_per_node = 2;
    const auto copied = [&](const Schedule& s, Machine machine) {
        machine.calibration->lent_panel_seconds.reset();
        return seconds(s, machine, graph);
    };
    EXPECT_EQ(seconds(relayed, m, graph), copied(relayed, m)) << "panels that are passed on are copied";
    EXPECT_EQ(seconds(product(false), apart, graph), copied(product(false), apart)) << "so are those of other nodes";
}

TEST(CalibratedStep, RanksWaitForEachOther) {
    const UniformStats graph(400, 160'000, true);
    Machine m = test::round_machine(4);
    const double compute = 2.0 * 40'000 * 8 / 1e9;
    m.calibration = Calibration{.overlapping = OverlapCost{}};
    const double transfer = seconds(product(false), m, graph) - compute;
    m.calibration->waiting = WaitingCost{3e-5, 0.1};
    EXPECT_NEAR(seconds(product(false), m, graph), 1.1 * compute + transfer + 3e-5, 1e-12);
    const MapStep activation{MapOp::activate, 0, {}, {}, 1, Activation::relu, false};
    const Schedule local{{4, 1, 1}, {}, {dense("h", 400, 16, layout_r())}, {{"step", Phase::epoch, activation}}};
    const double alone = seconds(local, test::round_machine(4), graph);
    EXPECT_NEAR(seconds(local, m, graph), 1.1 * alone, 1e-12) << "in the next step with messages";
}

TEST(CalibratedStep, DenseWorkAtTheRateOfItsShape) {
    const UniformStats graph(400, 400, true);
    Machine m = test::round_machine(4);
    m.calibration = Calibration{.gemm = {{GemmKind::forward, 16, 4, 1e9},
                                         {GemmKind::input_gradient, 4, 16, 2e9},
                                         {GemmKind::weight_gradient, 16, 4, 4e9}}};
    const auto run = [&](Operation operation) {
        const Schedule s{{4, 1, 1},
                         {},
                         {dense("h", 400, 16, layout_r()),
                          {"w", Role::weight, DType::f32, 16, 4, {}},
                          dense("z", 400, 4, layout_r()),
                          {"v", Role::weight, DType::f32, 4, 16, {}},
                          {"y", Role::transient, DType::f32, 16, 4, {{}, {}, Axes::parse("x")}}},
                         {{"step", Phase::epoch, operation}}};
        return seconds(s, m, graph);
    };
    const double flops = 2.0 * 100 * 16 * 4;
    EXPECT_NEAR(run(GemmStep{0, 1, 2, false}), flops / 1e9, 1e-15);
    EXPECT_NEAR(run(GemmStep{0, 3, 2, true}), flops / 2e9, 1e-15) << "W is 4 x 16";
    EXPECT_NEAR(run(WeightGradStep{0, 2, 4}), flops / 4e9, 1e-15);
}

TEST(CalibratedStep, ElementwiseWorkAtTheRateOfItsKind) {
    const UniformStats graph(400, 400, true);
    Machine m = test::round_machine(4);
    m.calibration = Calibration{};
    const std::vector<ElementwiseKind> kinds = {ElementwiseKind::activate,   ElementwiseKind::activate_dropout,
                                                ElementwiseKind::dropout,    ElementwiseKind::positive_mask,
                                                ElementwiseKind::apply_mask, ElementwiseKind::column_sum};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        m.calibration->streams.push_back({kinds[i], 1 << 20, 1e9 * static_cast<double>(i + 1)});
    }
    const auto run = [&](MapOp op, bool dropout, std::optional<TensorId> operand, std::optional<TensorId> out) {
        const Schedule s{{4, 1, 1},
                         {},
                         {dense("h", 400, 16, layout_r()),
                          dense("o", 400, 16, layout_r()),
                          {"m", Role::transient, DType::bits, 400, 16, layout_r()},
                          {"b", Role::transient, DType::f32, 1, 16, {{}, {}, Axes::parse("x")}}},
                         {{"step", Phase::epoch, MapStep{op, 0, operand, out, 1, Activation::relu, dropout}}}};
        return seconds(s, m, graph);
    };
    const double block = 100 * 16 * 4;
    EXPECT_NEAR(run(MapOp::activate, false, {}, {}), 2 * block / 1e9, 1e-15);
    EXPECT_NEAR(run(MapOp::activate, true, {}, {}), 2 * block / 2e9, 1e-15);
    EXPECT_NEAR(run(MapOp::dropout, true, {}, 1), 2 * block / 3e9, 1e-15);
    EXPECT_NEAR(run(MapOp::positive_mask, false, {}, 2), (block + block / 32) / 4e9, 1e-15);
    EXPECT_NEAR(run(MapOp::apply_mask, true, 2, {}), (2 * block + block / 32) / 5e9, 1e-15);
    EXPECT_NEAR(run(MapOp::column_sum, false, {}, 3), (block + 16 * 4) / 6e9, 1e-15);
}

// More bytes never take less time, whatever the segments.
TEST(CalibratedStep, TimeDoesNotFallAsBytesGrow) {
    Machine m = test::round_machine(4);
    m.intra_node.segments = {{0, 1e-5, 1e9}, {4'096, 0, 1e9}, {65'536, 2e-6, 8e9}};
    m.calibration =
        Calibration{.streams = {{ElementwiseKind::copy, 1 << 12, 1e10}, {ElementwiseKind::copy, 1 << 24, 5e9}}};
    double before = 0;
    for (std::int64_t columns = 4; columns < 20'000; columns += columns / 4) {
        Schedule s = redistribution();
        for (Tensor& tensor : s.tensors) tensor.columns = columns;
        const double now = seconds(s, m, UniformStats(8, 8, true));
        ASSERT_GE(now, before) << columns;
        before = now;
    }
}

}  // namespace
}  // namespace gnnplan::cost
