// Questions as types: problems and machines without a command line, and with nothing printed.
#include "tests/support/test_files.hpp"
#include "tools/ask/machine.hpp"
#include "tools/ask/plan_data.hpp"
#include "tools/ask/problem.hpp"

#include <gnnplan/base/option.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace gnnplan::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Network gat(int heads) {
    Network network;
    network.model.name = "gat";
    network.model.heads = heads;
    return network;
}

Error error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    return {ErrorCode::internal, "no error"};
}

TEST(Ask, SizesMakeAProblem) {
    Shape shape;
    shape.vertices = 1000;
    shape.nonzeros = 8000;
    shape.widths = {16, 8, 4};
    shape.ranks = 4;
    const LoadedProblem loaded = load_problem(shape, {}, gat(2));
    EXPECT_EQ(loaded.problem.record.model.widths, shape.widths);
    EXPECT_EQ(loaded.problem.record.ranks, 4);
    EXPECT_EQ(loaded.problem.record.loading, Loading::whole);
    EXPECT_EQ(loaded.problem.graph->vertices(), 1000);
    EXPECT_EQ(loaded.dataset, nullptr);
    EXPECT_TRUE(loaded.notes.empty());
}

TEST(Ask, TheLibraryMakesTheSameProblem) {
    Shape shape;
    shape.graph = "reddit";
    shape.ranks = 8;
    for (const char* model : {"gcn", "sage", "gin", "gat", "agnn"}) {
        for (const Task task : {Task::train, Task::infer}) {
            Network network;
            network.model.name = model;
            network.task = task;
            const LoadedProblem loaded = load_problem(shape, {}, network);
            ProblemRecord question;
            question.model.name = model;
            question.model.widths = {602, 128, 41};
            question.task = task;
            question.loading = loaded.problem.record.loading;
            question.ranks = 8;
            const OrderAdvice own = select_orders(make_problem(question, card("reddit")), preset("a6000x8"));
            const SelectResult result = select(loaded.problem, preset("a6000x8"));
            ASSERT_TRUE(result) << model << ": " << result.message;
            const Candidate& chosen = result.selection->plan.candidates.front();
            EXPECT_EQ(own.forward, chosen.configuration.forward) << model;
            EXPECT_EQ(own.backward, chosen.configuration.backward) << model;
            EXPECT_EQ(own.grid, chosen.configuration.grid) << model;
            EXPECT_EQ(own.epoch_seconds, chosen.predicted.epoch_seconds) << model;
        }
    }
}

TEST(Ask, APlanSaysWhichDataItIsFor) {
    const data::files::TempFolder folder;
    Shape shape;
    shape.graph = folder.write("e.txt", "0 1\n1 2\n2 3\n").string();
    shape.features = 4;
    shape.classes = 2;
    shape.ranks = 2;
    Network network;
    network.loading = Loading::sharded;
    const LoadedProblem loaded = load_problem(shape, {}, network);
    SelectResult result = select(loaded.problem, preset("a6000x8"));
    ASSERT_TRUE(result) << result.message;
    Plan& plan = result.selection->plan;
    note_data(plan, loaded);
    EXPECT_EQ(plan.fingerprints.graph, loaded.dataset->fingerprint());
    EXPECT_FALSE(plan.fingerprints.listing.empty());
    EXPECT_EQ(plan.candidates.front().predicted.dealt_bytes.size(), 2U);
}

TEST(Ask, OneFanoutIsOfAllLayers) {
    Shape shape;
    shape.graph = "reddit";
    shape.layers = 3;
    Network network;
    network.task = Task::infer;
    network.fanout = {5};
    const LoadedProblem loaded = load_problem(shape, {}, network);
    EXPECT_THAT(loaded.problem.record.fanout, ElementsAre(5, 5, 5));
    EXPECT_EQ(loaded.problem.record.loading, Loading::sharded);
}

TEST(Ask, NotesOfAGraphAreReturnedAndNotPrinted) {
    const data::files::TempFolder folder;
    Shape shape;
    shape.graph = folder.write("e.txt", "1 2\n2 3\n3 4\n").string();
    shape.features = 4;
    shape.classes = 2;
    testing::internal::CaptureStderr();
    const LoadedProblem loaded = load_problem(shape, {});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ASSERT_EQ(loaded.notes.size(), 3U);
    EXPECT_THAT(loaded.notes[0], StartsWith(shape.graph + ": SNAP edge list, ids from 0"));
    EXPECT_EQ(loaded.notes[1], "note: vertex 0 has no edges: ids from 1? (`index-base 1`)");
    EXPECT_EQ(loaded.notes[2], "note: no edge comes with its reverse; `symmetrise` if undirected");
    EXPECT_EQ(loaded.problem.record.graph.vertices, 5);
}

TEST(Ask, ErrorsNameTheOption) {
    Shape shape;
    shape.graph = "reddit";
    Network drawing;
    drawing.fanout = {5, 4};
    const Error training = error_of([&] { load_problem(shape, {}, drawing); });
    EXPECT_EQ(option_of(training), "fanout");
    EXPECT_EQ(training.hint(), "give one number");
    EXPECT_EQ(option_of(error_of([&] { check_partition(true, shape, std::nullopt); })), "partition");
    GraphReading from_one;
    from_one.index_base = data::IndexBase::one;
    EXPECT_EQ(option_of(error_of([&] { load_problem(shape, from_one); })), "index-base");
    shape.graph = "./graph";
    EXPECT_EQ(option_of(error_of([&] { check_partition(true, shape, Loading::sharded); })), "partition");
    EXPECT_EQ(error_of([&] { load_problem(shape, {}); }).code(), ErrorCode::missing_input);
    EXPECT_THAT(error_of([&] { load_problem({}, {}); }).what(), HasSubstr("use `graph`, or `vertices` and `nonzeros`"));
}

TEST(Ask, AMachineThatIsNamedHasNoNotes) {
    const ChosenMachine chosen = load_machine("cpu-node", 4);
    EXPECT_EQ(chosen.machine.name, "cpu-node");
    EXPECT_TRUE(chosen.notes.empty());
}

}  // namespace
}  // namespace gnnplan::tools
