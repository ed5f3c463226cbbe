#include "planner/io/plan.hpp"

#include "planner/io/fingerprint.hpp"
#include "planner/io/older_choice.hpp"
#include "planner/io/parse.hpp"
#include "tests/planner/io/expect_error.hpp"
#include "tests/planner/io/samples.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace gnnplan::io {
namespace {

using nlohmann::json;
using test::expect_error;
using test::sample_plan;

json sample_json() { return json::parse(write_plan(sample_plan())); }

// The document as a program that knows the fingerprint rule would have written it.
std::string resealed(json document) {
    const Document content = parse(document.dump(), "resealed");
    document["fingerprints"]["content"] = content_fingerprint(content);
    return document.dump();
}

// Applies one change to the chosen candidate in both of its places, so that only the change itself can be refused.
json with_chosen(const json& patch) {
    json document = sample_json();
    document["candidates"][0] = document["candidates"][0].patch(patch);
    for (const char* key : {"configuration", "schedule", "predicted"}) document[key] = document["candidates"][0][key];
    return document;
}

void expect_refused(const std::string& text, const std::string& message) {
    expect_error([&] { read_plan(text, "plan.json"); }, ErrorCode::data, message);
}

TEST(Plan, SampleIsValidAndHasEveryKindOfStep) {
    EXPECT_NO_THROW(validate(sample_plan()));
    std::set<std::size_t> kinds;
    const Plan plan = sample_plan();
    for (const Step& step : plan.candidates[0].schedule.steps) kinds.insert(step.operation.index());
    // Sums of a cut, and of clones, go with numberings that exclude the sample's, and ranks with labels that do:
    // tests/integration has them (cut_test.cpp, shared_clones_test.cpp, every_model_test.cpp).
    EXPECT_EQ(kinds.size() + 3, std::variant_size_v<Operation>);
}

TEST(Plan, RoundTrip) {
    const std::string text = write_plan(sample_plan());
    const Plan plan = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(plan), text);
    EXPECT_EQ(plan.command_line, sample_plan().command_line);
    EXPECT_EQ(plan.problem.graph.seed, 42U);
    EXPECT_EQ(plan.problem.graph.normalisation, Normalisation::row_mean);
    EXPECT_EQ(plan.candidates[0].predicted.step_seconds, sample_plan().candidates[0].predicted.step_seconds);
    EXPECT_EQ(plan.fingerprints.machine, machine_fingerprint(plan.machine));
}

TEST(Plan, StepsReadBackWithTheirOperands) {
    const Schedule expected = sample_plan().candidates[0].schedule;
    const Schedule read = read_plan(write_plan(sample_plan()), "plan.json").candidates[0].schedule;
    ASSERT_EQ(read.steps.size(), expected.steps.size());
    EXPECT_EQ(read.grid, expected.grid);
    EXPECT_EQ(read.numbering, expected.numbering);
    for (std::size_t i = 0; i < expected.steps.size(); ++i) {
        EXPECT_EQ(read.steps[i].operation.index(), expected.steps[i].operation.index());
        EXPECT_EQ(operands_of(read.steps[i].operation).reads, operands_of(expected.steps[i].operation).reads);
        EXPECT_EQ(operands_of(read.steps[i].operation).writes, operands_of(expected.steps[i].operation).writes);
        EXPECT_EQ(read.steps[i].phase, expected.steps[i].phase);
    }
    for (std::size_t i = 0; i < expected.steps.size(); ++i) {
        const auto* spmm = std::get_if<SpmmStep>(&expected.steps[i].operation);
        if (spmm == nullptr) continue;
        EXPECT_EQ(std::get<SpmmStep>(read.steps[i].operation).exchange, spmm->exchange);
        EXPECT_EQ(std::get<SpmmStep>(read.steps[i].operation).overlap, spmm->overlap);
    }
    for (std::size_t i = 0; i < expected.tensors.size(); ++i) {
        EXPECT_EQ(read.tensors[i].name, expected.tensors[i].name);
        EXPECT_EQ(read.tensors[i].layout, expected.tensors[i].layout);
        EXPECT_EQ(read.tensors[i].role, expected.tensors[i].role);
        EXPECT_EQ(read.tensors[i].dtype, expected.tensors[i].dtype);
    }
}

// The sample is a plan for CPUs, as plans of older versions are, too.
TEST(Plan, SchedulesHaveTheBlockingOfTheMachine) {
    EXPECT_FALSE(sample_json()["machine"].contains("blocking"));
    EXPECT_EQ(read_plan(write_plan(sample_plan()), "plan.json").candidates[1].schedule.blocking, Blocking{});
    Plan plan = sample_plan();
    plan.machine.blocking = gpu_blocking(6'000'000);
    EXPECT_THROW(write_plan(plan), Error) << "schedules that were lowered for another machine";
    for (Candidate& candidate : plan.candidates) candidate.schedule.blocking = plan.machine.blocking;
    const std::string text = write_plan(plan);
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    for (const Candidate& candidate : read.candidates) EXPECT_EQ(candidate.schedule.blocking, plan.machine.blocking);
}

TEST(Plan, Bf16HasKeysWhereItIs) {
    Plan plan = sample_plan();
    Candidate& candidate = plan.candidates[0];
    candidate.configuration.bf16 = true;
    std::vector<SpmmStep*> products;
    for (Step& step : candidate.schedule.steps) {
        auto* spmm = std::get_if<SpmmStep>(&step.operation);
        if (spmm != nullptr && spmm->can_round()) products.push_back(spmm);
    }
    ASSERT_FALSE(products.empty());
    for (SpmmStep* product : products) product->bf16 = true;
    const std::string text = write_plan(plan);
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    EXPECT_TRUE(read.candidates[0].configuration.bf16);
    EXPECT_FALSE(read.candidates[1].configuration.bf16);
    const auto count = [&](const Candidate& of) {
        return std::ranges::count_if(of.schedule.steps, [](const Step& step) {
            const auto* spmm = std::get_if<SpmmStep>(&step.operation);
            return spmm != nullptr && spmm->bf16;
        });
    };
    EXPECT_EQ(count(read.candidates[0]), std::ssize(products));
    EXPECT_EQ(count(read.candidates[1]), 0);

    products.back()->bf16 = false;
    EXPECT_THROW(validate(plan), Error) << "one product does not round";
    products.back()->bf16 = true;
    candidate.configuration.bf16 = false;
    EXPECT_THROW(validate(plan), Error) << "products round unsaid";
}

TEST(Plan, RoundedMessagesHaveKeysWhereTheyAre) {
    EXPECT_FALSE(sample_json()["configuration"].contains("wire"));
    Plan plan = sample_plan();
    Candidate& candidate = plan.candidates[0];
    candidate.configuration.wire = Wire::bfloat16;
    EXPECT_THROW(validate(plan), Error) << "no message is rounded";
    set_wire(candidate.schedule, Wire::bfloat16);
    const std::string text = write_plan(plan);
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    EXPECT_EQ(read.candidates[0].configuration.wire, Wire::bfloat16);
    EXPECT_FALSE(exact(read.candidates[0].configuration));
    EXPECT_EQ(read.candidates[1].configuration.wire, Wire::fp32);
    const auto rounded = [](const Candidate& of) {
        return std::ranges::count_if(of.schedule.steps,
                                     [](const Step& step) { return wire_of(step.operation) == Wire::bfloat16; });
    };
    EXPECT_GT(rounded(read.candidates[0]), 0);
    EXPECT_EQ(rounded(read.candidates[1]), 0);
    candidate.configuration.wire = Wire::fp32;
    EXPECT_THROW(validate(plan), Error) << "messages are rounded unsaid";
}

// Ranks of the schedule are numbered as the configuration says, which has a key where that is not along y first.
TEST(Plan, TheAxisWithinNodesHasAKeyWhereItIsAnother) {
    EXPECT_FALSE(sample_json()["configuration"].contains("node_axis"));
    Plan plan = sample_plan();
    plan.candidates[1].configuration.node_axis = NodeAxis::x;
    EXPECT_THROW(validate(plan), Error) << "the schedule numbers ranks along y first";
    EXPECT_THROW(write_plan(plan), Error);
    plan.candidates[1].schedule.grid.nearest = Axis::x;
    const std::string text = write_plan(plan);
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    EXPECT_EQ(read.candidates[0].schedule.grid.nearest, Axis::y);
    EXPECT_EQ(read.candidates[1].schedule.grid.nearest, Axis::x);
    EXPECT_EQ(json::parse(text)["candidates"][1]["configuration"]["node_axis"], "x");
}

Plan with_alternatives() {
    Plan plan = sample_plan();
    Alternative alternative{{"scheme", "1d"}, true, plan.candidates[0].configuration, plan.candidates[0].predicted};
    alternative.predicted.step_seconds.clear();
    plan.alternatives = {alternative, alternative};
    plan.alternatives[1].choice = {"overlap", "on"};
    plan.alternatives[1].configuration.overlap = true;
    return plan;
}

TEST(Plan, AlternativesReadBackAndOlderPlansHaveNone) {
    EXPECT_FALSE(sample_json().contains("alternatives"));
    const std::string text = write_plan(with_alternatives());
    const Plan read = read_plan(text, "plan.json");
    EXPECT_EQ(write_plan(read), text);
    ASSERT_EQ(read.alternatives.size(), 2U);
    EXPECT_EQ(read.alternatives[0].choice, (Choice{"scheme", "1d"}));
    EXPECT_TRUE(read.alternatives[0].pinned);
    EXPECT_TRUE(read.alternatives[1].configuration.overlap);
    EXPECT_EQ(read.alternatives[1].predicted.epoch_seconds, 0.0375);
}

// A plan as version 3 wrote it, with these words for its first alternative's choice.
std::string of_version_3(const std::string& choice) {
    json plan = json::parse(write_plan(with_alternatives()));
    plan["schema"] = "gnnplan.plan/3";
    plan["alternatives"][0]["choice"] = choice;
    plan["alternatives"][1]["choice"] = "overlap on";
    return resealed(plan);
}

TEST(Plan, ChoicesWereSentencesUpToVersion3) {
    const std::pair<const char*, Choice> sentences[] = {
        {"scheme 1.5d", {"scheme", "1.5d"}},
        {"grid", {"grid"}},
        {"forward 1 D", {"forward", "D", {{1, 1}}}},
        {"input aggregated every epoch", {"cached_aggregation", "off"}},
        {"nothing kept", {"kept", "nothing"}},
        {"exchange panels", {"exchange", "panels"}},
        {"overlap on", {"overlap", "on"}},
        {"partition off", {"parts", "off"}},
        {"loss rows off", {"loss_rows", "off"}},
        {"scores by dealt rows", {"scores", "dealt_rows"}},
        {"attention recompute", {"attention", "recompute"}},
        {"ring off", {"ring", "off"}},
        {"replicated input off", {"replicated_input", "off"}},
        {"baseline", {"baseline", "pyg"}},
        {"baseline DGL", {"baseline", "dgl"}},
        {"something else", {"something else"}},
    };
    for (const auto& [sentence, choice] : sentences) {
        const Plan read = read_plan(of_version_3(sentence), "plan.json");
        EXPECT_EQ(read.alternatives[0].choice, choice) << sentence;
        EXPECT_EQ(text(read.alternatives[0].choice), sentence);
    }
    EXPECT_EQ(choice_of("backward 2..9 S"), (Choice{"backward", "S", {{2, 9}}}));
    for (const char* other : {"forward", "forward 2", "forward 2. D", "forward 2..9 - D", "forward 2..9 E"})
        EXPECT_EQ(choice_of(other), Choice{other});
}

TEST(Plan, AlternativesAreValidated) {
    const json plan = json::parse(write_plan(with_alternatives()));
    const auto refused = [&](const char* op, const char* path, const json& value, const char* message) {
        expect_refused(resealed(plan.patch({{{"op", op}, {"path", path}, {"value", value}}})), message);
    };
    refused("add", "/alternatives/1/schedule", {}, "alternatives[1]: unknown key \"schedule\"");
    refused("remove", "/alternatives/0/choice", {}, "alternatives[0]: missing key \"choice\"");
    refused("replace", "/alternatives/0/choice/key", "", "alternatives[0].choice.key: must say what differs");
    refused("add", "/alternatives/0/choice/layers", {{"first", 1}, {"last", 2}},
            "alternatives[0].choice.layers: must be the first and the last of some of the model's layers");
    refused("replace", "/alternatives/0/choice", "scheme 1d", "alternatives[0].choice");
    refused("replace", "/alternatives/1/configuration/forward", "SS", "alternatives[1].configuration");
    refused("replace", "/alternatives/1/predicted/epoch_seconds", -1, "alternatives[1].predicted.epoch_seconds");
    refused("replace", "/alternatives/1/predicted/step_seconds", {1}, "alternatives[1].predicted.step_seconds");
    refused("replace", "/alternatives", json::array_t(65, plan["alternatives"][0]), "at most 64 alternatives");
    std::string edited = plan.dump();
    edited.replace(edited.find(R"("key":"overlap")"), 15, R"("key":"overlaps")");
    expect_refused(edited, "does not match its fingerprint");
}

TEST(Plan, HasTheKeysScriptsRelyOn) {
    const json plan = sample_json();
    EXPECT_EQ(plan["schema"], "gnnplan.plan/4");
    EXPECT_EQ(plan["configuration"], json::parse(R"({"id": 0, "scheme": "rdm", "grid": [2, 2, 1], "replication": 2,
        "forward": "S", "backward": "S", "kept": ["T1"], "exchange": "panels", "overlap": false, "permutation": true,
        "exact": true, "constant_input": false, "operands": "T", "cached_aggregation": false,
        "replicated_input": false, "column_loss": false, "loss_rows": true, "parts": 2,
        "factored_values": false})"));
    EXPECT_EQ(plan["schedule"]["numbering"],
              json::parse(R"({"loss_layers": 1, "parts": 2, "permuted": true, "seed": 9})"));
    EXPECT_EQ(plan["candidates"][1]["configuration"]["backward"], "-");
    EXPECT_EQ(plan["candidates"][1]["configuration"]["operands"], "G");
    EXPECT_EQ(plan["candidates"][1]["configuration"]["id"], nullptr);
    EXPECT_EQ(plan["schedule"]["tensors"][10], json::parse(R"({"name": "T.c", "role": "transient", "dtype": "f32",
        "rows": 7, "columns": 3, "layout": {"rows": "xz", "columns": "y", "partial": ""}, "transposed": false,
        "splits": 1, "factored": false, "panel_columns": 0, "structure": null, "space": "vertices",
        "column_space": null, "parameter": null})"));
    EXPECT_EQ(plan["schedule"]["spaces"], json::parse(R"([{"name": "vertices", "rows": 7, "needed_of": 0},
                              {"name": "needed.1", "rows": 7, "needed_of": 1}])"));
    EXPECT_EQ(plan["schedule"]["parameters"][0], json::parse(R"({"name": "layers.1.weight", "symbol": "W1",
        "shape": [3, 2], "init": "glorot", "decays": true})"));
    EXPECT_EQ(plan["schedule"]["steps"][5], json::parse(R"({"name": "forward.activate", "kind": "map", "phase": "epoch",
        "op": "activate", "tensor": "Z", "operand": "b1", "out": null, "layer": 2, "relu": true, "dropout": true,
        "vertices": "vertices", "origin": {"pass": "forward", "layer": 0, "op": "input"}})"));
    EXPECT_EQ(plan["schedule"]["steps"].back(), json::parse(R"({"name": "setup.sum", "kind": "reduce_scatter",
        "phase": "setup", "in": "T.partial", "out": "T.kept",
        "origin": {"pass": "forward", "layer": 0, "op": "input"}})"));
    EXPECT_EQ(plan["predicted"]["epoch_seconds"], 0.0375);
    EXPECT_EQ(plan["predicted"]["total_bytes"], 4096);
    EXPECT_EQ(plan["predicted"]["max_rank_bytes"], 1024);
    EXPECT_EQ(plan["predicted"]["peak_bytes_per_rank"], 65536);
    for (const char* key : {"configuration", "schedule", "predicted"}) EXPECT_EQ(plan[key], plan["candidates"][0][key]);
}

// Grids whose ranks form no groups have no key for these.
TEST(Plan, GroupsAreWritten) {
    EXPECT_FALSE(json::parse(write_plan(sample_plan()))["configuration"].contains("groups"));
    Plan plan = sample_plan();
    for (Candidate& candidate : plan.candidates) {
        Configuration& configuration = candidate.configuration;
        configuration.sharing = Sharing::replicated;
        configuration.grid = {2, plan.problem.ranks / 2, 1};
        configuration.grid.groups = {0, 40, 100};
        configuration.clones = CloneLoss::shares;
        candidate.schedule.grid = configuration.grid_of_ranks();
    }
    const json written = json::parse(write_plan(plan));
    EXPECT_EQ(written["configuration"]["groups"], json::parse("[0, 40, 100]"));
    EXPECT_EQ(written["configuration"]["scheme"], "groups");
    EXPECT_EQ(written["configuration"]["exact"], false);
}

// Plans of programs that did not write what the run will be asked are for the defaults.
TEST(Plan, WithoutTheRunAndTheMemoryAllowed) {
    json plan_json = sample_json();
    EXPECT_EQ(plan_json["problem"]["memory_per_rank_bytes"], 123456789);
    EXPECT_EQ(plan_json["problem"]["run"],
              json::parse(R"({"epochs": 300, "dropout": 0.5, "input_dropout": 0, "eval_every": 10})"));
    plan_json["problem"].erase("memory_per_rank_bytes");
    plan_json["problem"].erase("run");
    plan_json["fingerprints"]["content"] = content_fingerprint(parse(plan_json.dump(), "test"));
    const Plan plan = read_plan(plan_json.dump(), "test");
    EXPECT_EQ(plan.memory_per_rank(), plan.machine.memory_per_rank);
    EXPECT_EQ(plan.problem.run.epochs, 200);
    EXPECT_EQ(plan.problem.run.drops_features(), std::nullopt);
}

TEST(Plan, OtherSpacingAndOrderAreTheSamePlan) {
    const std::string compact = sample_json().dump();  // sorted keys, no blanks
    EXPECT_NE(compact, write_plan(sample_plan()));
    EXPECT_EQ(write_plan(read_plan(compact, "plan.json")), write_plan(sample_plan()));
}

TEST(Plan, CommandLineThatIsNotUtf8) {
    Plan plan = sample_plan();
    plan.command_line = "gnnplan plan --graph caf\xe9";
    EXPECT_EQ(read_plan(write_plan(plan), "p").command_line, "gnnplan plan --graph caf\xef\xbf\xbd");
}

TEST(Plan, EditsAreDetected) {
    json document = sample_json();
    document["machine"]["gemm_flops_per_second"] = 2e12;
    expect_refused(document.dump(),
                   "plan.json: fingerprints.content: the content does not match its fingerprint (the file was "
                   "altered; make the plan again with `plan/`)");
    expect_refused(resealed(document), "fingerprints.machine: not the fingerprint");
    document = sample_json();
    document["candidates"][1]["predicted"]["total_bytes"] = 1;
    expect_refused(document.dump(), "the file was altered");
    EXPECT_NO_THROW(read_plan(resealed(document), "plan.json"));
}

TEST(Plan, TopLevelIsTheFirstCandidate) {
    for (const char* change : {R"([{"op": "replace", "path": "/configuration/loss_rows", "value": false}])",
                               R"([{"op": "replace", "path": "/predicted/estimate", "value": false}])",
                               R"([{"op": "replace", "path": "/schedule/steps/0/name", "value": "other"}])"}) {
        expect_refused(resealed(sample_json().patch(json::parse(change))), "differs from candidates[0].");
    }
}

TEST(Plan, SchemaIsNamed) {
    expect_refused(R"({"schema": "gnnplan.plan/5"})",
                   "schema: unknown version \"gnnplan.plan/5\" (this program reads gnnplan.plan/4, gnnplan.plan/3, "
                   "gnnplan.plan/2 and gnnplan.plan/1)");
    expect_refused(R"({"schema": "gnnplan.run/1"})", "plan.json is a run report: `explain/analyze` plan.json");
    expect_refused(R"({"schema": "gnnplan.comparison/1"})",
                   "plan.json is what `compare/json` printed; this program reads gnnplan.plan/4");
    expect_refused(R"({"schema": "other/1"})", "schema: unknown schema \"other/1\"");
    expect_refused(R"({"schema": 1})", "schema: expected a string");
    expect_refused(R"({})", "missing key \"schema\"");
    expect_refused(R"([])", "plan.json: expected an object");
    expect_refused("graph 7 21", "not valid JSON");
}

struct Refusal {
    const char* op;  // of a JSON patch to the sample
    const char* path;
    const char* value;
    const char* message;
};

class PlanRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(PlanRefuses, NamingTheKey) {
    const Refusal& refusal = GetParam();
    const json patch{{{"op", refusal.op}, {"path", refusal.path}, {"value", json::parse(refusal.value)}}};
    expect_refused(resealed(sample_json().patch(patch)), refusal.message);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, PlanRefuses,
    testing::Values(Refusal{"add", "/colour", "1", "plan.json: unknown key \"colour\""},
                    Refusal{"add", "/problem/graph/colour", "1", "plan.json: problem.graph: unknown key \"colour\""},
                    Refusal{"add", "/machine/intra_node/mtu", "1", "machine.intra_node: unknown key \"mtu\""},
                    Refusal{"add", "/schedule/tensors/2/colour", "1", "schedule.tensors[2]: unknown key \"colour\""},
                    Refusal{"add", "/schedule/steps/3/colour", "1", "schedule.steps[3]: unknown key \"colour\""},
                    Refusal{"add", "/candidates/1/colour", "1", "candidates[1]: unknown key \"colour\""},
                    Refusal{"add", "/candidates/1/schedule/tensors/0/layout/t", "1",
                            "candidates[1].schedule.tensors[0].layout: unknown key \"t\""},
                    Refusal{"add", "/fingerprints/colour", "1", "fingerprints: unknown key \"colour\""},
                    Refusal{"remove", "/problem", "0", "plan.json: missing key \"problem\""},
                    Refusal{"remove", "/predicted/total_bytes", "0", "predicted: missing key \"total_bytes\""},
                    Refusal{"remove", "/schedule/steps/2/in", "0", "schedule.steps[2]: missing key \"in\""},
                    Refusal{"remove", "/configuration/parts", "0", "configuration: missing key \"parts\""},
                    Refusal{"remove", "/schedule/numbering", "0", "schedule: missing key \"numbering\""},
                    Refusal{"add", "/schedule/numbering/colour", "1", "schedule.numbering: unknown key \"colour\""},
                    Refusal{"remove", "/candidates", "0", "missing key \"candidates\""},
                    Refusal{"remove", "/machine/spmm/0/width", "0", "machine.spmm[0]: missing key \"width\""}));

INSTANTIATE_TEST_SUITE_P(
    Types, PlanRefuses,
    testing::Values(
        Refusal{"replace", "/tool_version", "1", "tool_version: expected a string"},
        Refusal{"replace", "/problem", "[]", "problem: expected an object"},
        Refusal{"replace", "/problem/ranks", "\"4\"", "problem.ranks: expected an integer from 1 to 1048576"},
        Refusal{"replace", "/problem/ranks", "4.5", "problem.ranks: expected an integer"},
        Refusal{"replace", "/problem/ranks", "true", "problem.ranks: expected an integer"},
        Refusal{"replace", "/problem/model/bias", "0", "problem.model.bias: expected true or false"},
        Refusal{"replace", "/problem/model/widths", "3", "problem.model.widths: expected an array"},
        Refusal{"replace", "/problem/graph/normalisation", "\"L2\"",
                "normalisation: expected one of symmetric, row_mean, none"},
        Refusal{"replace", "/configuration/forward", "\"SX\"",
                "configuration.forward: expected a string of the letters S and D"},
        Refusal{"replace", "/configuration/exchange", "\"rings\"",
                "configuration.exchange: expected one of none, panels, rows"},
        Refusal{"replace", "/configuration/operands", "\"SD\"",
                "configuration.operands: expected a string of the letters T and G"},
        Refusal{"replace", "/configuration/loss_rows", "1", "configuration.loss_rows: expected true or false"},
        Refusal{"replace", "/schedule/numbering/permuted", "1", "schedule.numbering.permuted: expected true or false"},
        Refusal{"replace", "/schedule/steps/2/overlap", "0", "schedule.steps[2].overlap: expected true or false"},
        Refusal{"replace", "/schedule/steps/5/vertices", "\"Q\"",
                "schedule.steps[5].vertices: there is no tensor \"Q\""},
        Refusal{"replace", "/configuration/grid", "[2, 2]", "configuration.grid: expected the three extents [x, y, z]"},
        Refusal{"replace", "/configuration/kept", "[1]", "configuration.kept[0]: expected a string"},
        Refusal{"replace", "/schedule/tensors/2/layout/rows", "\"xw\"",
                "schedule.tensors[2].layout.rows: unknown grid axis 'w'"},
        Refusal{"replace", "/schedule/tensors/2/layout/rows", "\"xx\"",
                "schedule.tensors[2].layout.rows: grid axis 'x' named twice"},
        Refusal{"replace", "/schedule/tensors/2/dtype", "\"f16\"", "schedule.tensors[2].dtype: expected one of f32"},
        Refusal{"replace", "/schedule/tensors/2/name", "\"A\"",
                "schedule.tensors[2].name: another tensor has this name"},
        Refusal{"replace", "/schedule/steps/2/kind", "\"fft\"",
                "schedule.steps[2].kind: there is no kind of step \"fft\""},
        Refusal{"replace", "/schedule/steps/2/phase", "\"x\"",
                "schedule.steps[2].phase: expected one of setup, epoch, evaluation"},
        Refusal{"replace", "/schedule/steps/2/in", "\"Q\"", "schedule.steps[2].in: there is no tensor \"Q\""},
        Refusal{"replace", "/schedule/tensors/2/space", "\"mars\"",
                "schedule.tensors[2].space: there is no \"mars\" in the schedule"},
        Refusal{"replace", "/schedule/steps/2/in", "null", "schedule.steps[2].in: expected a string"},
        Refusal{"replace", "/schedule/steps/1/out", "3", "schedule.steps[1].out: expected a string"},
        Refusal{"replace", "/predicted/step_seconds/1", "null", "predicted.step_seconds[1]: expected a number"},
        Refusal{"replace", "/fingerprints/graph", "7", "fingerprints.graph: expected a string"}));

INSTANTIATE_TEST_SUITE_P(
    Ranges, PlanRefuses,
    testing::Values(
        Refusal{"replace", "/problem/ranks", "0", "problem.ranks: expected an integer from 1"},
        Refusal{"replace", "/problem/ranks", "-4", "problem.ranks: expected an integer from 1"},
        Refusal{"replace", "/problem/ranks", "1048577", "problem.ranks: expected an integer from 1 to 1048576"},
        Refusal{"replace", "/problem/graph/vertices", "9223372036854775808",
                "problem.graph.vertices: expected an integer from 0"},
        Refusal{"replace", "/problem/graph/vertices", "1e30", "problem.graph.vertices: expected an integer from 0"},
        Refusal{"replace", "/problem/graph/nonzeros", "-1", "problem.graph.nonzeros: expected an integer from 0"},
        Refusal{"replace", "/problem/graph/seed", "-1",
                "problem.graph.seed: expected an integer from 0 to 18446744073709551615"},
        Refusal{"replace", "/schedule/tensors/2/rows", "9223372036854775807",
                "schedule.tensors[2].rows: expected an integer from 0"},
        Refusal{"replace", "/schedule/steps/5/layer", "-2", "schedule.steps[5].layer: expected an integer from 0"},
        Refusal{"replace", "/configuration/grid", "[1048576, 1048576, 1048576]",
                "configuration.grid: a grid of more than 1048576 ranks"},
        Refusal{"replace", "/configuration/grid/2", "0", "configuration.grid[2]: expected an integer from 1"},
        Refusal{"replace", "/configuration/parts", "-1", "configuration.parts: expected an integer from 0"},
        Refusal{"replace", "/schedule/numbering/loss_layers", "-1",
                "schedule.numbering.loss_layers: expected an integer from 0"},
        Refusal{"replace", "/predicted/epoch_seconds", "-1", "predicted.epoch_seconds: expected a number from 0"},
        Refusal{"replace", "/predicted/total_bytes", "9223372036854775807",
                "predicted.total_bytes: expected an integer from 0"},
        Refusal{"replace", "/candidates", "[]", "candidates: a plan has at least one candidate"},
        Refusal{"replace", "/candidates", "[0,0,0,0,0,0,0,0,0]",
                "candidates: expected an array of at most 8 elements"}));

TEST(Plan, MeaningIsValidated) {
    const auto refused = [](const char* path, const json& value, const char* message) {
        const json patch{{{"op", "replace"}, {"path", path}, {"value", value}}};
        expect_refused(resealed(with_chosen(patch)), message);
    };
    // Values that follow from other keys are for people; they have to be right all the same.
    refused("/configuration/grid", {4, 1, 1}, "configuration.replication: does not follow from the other keys");
    refused("/configuration/scheme", "1d", "configuration.scheme: there is no scheme \"1d\" on a grid of 2x2");
    refused("/configuration/scheme", "4d", "configuration.scheme: there is no scheme \"4d\"");
    refused("/configuration/exact", false, "configuration.exact: does not follow from the other keys, which give true");
    refused("/configuration/kept", {"T2"}, "configuration.kept: does not follow from the other keys");
    refused("/configuration/forward", "SS", "plan.json: candidates[0].configuration");
    refused("/schedule/tensors/12/columns", 5, "plan.json: step forward.gemm: operand shapes do not fit");
    refused("/schedule/numbering/loss_layers", 2,
            "numbering.loss_layers: must be 0 or the number of layers, or of their hops");
    refused("/schedule/spaces/0/rows", 8, "its size is not that of its space");
    refused("/schedule/spaces/1/needed_of", 2, "'needed.1' is of rows that the numbering does not put first");
    refused("/schedule/spaces/0/needed_of", 1, "all vertices must come first");
    refused("/schedule/tensors/9/space", "needed.1", "operands are about different rows");
    refused("/schedule/parameters/0/shape", {2, 3}, "its shape is not that of its parameter");
    refused("/schedule/parameters/0/shape", {1, 3, 2}, "its shape must be one or two extents");
    refused("/schedule/tensors/5/parameter", nullptr, "it is no parameter of the model");
    refused("/schedule/numbering/parts", 20000, "numbering.parts: must be 0..16384");
    refused("/predicted/step_seconds", {1, 2}, "plan.json: candidates[0].predicted.step_seconds");
    json document = sample_json();
    document["problem"]["ranks"] = 5;
    expect_refused(resealed(document), "does not hold the plan's ranks");
}

TEST(Plan, WeightsOfEdgesAreReadByStoredSumsAlone) {
    EXPECT_FALSE(sample_json()["problem"]["graph"].contains("edge_weights"));
    Plan plan = sample_plan();
    for (Candidate& candidate : plan.candidates) {  // scores of edges take no notice of weights
        std::erase_if(candidate.schedule.steps, [](const Step& step) { return step.name.starts_with("edges."); });
        candidate.predicted.step_seconds.resize(candidate.schedule.steps.size());
    }
    plan.problem.graph.edge_weights = true;
    EXPECT_TRUE(read_plan(write_plan(plan), "plan.json").problem.graph.edge_weights);
    const auto refusal = [](Plan changed) {
        try {
            validate(changed);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_EQ(refusal(plan), "none");
    for (Tensor& tensor : plan.candidates[0].schedule.tensors) {
        if (tensor.name == "AT") tensor.storage.factored = true;
    }
    EXPECT_NE(refusal(plan).find("values are no products of two scales"), std::string::npos);
    plan.problem.graph.edge_weights = false;
    EXPECT_EQ(refusal(plan), "none");
}

TEST(Plan, NotANumberAndDuplicateKeysInAPlan) {
    std::string text = write_plan(sample_plan());
    const std::string key = "\"epoch_seconds\": 0.0375";
    const auto with = [&](const std::string& replacement) {
        return std::string(text).replace(text.find(key), key.size(), replacement);
    };
    expect_refused(with("\"epoch_seconds\": NaN"), "not valid JSON");
    expect_refused(with("\"epoch_seconds\": 1e400"), "1e400");
    expect_refused(with(key + ", " + key), "predicted: duplicate key \"epoch_seconds\"");
}

TEST(Plan, WithoutCandidatesCannotBeWritten) {
    expect_error([] { write_plan(Plan{}); }, ErrorCode::internal, "without candidates");
}

}  // namespace
}  // namespace gnnplan::io
