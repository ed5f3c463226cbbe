// Spaces in which each rank has a number of rows of its own. No lowering makes them yet: the schedule is made by hand.
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <functional>
#include <string>
#include <vector>

namespace gnnplan {
namespace {

constexpr std::int64_t width = 24, classes = 8;
constexpr int clones = 1;  // the private space
enum Id : TensorId { features, weight, logits, labels, subset, loss, gradient, shared };

// A linear map of the private rows, its loss and its update; and one step on rows of all vertices.
Schedule schedule_on(const Grid& grid, const std::vector<std::int64_t>& first_rows) {
    Schedule s;
    s.grid = grid;
    const std::int64_t rows = first_rows.back();
    s.spaces = {{"vertices", 40, 0}, {"clones", rows, 0, first_rows}};
    s.parameters = {{"layers.1.weight", "W", {width, classes}, Init::glorot}};
    s.tensors = {{"X", Role::features, DType::f32, rows, width, layout_r()},
                 {"W", Role::weight, DType::f32, width, classes, layout_replicated()},
                 {"Z", Role::transient, DType::f32, rows, classes, layout_r()},
                 {"labels", Role::labels, DType::i32, rows, 1, layout_r()},
                 {"subset", Role::subset, DType::u8, rows, 1, layout_r()},
                 {"loss", Role::transient, DType::f64, 1, 1, layout_partial()},
                 {"Y", Role::transient, DType::f32, width, classes, layout_partial()},
                 {"H", Role::features, DType::f32, 40, width, layout_r()},
                 {"H.copy", Role::transient, DType::f32, 40, width, layout_r()}};
    for (const Id id : {features, logits, labels, subset}) s.tensors[id].space = clones;
    s.tensors[shared].space = s.tensors[shared + 1].space = 0;
    s.tensors[weight].parameter = 0;
    const std::vector<std::pair<std::string, Operation>> steps = {
        {"gemm", GemmStep{features, weight, logits, false}},
        {"loss", LossStep{logits, labels, subset, loss}},
        {"loss.all_reduce", AllReduceStep{loss}},
        {"weight_grad", WeightGradStep{features, logits, gradient}},
        {"all_reduce", AllReduceStep{gradient}},
        {"update", UpdateStep{weight, gradient, {}, {}, Optimiser::sgd}},
        {"copy", MapStep{MapOp::copy, shared, {}, shared + 1, 0, Activation::none, false}}};
    for (const auto& [name, operation] : steps) s.steps.push_back({name, Phase::epoch, operation});
    return s;
}

const Step& step_named(const Schedule& schedule, const std::string& name) {
    for (const Step& step : schedule.steps) {
        if (step.name == name) return step;
    }
    throw Error(ErrorCode::internal, "no such step", name);
}

struct Case {
    Grid grid;
    std::vector<std::int64_t> first_rows;
};
const std::vector<Case> cases = {{{3, 1, 1}, {0, 5, 5, 14}}, {{2, 2, 1}, {0, 1, 34, 40, 64}}, {{1, 1, 2}, {0, 50, 90}}};

TEST(PrivateRows, EachRankHasItsOwn) {
    const UniformStats graph(40, 200, true);
    for (const Case& of : cases) {
        const Schedule schedule = schedule_on(of.grid, of.first_rows);
        ASSERT_NO_THROW(validate(schedule));
        for (int rank = 0; rank < of.grid.size(); ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            const Range rows{of.first_rows[at], of.first_rows[at + 1]};
            EXPECT_EQ(block_of(schedule, features, rank), (Block{rows, {0, width}}));
            EXPECT_EQ(block_bytes(schedule, logits, rank), 4 * rows.size() * classes);
            EXPECT_EQ(rows_of(schedule, schedule.tensors[shared], rank),
                      block_of(40, width, layout_r(), of.grid, rank).rows);
            const RankWork work = work_of(schedule, step_named(schedule, "gemm"), graph, rank);
            EXPECT_EQ(work.dense_flops, static_cast<double>(2 * rows.size() * width * classes));
            EXPECT_EQ(work_of(schedule, step_named(schedule, "loss"), graph, rank).loss_rows,
                      static_cast<double>(rows.size()));
        }
    }
}

TEST(PrivateRows, MemoryIsThatOfEachRank) {
    const UniformStats graph(40, 200, true);
    for (const Case& of : cases) {
        const Schedule schedule = schedule_on(of.grid, of.first_rows);
        std::int64_t peak = 0;
        for (int rank = 0; rank < of.grid.size(); ++rank) {
            const MemoryPlan plan = plan_memory(schedule, graph, rank);
            const auto bytes = [&](TensorId id) { return aligned(block_bytes(schedule, id, rank)); };
            // Residents, and of the transients those that live at once: Z with the loss, or with Y, and the copy alone.
            std::int64_t residents = 0;
            for (const TensorId id : {features, weight, labels, subset, shared}) residents += bytes(id);
            const std::int64_t together = bytes(logits) + std::max(bytes(loss), bytes(gradient));
            const std::int64_t least = residents + std::max(together, bytes(shared + 1));
            EXPECT_GE(plan.arena_bytes, least) << rank;
            EXPECT_LE(plan.arena_bytes, least + bytes(loss) + bytes(gradient) + aligned(4 * width * classes)) << rank;
            peak = std::max(peak, plan.peak_bytes);
        }
        EXPECT_EQ(peak_bytes_per_rank(schedule, graph), peak);
    }
}

TEST(PrivateRows, BytesAreThoseOfSumsAlone) {
    const UniformStats graph(40, 200, true);
    for (const Case& of : cases) {
        const Schedule schedule = schedule_on(of.grid, of.first_rows);
        for (const char* local : {"gemm", "loss", "weight_grad", "update"})
            EXPECT_TRUE(messages_of(schedule, step_named(schedule, local), graph).empty()) << local;
        std::int64_t bytes = 0;
        for (const Message& message : messages_of(schedule, step_named(schedule, "all_reduce"), graph))
            bytes += message.bytes;
        EXPECT_EQ(bytes, 2 * (of.grid.size() - 1) * 4 * width * classes) << "as of any gradient";
    }
}

TEST(PrivateRows, NoTwoRanksAreAlike) {
    for (const Case& of : cases) {
        const Schedule schedule = schedule_on(of.grid, of.first_rows);
        const auto ranks = static_cast<std::size_t>(of.grid.size());
        EXPECT_EQ(rank_classes(schedule).representative.size(), ranks);
        EXPECT_EQ(size_classes(schedule).representative.size(), ranks);
        StepClasses steps;
        for (const char* apart : {"gemm", "loss", "weight_grad"})
            EXPECT_EQ(steps.of(schedule, step_named(schedule, apart).operation).representative.size(), ranks) << apart;
        for (const char* alike : {"update", "all_reduce"})
            EXPECT_LT(steps.of(schedule, step_named(schedule, alike).operation).representative.size(), ranks) << alike;
        EXPECT_FALSE(local_by_size(schedule, step_named(schedule, "gemm").operation));
        EXPECT_TRUE(local_by_size(schedule, step_named(schedule, "copy").operation)) << "shared rows";
    }
}

TEST(PrivateRows, StepsOnOtherRowsHaveOtherSignatures) {
    Schedule schedule = schedule_on({3, 1, 1}, {0, 5, 5, 14});
    const Operation& gemm = step_named(schedule, "gemm").operation;
    const std::string signature = signature_of(schedule, gemm);
    EXPECT_EQ(signature_of(schedule, gemm), signature);
    schedule.spaces.push_back({"others", 14, 0, {0, 1, 2, 14}});
    for (const Id id : {features, logits}) schedule.tensors[id].space = 2;
    EXPECT_NE(signature_of(schedule, gemm), signature);
}

void refused(const std::string& why, const std::function<void(Schedule&)>& damage, const Grid& grid = {3, 1, 1}) {
    Schedule schedule = grid.size() == 3 ? schedule_on(grid, {0, 5, 5, 14}) : schedule_on(grid, {0, 1, 34, 40, 64});
    damage(schedule);
    try {
        validate(schedule);
        FAIL() << "accepted, though " << why;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data) << why << ": " << error.what();
    }
}

TEST(PrivateRows, WrongOnesAreRefused) {
    const auto first = [](Schedule & s) -> auto& { return s.spaces[clones].first_rows; };
    refused("a rank has none", [&](Schedule& s) { first(s).pop_back(), first(s).back() = 14; });
    refused("the first rows are nobody's", [&](Schedule& s) { first(s).front() = 1; });
    refused("the last rows are nobody's", [&](Schedule& s) { first(s).back() = 13; });
    refused("ranks overlap", [&](Schedule& s) { first(s)[1] = 6; });
    refused("the loss has its own rows", [&](Schedule& s) { s.spaces[clones].needed_of = 1; });
    refused("vertices are shared", [](Schedule& s) { s.spaces[0].first_rows = {0, 10, 20, 40}; });
    refused("a tensor is of other rows", [](Schedule& s) { s.tensors[features].rows = 15; });
    refused("columns are split", [](Schedule& s) { s.tensors[features].layout = layout_c(); }, {2, 2, 1});
    refused("rows are on several ranks", [](Schedule& s) { s.tensors[labels].layout = layout_f(); }, {2, 2, 1});
    const auto matrix = [](Schedule& s) -> Tensor& {
        s.tensors.push_back({"A^T", Role::adjacency, DType::f32, 14, 40, {layout_r().rows, {}, {}}, true});
        s.tensors.back().column_space = 0;
        return s.tensors.back();
    };
    refused("a matrix has rows of them", [&](Schedule& s) { matrix(s).space = clones; });
    refused("rows move", [](Schedule& s) {
        s.steps.push_back({"move", Phase::epoch, RedistributeStep{features, shared + 1}});
    });
}

}  // namespace
}  // namespace gnnplan
