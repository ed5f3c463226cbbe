// Problems and machines as a program asks for them, and the plans that it writes.
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gnnplan/io.hpp>
#include <gnnplan/models.hpp>
#include <gnnplan/question.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

namespace gnnplan {
namespace {

using testing::HasSubstr;

ProblemRecord asking(const char* model, const char* aggregator = "") {
    ProblemRecord question;
    question.model.name = model;
    question.model.aggregator = aggregator;
    question.model.widths = {602, 128, 41};
    question.ranks = 8;
    return question;
}

Error error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    return {ErrorCode::internal, "no error"};
}

TEST(MakeProblem, FillsInWhatFollowsFromGraphAndModel) {
    const GraphSizes reddit = card("reddit");
    const Problem gcn = make_problem(asking("gcn"), reddit);
    EXPECT_EQ(gcn.record.graph.nonzeros, 114'848'857);
    EXPECT_TRUE(gcn.record.graph.self_loops);
    EXPECT_EQ(gcn.record.graph.normalisation, Normalisation::symmetric);
    EXPECT_EQ(gcn.record.graph.name, "reddit");
    EXPECT_EQ(gcn.graph->nonzeros(), gcn.record.graph.nonzeros);
    EXPECT_EQ(gcn.ops.ops.size(), models::build(gcn.record).ops.size());

    const Problem sage = make_problem(asking("sage"), reddit);
    EXPECT_EQ(sage.record.graph.nonzeros, 114'848'857 - 232'965);
    EXPECT_FALSE(sage.record.graph.self_loops);
    EXPECT_EQ(sage.record.graph.normalisation, Normalisation::row_mean);
    EXPECT_EQ(sage.record.model.aggregator, "mean");
    EXPECT_EQ(make_problem(asking("sage", "sum"), reddit).record.graph.normalisation, Normalisation::none);
    EXPECT_EQ(make_problem(asking("gcn"), reddit, Normalisation::row_mean).record.graph.normalisation,
              Normalisation::row_mean);
}

TEST(MakeProblem, TakesSizesAsTheyAre) {
    const Problem sage = make_problem(asking("sage"), {.vertices = 10, .nonzeros = 9, .symmetric = false});
    EXPECT_EQ(sage.record.graph.nonzeros, 9);
    EXPECT_FALSE(sage.record.graph.symmetric);
    EXPECT_THAT(error_of([] { make_problem(asking("gcn"), {.vertices = 10, .nonzeros = 9}); }).what(),
                HasSubstr("9 nonzeros are fewer than the self loops of 10 vertices"));
    EXPECT_THAT(error_of([] { make_problem(asking("gcn"), {.vertices = 10, .nonzeros = 101}); }).what(),
                HasSubstr("101 nonzeros do not fit a matrix of 10 rows"));
    EXPECT_EQ(error_of([] { make_problem(asking("gcn"), GraphSizes{}); }).code(), ErrorCode::usage);
    EXPECT_EQ(error_of([] { make_problem(asking("gnc"), card("reddit")); }).code(), ErrorCode::usage);
    EXPECT_EQ(error_of([] { card("redit"); }).code(), ErrorCode::missing_input);
}

TEST(MakeProblem, KeepsItsGraph) {
    std::weak_ptr<const GraphStats> watched;
    Problem problem;
    {
        auto graph = std::make_shared<UniformStats>(100, 500, true, 0.5);
        watched = graph;
        problem = make_problem(asking("gcn"), std::move(graph));
    }
    ASSERT_FALSE(watched.expired());
    EXPECT_EQ(problem.record.graph.vertices, 100);
    EXPECT_EQ(problem.graph->training_vertices(), 50);
}

TEST(MakeProblem, DrawsForInference) {
    ProblemRecord question = asking("gcn");
    question.task = Task::infer;
    question.fanout = {5, 5};
    const Problem problem = make_problem(question, card("reddit"));
    EXPECT_EQ(problem.graph->samples(), 2);
    EXPECT_EQ(problem.graph->row_nonzeros(MatrixId(true, 1), {0, 232'965}), 6 * 232'965);
    EXPECT_TRUE(static_cast<bool>(select(problem, preset("a6000x8"))));
}

TEST(FindMachine, TakesNamesFilesAndCalibrations) {
    const test::TemporaryFolder folder;
    ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);  // nothing is kept there
    EXPECT_EQ(find_machine("").name, "cpu-node");
    EXPECT_EQ(find_machine("a6000x8").name, "a6000x8");
    Machine mine = preset("a6000x8");
    mine.name = "mine";
    const std::string file = folder / "mine.json";
    io::write_file_atomically(file, io::write_machine(mine));
    EXPECT_EQ(find_machine(file).name, "mine");
}

TEST(FindMachine, SaysHowToDescribeAMachineOfYourOwn) {
    const std::string how = "`machines-new/` makes a profile of a machine of your own";
    EXPECT_THAT(error_of([] { find_machine("h1000"); }).what(), HasSubstr(how));
    const Error no_file = error_of([] { find_machine("no/such.json"); });
    EXPECT_EQ(no_file.code(), ErrorCode::missing_input);
    EXPECT_THAT(no_file.what(), HasSubstr("there is no such file"));
    EXPECT_EQ(no_file.hint(), how);
}

TEST(WritePlan, IsReadAgainWithItsAlternatives) {
    const test::TemporaryFolder folder;
    const Problem problem = make_problem(asking("gcn"), card("reddit"));
    const SelectResult result = select(problem, preset("a6000x8"));
    ASSERT_TRUE(result) << result.message;
    const std::string file = folder / "plan.json";
    write_plan(file, result.selection->plan);
    const Plan read = read_plan(file);
    EXPECT_EQ(read.candidates.front().configuration, result.selection->plan.candidates.front().configuration);
    EXPECT_FALSE(read.alternatives.empty());
    EXPECT_EQ(read.alternatives.size(), result.selection->plan.alternatives.size());
    EXPECT_THAT(read.tool_version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(error_of([&] { write_plan("/no/such/folder/plan.json", read); }).code(), ErrorCode::cannot_create);
}

}  // namespace
}  // namespace gnnplan
