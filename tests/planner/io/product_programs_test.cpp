// Products of other programs than sums in plan files: their operands are lists.
#include "planner/io/schedule_codec.hpp"

#include "planner/io/parse.hpp"
#include "tests/planner/io/expect_error.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace gnnplan::io {
namespace {

using nlohmann::json;

enum Tensors : TensorId { forward, backward, in, maxima, ties, share, gradient };

// A sum, a maximum, and what goes back from it.
Schedule schedule() {
    Schedule s;
    s.grid = {2, 2, 1};
    s.spaces = {{"vertices", 7, 0}};
    const Layout matrix{Axes::parse("x"), Axes::parse("z"), {}};
    s.tensors = {{"AT", Role::adjacency, DType::f32, 7, 7, matrix, true},
                 {"A", Role::adjacency, DType::f32, 7, 7, matrix, false}};
    for (const char* name : {"X", "Y", "n", "dY", "dX"})
        s.tensors.push_back({name, Role::transient, DType::f32, 7, 3, layout_c()});
    s.steps = {
        {"sum", Phase::epoch, SpmmStep{forward, {in}, {share}, Exchange::panels, true}},
        {"max", Phase::epoch, SpmmStep{forward, {in}, {maxima, ties}, Exchange::panels, false, false, Program::max}},
        {"divide", Phase::epoch, MapStep{MapOp::divide, share, ties, {}, 0, Activation::none, false}},
        {"back", Phase::epoch,
         SpmmStep{backward, {share, maxima}, {gradient}, Exchange::rows, true, false, Program::max_back, {in}}}};
    return s;
}

json written() { return json::parse(dump(encode_schedule(schedule()))); }

Schedule read(const json& document) {
    const Document parsed = parse(document.dump(), "plan.json");
    return decode_schedule(Cursor(parsed, "plan.json"), {2, 2, 1}, {}, false);
}

TEST(ProductPrograms, SumsHaveTheKeysThatTheyAlwaysHad) {
    const json sum = written()["steps"][0];
    EXPECT_EQ(sum["in"], "X");
    EXPECT_EQ(sum["out"], "dY");
    EXPECT_EQ(sum.size(), 9U) << "name, kind, phase, origin, matrix, in, out, exchange, overlap: " << sum.dump();
}

TEST(ProductPrograms, OthersListTheirOperands) {
    const json steps = written()["steps"];
    EXPECT_EQ(steps[1]["kind"], "spmm");
    EXPECT_EQ(steps[1]["program"], "max");
    EXPECT_EQ(steps[1]["column_operands"], json({"X"}));
    EXPECT_EQ(steps[1]["row_operands"], json::array());
    EXPECT_EQ(steps[1]["results"], json({"Y", "n"}));
    EXPECT_EQ(steps[2]["op"], "divide");
    EXPECT_EQ(steps[3]["program"], "max_back");
    EXPECT_EQ(steps[3]["column_operands"], json({"dY", "Y"}));
    EXPECT_EQ(steps[3]["row_operands"], json({"X"}));
    EXPECT_EQ(steps[3]["results"], json({"dX"}));
}

TEST(ProductPrograms, ReadBackAsTheyWere) {
    const Schedule expected = schedule();
    const Schedule got = read(written());
    ASSERT_EQ(got.steps.size(), expected.steps.size());
    for (std::size_t i = 0; i < got.steps.size(); ++i) {
        EXPECT_EQ(operands_of(got.steps[i].operation).reads, operands_of(expected.steps[i].operation).reads);
        EXPECT_EQ(operands_of(got.steps[i].operation).writes, operands_of(expected.steps[i].operation).writes);
        EXPECT_EQ(signature_of(got, got.steps[i].operation), signature_of(expected, expected.steps[i].operation));
    }
    EXPECT_EQ(dump(encode_schedule(got)), dump(encode_schedule(expected)));
}

struct Damage {
    const char* what;
    json patch;
    const char* message;
};

TEST(ProductPrograms, OthersAreRefused) {
    const auto replace = [](const char* path, const json& value) {
        return json::array({{{"op", "add"}, {"path", path}, {"value", value}}});
    };
    const auto remove = [](const char* path) { return json::array({{{"op", "remove"}, {"path", path}}}); };
    const std::vector<Damage> damages = {
        {"an unknown program", replace("/steps/1/program", "min"), "program: expected one of sum, max, max_back"},
        {"an unknown tensor", replace("/steps/3/column_operands/1", "Q"),
         "steps[3].column_operands[1]: there is no tensor \"Q\""},
        {"a name in place of a list", replace("/steps/3/row_operands", "X"),
         "steps[3].row_operands: expected an array"},
        {"a list in place of a name", replace("/steps/0/in", json({"X"})), "steps[0].in: expected a string"},
        {"a list that is missing", remove("/steps/1/row_operands"), "row_operands"},
        {"keys of a sum", replace("/steps/1/in", "X"), "in"},
        {"lists of a sum", replace("/steps/0/results", json({"Y"})), "results"},
        {"an endless list", replace("/steps/1/results", json(std::vector<std::string>(17, "Y"))), "results"}};
    for (const Damage& damage : damages) {
        SCOPED_TRACE(damage.what);
        const json document = written().patch(damage.patch);
        test::expect_error([&] { read(document); }, ErrorCode::data, damage.message);
    }
}

}  // namespace
}  // namespace gnnplan::io
