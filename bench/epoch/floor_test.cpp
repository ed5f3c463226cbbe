// The floors of steps, by hand, on a machine of round peaks; and a run beside them.
#include "bench/epoch/floor_run.hpp"
#include "bench/epoch/floor_text.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/packed_panel.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace gnnplan::bench {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A byte is read in a second, from more than 10,000 bytes away in 10, and written in 2. Gathering it takes 100 from
// there and 20 from nearer by. Reading and writing take turns.
Peaks round_peaks() {
    Peaks peaks;
    peaks.flops_per_second = 1;
    peaks.read = [](std::int64_t bytes) { return bytes > 10'000 ? 0.1 : 1; };
    peaks.write = [](std::int64_t) { return 0.5; };
    peaks.gather = [](std::int64_t, std::int64_t bytes) { return bytes > 10'000 ? 0.01 : 0.05; };
    peaks.second_level_bytes = 100;
    return peaks;
}

// A graph whose products come back to rows as told.
class ToldReuse : public GraphStats {
public:
    ToldReuse(std::int64_t vertices, std::int64_t nonzeros, ReuseHistogram histogram)
        : sizes_(vertices, nonzeros, true), histogram_(std::move(histogram)) {}
    std::int64_t vertices() const override { return sizes_.vertices(); }
    std::int64_t nonzeros() const override { return sizes_.nonzeros(); }
    bool symmetric() const override { return true; }
    bool exact() const override { return true; }
    std::int64_t row_nonzeros(MatrixId id, Range rows) const override { return sizes_.row_nonzeros(id, rows); }
    std::int64_t block_nonzeros(MatrixId id, Range rows, Range columns) const override {
        return sizes_.block_nonzeros(id, rows, columns);
    }
    std::int64_t distinct_columns(MatrixId, Range, Range) const override { return 7; }
    ReuseHistogram reuse(MatrixId, Range, Range, std::int64_t) const override { return histogram_; }
    std::int64_t training_vertices() const override { return vertices(); }
    std::vector<std::int64_t> loss_rows(int layers) const override { return sizes_.loss_rows(layers); }
    std::shared_ptr<const GraphStats> numbered(const Numbering&) const override { return {}; }

private:
    UniformStats sizes_;
    ReuseHistogram histogram_;
};

Tensor dense(const char* name, std::int64_t rows, std::int64_t columns, Layout layout = layout_r()) {
    return {name, Role::transient, DType::f32, rows, columns, layout};
}
Tensor weight(std::int64_t rows, std::int64_t columns) {
    return {"W", Role::weight, DType::f32, rows, columns, layout_replicated()};
}

// The floor of the first step, of the first rank.
StepFloor first(const Schedule& schedule, const Peaks& peaks = round_peaks(),
                const GraphStats& graph = UniformStats(100, 1000, true, 0.25)) {
    const std::vector<StepAccesses> accesses = accesses_of(schedule, graph, 0, true);
    return floor_of(schedule, schedule.steps[0], accesses[0], graph, 0, peaks);
}

Schedule alone(std::vector<Tensor> tensors, Operation operation, Grid grid = {1, 1, 1}) {
    return {grid, {}, std::move(tensors), {{"step", Phase::epoch, std::move(operation)}}};
}

TEST(Floor, OfDenseProducts) {
    const Schedule s = alone({dense("H", 10, 4), weight(4, 3), dense("Z", 10, 3)}, GemmStep{0, 1, 2, false});
    EXPECT_EQ(first(s).flops, 2 * 10 * 4 * 3);
    EXPECT_EQ(first(s).bytes, 4 * (10 * 4 + 4 * 3) + 2 * 4 * 10 * 3);
    EXPECT_EQ(first(s).seconds(), 448);
    EXPECT_EQ(first(s).bound(), Bound::bytes);
    Peaks slow = round_peaks();
    slow.flops_per_second = 0.5;
    EXPECT_EQ(first(s, slow).seconds(), 480);
    EXPECT_EQ(first(s, slow).bound(), Bound::flops);
    const Schedule added = alone({dense("H", 10, 4), weight(4, 3), dense("Z", 10, 3)}, GemmStep{0, 1, 2, false, true});
    EXPECT_EQ(first(added).bytes, 448 + 4 * 10 * 3) << "what is added to is read";
}

TEST(Floor, OfWeightGradients) {
    const Tensor gradient{"dW", Role::transient, DType::f32, 4, 3, layout_partial()};
    const StepFloor floor = first(alone({dense("H", 10, 4), dense("G", 10, 3), gradient}, WeightGradStep{0, 1, 2}));
    EXPECT_EQ(floor.flops, 2 * 10 * 4 * 3);
    EXPECT_EQ(floor.bytes, 4 * 10 * (4 + 3) + 2 * 4 * 4 * 3);
}

TEST(Floor, OfElementwiseWork) {
    MapStep add{MapOp::add, 0, 1, {}, 1, Activation::none, false};
    EXPECT_EQ(first(alone({dense("a", 10, 4), dense("b", 10, 4)}, add)).bytes, 2 * 160 + 2 * 160);
    const Tensor mask{"mask", Role::transient, DType::bits, 10, 4, layout_r()};
    MapStep positive{MapOp::positive_mask, 0, {}, 1, 1, Activation::none, false};
    EXPECT_EQ(first(alone({dense("a", 10, 4), mask}, positive)).bytes, 160 + 2 * 5);
}

// A quarter of the vertices train: 100 rows of 3 logits are written, and 25 of them are read.
TEST(Floor, OfTheLoss) {
    const Tensor labels{"labels", Role::labels, DType::i32, 100, 1, {layout_r().rows, {}, {}}};
    const Tensor subset{"subset", Role::subset, DType::u8, 100, 1, {layout_r().rows, {}, {}}};
    const Tensor loss{"loss", Role::transient, DType::f64, 1, 1, layout_partial()};
    const StepFloor floor = first(alone({dense("Z", 100, 3), labels, subset, loss}, LossStep{0, 1, 2, 3}));
    EXPECT_EQ(floor.bytes, 25 * 3 * 4 + 100 * 5 + 2 * (100 * 3 * 4 + 8));
}

Schedule product(std::int64_t rows, bool factored = false) {
    Tensor matrix{"A^T", Role::adjacency, DType::f32, rows, rows, {Axes::parse("x"), Axes::parse("z"), {}}, true};
    matrix.storage.factored = factored;
    return alone({matrix, dense("H", rows, 8, layout_c()), dense("Z", rows, 8, layout_c())},
                 SpmmStep{0, {1}, {2}, Exchange::none, false});
}

// 7 rows of 10 are met. A panel stores 11 row starts, and a column and a value for each of 20 nonzeros.
TEST(Floor, OfSparseProducts) {
    ReuseHistogram histogram;
    histogram.first_uses = 7;
    histogram.reuses = {5, 0, 6, 2};  // with 1, 2, 4 and 8 rows of 32 bytes in between, of which 100 bytes stay
    histogram.between.resize(4);
    const ToldReuse graph(10, 20, histogram);
    const std::int64_t starts = row_start_bytes(Blocking{}, 20) * 11;
    const StepFloor floor = first(product(10), round_peaks(), graph);
    EXPECT_EQ(floor.flops, 2 * 20 * 8);
    EXPECT_EQ(floor.bytes, 7 * 32 + starts + 8 * 20 + 2 * 10 * 32);
    EXPECT_EQ(floor.bytes_with_reuse, floor.bytes - 7 * 32 + 20 * (7 + 6 + 2) * 32);
    EXPECT_EQ(floor.seconds_with_reuse(), floor.bytes_with_reuse);
    EXPECT_EQ(floor.seconds(), floor.bytes);
    EXPECT_EQ(first(product(10, true), round_peaks(), graph).bytes, floor.bytes - 4 * 20) << "values are not stored";
}

// The 10 rows of the result, of 32 bytes, hold nonzeros of 25 panels together: 15 rows are loaded and stored again.
TEST(Floor, FurtherPanelsGoThroughTheirResultAgain) {
    ReuseHistogram histogram;
    histogram.first_uses = 7;
    const StepFloor once = first(product(10), round_peaks(), ToldReuse(10, 20, histogram));
    histogram.row_visits = 25;
    const StepFloor again = first(product(10), round_peaks(), ToldReuse(10, 20, histogram));
    EXPECT_EQ(again.bytes_with_reuse, once.bytes_with_reuse + (1 + 2) * 15 * 32);
    EXPECT_EQ(again.bytes, once.bytes);
}

// In bf16 10 rows of 8 columns are read in fp32 and written in 2 bytes each, and gathers find those.
TEST(Floor, PackedPanelsAreCopiedFirst) {
    ReuseHistogram histogram;
    histogram.first_uses = 7;
    Schedule s = product(10);
    const StepFloor as_they_are = first(s, round_peaks(), ToldReuse(10, 20, histogram));
    std::get<SpmmStep>(s.steps[0].operation).bf16 = true;
    const PackedPanel packed = packed_panel(s, std::get<SpmmStep>(s.steps[0].operation), 0);
    ASSERT_EQ(packed.element_bytes, 2);
    const auto row = static_cast<double>(packed.row_bytes() * packed.slices);
    const StepFloor copied = first(s, round_peaks(), ToldReuse(10, 20, histogram));
    EXPECT_EQ(copied.bytes_with_reuse - as_they_are.bytes_with_reuse, (4 + 2 * 2) * 10 * 8 + 20 * 7 * (row - 4 * 8));
}

// 1000 rows of 32 bytes: the result of the last epoch lies 64,000 bytes back.
TEST(Floor, FirstUsesComeFromWhereTheOperandIs) {
    ReuseHistogram histogram;
    histogram.first_uses = 7;
    const ToldReuse graph(1000, 20, histogram);
    const StepFloor floor = first(product(1000), round_peaks(), graph);
    const auto starts = static_cast<double>(row_start_bytes(Blocking{}, 20) * 1001 + 8 * 20);
    EXPECT_EQ(floor.bytes, 10 * (7 * 32 + starts) + 2 * 32'000);
    EXPECT_EQ(floor.bytes_with_reuse, 10 * starts + 100 * 7 * 32 + 2 * 32'000);
}

// An operand is near that the step before has just written, and far away if the last epoch has touched it last.
TEST(Floor, OperandsAreAsFarAwayAsWhatWasTouchedSince) {
    const MapStep copy{MapOp::copy, 0, {}, 1, 1, Activation::none, false};
    const MapStep next{MapOp::copy, 1, {}, 2, 1, Activation::none, false};
    Schedule s;
    s.tensors = {dense("a", 100, 10), dense("b", 100, 10), dense("c", 100, 10)};
    s.steps = {{"copy", Phase::epoch, copy}, {"next", Phase::epoch, next}};
    const auto accesses = accesses_of(s, UniformStats(100, 100, true), 0, true);
    ASSERT_EQ(accesses[1].reads.size(), 1U);
    EXPECT_EQ(accesses[1].reads[0].distance, 3 * 4000) << "a, b and once more b";
    EXPECT_EQ(accesses[0].reads[0].distance, 5 * 4000) << "the whole epoch, and a";
}

TEST(Floor, OfExchanges) {
    const Grid grid{1, 2, 1};
    const Schedule moved = alone({dense("a", 100, 8, layout_c()), dense("b", 100, 8)}, RedistributeStep{0, 1}, grid);
    EXPECT_EQ(first(moved).bytes, (1 + 2) * 50 * 8 * 4);
    EXPECT_EQ(first(moved).link, 0) << "on one node";
    Peaks network = round_peaks();
    network.link_bytes_per_second = 0.1;
    EXPECT_EQ(first(moved, network).link, 10 * 50 * 4 * 4);
    EXPECT_EQ(first(moved, network).bound(), Bound::link);
    const Tensor gradient{"dW", Role::transient, DType::f32, 4, 3, layout_partial()};
    EXPECT_EQ(first(alone({gradient}, AllReduceStep{0}, grid)).bytes, (1 + 2) * 48);
    EXPECT_EQ(first(alone({gradient}, AllReduceStep{0})).seconds(), 0) << "one rank has nothing to sum";
}

TEST(Floor, ReadingHidesBehindWritingAsFarAsCopiesSay) {
    Peaks peaks = round_peaks();
    EXPECT_EQ(peaks.together(3, 5), 8);
    peaks.exposed = 0.5;
    EXPECT_EQ(peaks.together(3, 5), 6.5);
    EXPECT_EQ(peaks.together(5, 3), 6.5);
}

// A plan of a product and an activation on 10 x 4, which 2 ranks share, and a run of it that is as fast as can be.
struct TrainingRun {
    Plan plan;
    RunReport report;
    UniformStats graph{10, 20, true};

    TrainingRun() {
        const MapStep activate{MapOp::activate, 2, {}, {}, 1, Activation::relu, false};
        const MapStep drop{MapOp::dropout, 0, {}, 3, 1, Activation::none, true};
        Schedule& schedule = plan.candidates.emplace_back().schedule;
        schedule.grid = {2, 1, 1};
        schedule.tensors = {dense("H", 11, 4), weight(4, 3), dense("Z", 11, 3), dense("X", 11, 4)};
        schedule.steps = {{"setup", Phase::setup, drop},
                          {"drop", Phase::epoch, drop},
                          {"gemm", Phase::epoch, GemmStep{0, 1, 2, false}},
                          {"activate", Phase::epoch, activate}};
        plan.fingerprints.content = report.fingerprints.content = "this";
        report.ranks = 2;
        report.measured.epoch_seconds = 1000;
        for (const char* name : {"drop", "gemm", "activate"}) report.steps.emplace_back().name = name;
        const EpochFloor floor = lay();
        for (std::size_t i = 0; i < floor.rows.size(); ++i)
            report.steps[i].measured_seconds = floor.rows[i].floor.seconds();
    }
    EpochFloor lay() const { return lay_beside(plan, report, graph, round_peaks()); }
};

// 6 rows of 11 are on the rank that has the most; each of its operands is one that the epoch has touched before.
TEST(Run, SumsAreOfTheSlowestRank) {
    const EpochFloor floor = TrainingRun().lay();
    const double gemm = 4 * (6 * 4 + 4 * 3) + 2 * 4 * 6 * 3, activate = (1 + 2) * 4 * 6 * 3;
    ASSERT_EQ(floor.rows.size(), 3U);
    EXPECT_EQ(floor.rows[0].floor.seconds(), 0) << "nothing is dropped";
    EXPECT_EQ(floor.rows[1].floor.seconds(), gemm);
    EXPECT_EQ(floor.rows[2].floor.seconds(), activate);
    EXPECT_EQ(floor.sum, gemm + activate);
    EXPECT_EQ(floor.fused, gemm);
    EXPECT_EQ(floor.measured, 1000);
}

TEST(Run, DroppingFeaturesCountsWhereTheRunDidSo) {
    TrainingRun run;
    run.report.settings.emplace().input_dropout = 0.5;
    EXPECT_EQ(run.lay().rows[0].floor.seconds(), (1 + 2) * 4 * 6 * 4);
}

TEST(Run, AKernelThatRunsTwiceDoublesItsRatio) {
    TrainingRun run;
    EXPECT_EQ(run.lay().rows[1].ratio(), 1);
    EXPECT_EQ(run.lay().rows[1].excess(), 0);
    run.report.steps[1].measured_seconds *= 2;
    const EpochFloor floor = run.lay();
    EXPECT_EQ(floor.rows[1].ratio(), 2);
    EXPECT_EQ(floor.rows[1].excess(), floor.rows[1].floor.seconds());
    EXPECT_EQ(floor.rows[2].ratio(), 1);
}

// For 30 of 100 s the latest rank still does what comes before. Reports of earlier versions do not say.
TEST(Run, WaitingIsWhatDoesNotMoveTheLatestRankOn) {
    TrainingRun run;
    run.report.steps[1].measured_seconds = run.report.steps[2].measured_seconds = 100;
    run.report.steps[1].advance_seconds = 70;
    EXPECT_EQ(run.lay().rows[1].waiting, 30);
    EXPECT_EQ(run.lay().rows[2].waiting, 0);
    run.report.steps[1].advance_seconds = 110;
    EXPECT_EQ(run.lay().rows[1].waiting, 0);
}

TEST(Run, TheLargestExcessComesFirst) {
    TrainingRun run;
    run.report.steps[2].measured_seconds += 5;
    run.report.steps[1].measured_seconds += 1;
    EpochFloor floor = run.lay();
    sort_by_excess(floor);
    EXPECT_EQ(floor.rows[0].name, "activate");
    EXPECT_EQ(floor.rows[1].name, "gemm");
}

TEST(Run, ATableAndJsonSayTheSame) {
    const TrainingRun run;
    Peaks peaks = round_peaks();
    peaks.memory_bytes = 20'000;
    const std::string text = floor_text(run.lay(), run.report, peaks);
    EXPECT_THAT(text, ContainsRegex("gemm +288000.00 +bytes +288000.00 +288000.00 +1.00 +0.00 +0.00 +29 %"));
    EXPECT_THAT(text, HasSubstr("epoch: fused"));
    const io::Document json = floor_json(run.lay(), run.report, peaks);
    EXPECT_EQ(*json.find("sum_seconds")->get_if<double>(), run.lay().sum);
    const auto& steps = *json.find("steps")->get_if<io::Document::Array>();
    EXPECT_EQ(*steps.at(1).find("ratio")->get_if<double>(), 1);
    EXPECT_TRUE(steps.at(0).find("ratio")->get_if<std::monostate>()) << "what does nothing has no ratio";
}

// The message and the code with which a report is refused.
void expect_refused(const std::function<void(TrainingRun&)>& change, ErrorCode code, const char* message) {
    TrainingRun run;
    check_report(run.plan, run.report, "run.json");
    change(run);
    try {
        check_report(run.plan, run.report, "run.json");
        ADD_FAILURE() << "not refused: " << message;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(message));
        EXPECT_EQ(error.where(), "run.json");
        EXPECT_FALSE(error.hint().empty());
    }
}

TEST(Report, IsRefusedWhereItSaysNothingOfThePlan) {
    expect_refused([](TrainingRun& run) { run.report.fingerprints.content = "that"; }, ErrorCode::mismatch,
                   "of another plan");
    expect_refused([](TrainingRun& run) { run.report.task = Task::infer; }, ErrorCode::mismatch, "an inference");
    expect_refused([](TrainingRun& run) { run.report.backend = "cuda"; }, ErrorCode::mismatch, "an accelerator");
    expect_refused([](TrainingRun& run) { run.report.oversubscribed = true; }, ErrorCode::mismatch, "more threads");
    expect_refused([](TrainingRun& run) { run.report.steps.clear(); }, ErrorCode::data, "no measured steps");
    expect_refused([](TrainingRun& run) { run.report.chosen = 1; }, ErrorCode::data, "not in the plan");
    expect_refused([](TrainingRun& run) { run.report.steps[1].name = "other"; }, ErrorCode::data,
                   "not those of the plan");
}

}  // namespace
}  // namespace gnnplan::bench
