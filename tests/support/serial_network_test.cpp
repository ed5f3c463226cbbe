// The serial reference against central finite differences and against PyTorch (golden/*_torch.txt).
#include "tests/support/serial_network.hpp"

#include <gnnplan/models.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "tests/support/compare.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/tiny_graphs.hpp"

namespace gnnplan::testing {
namespace {

// Central differences of step h are off by O(h^2) and by rounding / h, both far below 1e-6 of gradients of size
// 0.01..1, as long as no Z crosses 0 within the step.
constexpr double difference_step = 1e-6;

struct Case {
    const char* name;
    TinyGraph graph;
    std::vector<std::int64_t> hidden;
    bool bias;
    float dropout, input_dropout;
    ModelRecord model = {};
    float attention_dropout = 0;
};

ModelRecord record(const char* name, const char* aggregator, Activation activation, bool residual = false,
                   bool jk_concat = false) {
    ModelRecord model;
    model.name = name;
    model.aggregator = aggregator;
    model.activation = activation;
    model.residual = residual ? Residual::input : Residual::none;
    model.jk = jk_concat ? JumpingKnowledge::concat : JumpingKnowledge::none;
    model.trains_epsilon = model.name == "gin";
    return model;
}

ModelRecord attention_record(int heads, int output_heads, bool average, double slope) {
    ModelRecord model;
    model.name = "gat";
    model.heads = heads;
    model.output_heads = output_heads;
    model.average_heads = average;
    model.slope = slope;
    return model;
}

ModelRecord gcnii_record() {
    ModelRecord model = record("gcnii", "", Activation::elu);
    model.teleport = 0.25;
    model.theta = 0.75;
    model.pre = {6};
    model.pre_activation = true;
    model.jk = JumpingKnowledge::last;
    return model;
}

std::vector<Case> cases() {
    const TinyGraph directed = random_directed(23, 4, 7, 5, 1);
    return {
        {"SageMeanResidual", directed, {6, 6}, true, 0.5F, 0, record("sage", "mean", Activation::elu, true)},
        {"SageMax", directed, {6, 5}, true, 0, 0, record("sage", "max", Activation::leaky_relu)},
        {"SagePoolDropout", directed, {6}, true, 0.5F, 0.25F, record("sage", "pool", Activation::relu)},
        {"SageJk", directed, {5, 6}, true, 0, 0, record("sage", "sum", Activation::leaky_relu, true, true)},
        {"Gat", directed, {6, 9}, true, 0.5F, 0.25F, attention_record(3, 2, false, 0.2), 0.4F},
        {"GatAveraged", directed, {4}, true, 0, 0, attention_record(2, 1, true, 0.5), 0.25F},
        {"GatWithoutNeighbours", isolated_vertices(17, 6, 3, 5), {4}, false, 0, 0, attention_record(2, 1, false, 0), 0},
        {"Gin", directed, {6}, true, 0, 0.25F, record("gin", "", Activation::elu)},
        {"Sgc", directed, {6}, true, 0, 0.25F, record("sgc", "", Activation::elu)},
        {"Appnp", directed, {6}, true, 0.5F, 0, record("appnp", "", Activation::elu)},
        {"Gcnii", directed, {6, 6}, true, 0.5F, 0, gcnii_record()},
        {"Directed", random_directed(23, 4, 7, 5, 1), {6}, true, 0, 0},
        {"Symmetric", random_symmetric(24, 5, 8, 4, 2), {6, 5}, true, 0, 0},
        {"Dropout", random_directed(23, 4, 7, 5, 1), {6, 5}, false, 0.5F, 0.25F},
        {"Isolated", isolated_vertices(17, 6, 3, 5), {4}, false, 0, 0.5F},
        {"NoEdges", no_edges(9, 5, 3, 6), {4}, true, 0, 0}};
}

class FiniteDifferences : public ::testing::TestWithParam<Case> {};

TEST_P(FiniteDifferences, MatchGradients) {
    std::vector<std::int64_t> widths = {GetParam().graph.features};
    widths.insert(widths.end(), GetParam().hidden.begin(), GetParam().hidden.end());
    widths.push_back(GetParam().graph.classes);
    const SerialProblem problem = serial_problem(GetParam().graph, widths, GetParam().bias,
                                                 models::matrix_of(GetParam().model), GetParam().model);
    SerialSettings settings;
    settings.dropout = GetParam().dropout;
    settings.input_dropout = GetParam().input_dropout;
    settings.attention_dropout = GetParam().attention_dropout;
    Parameters parameters = initial_parameters(problem, 3);
    for (auto& bias : parameters.bias) {
        for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = 0.1 * std::sin(static_cast<double>(j + 1));
    }
    const LossAndGradient exact = loss_and_gradient(problem, settings, parameters, 1);
    ASSERT_GT(exact.kink_distance, 100 * difference_step);
    const auto check = [&](std::vector<double>& values, const std::vector<double>& gradient) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double kept = values[i];
            values[i] = kept + difference_step;
            const double above = loss_and_gradient(problem, settings, parameters, 1).loss;
            values[i] = kept - difference_step;
            const double below = loss_and_gradient(problem, settings, parameters, 1).loss;
            values[i] = kept;
            EXPECT_NEAR((above - below) / (2 * difference_step), gradient[i],
                        1e-8 * std::max(1.0, std::abs(gradient[i])))
                << "element " << i;
        }
    };
    for (std::size_t l = 0; l < parameters.weight.size(); ++l) {
        SCOPED_TRACE("layer " + std::to_string(l + 1));
        check(parameters.weight[l], exact.gradient.weight[l]);
    }
    for (std::size_t l = 0; l < parameters.bias.size(); ++l) {
        SCOPED_TRACE("vector " + std::to_string(l + 1));
        check(parameters.bias[l], exact.gradient.bias[l]);
    }
}

INSTANTIATE_TEST_SUITE_P(Graphs, FiniteDifferences, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(SerialNetwork, DropoutDependsOnTheEpoch) {
    const TinyGraph graph = random_directed(23, 4, 7, 5, 1);
    const SerialProblem problem = serial_problem(graph, {7, 6, 5}, false);
    SerialSettings settings;
    settings.dropout = 0.5F;
    const Parameters parameters = initial_parameters(problem, 3);
    EXPECT_NE(loss_and_gradient(problem, settings, parameters, 1).loss,
              loss_and_gradient(problem, settings, parameters, 2).loss);
    settings.dropout = 0;
    EXPECT_EQ(loss_and_gradient(problem, settings, parameters, 1).loss,
              loss_and_gradient(problem, settings, parameters, 2).loss);
}

// The matrix is stored under names that begin with `prefix`.
SerialProblem golden_problem(Golden& golden, const std::string& prefix = "") {
    SerialProblem problem;
    problem.widths.assign(golden["widths"].begin(), golden["widths"].end());
    problem.features = golden["features"];
    problem.labels.assign(golden["labels"].begin(), golden["labels"].end());
    problem.training.assign(problem.labels.size(), 0);
    for (const double v : golden["training"]) problem.training[static_cast<std::size_t>(v)] = 1;
    SparseMatrix& matrix = problem.forward;
    matrix.size = static_cast<std::int64_t>(problem.labels.size());
    matrix.row_start.assign(problem.labels.size() + 1, 0);
    for (const double row : golden[prefix + "matrix_rows"]) ++matrix.row_start[static_cast<std::size_t>(row) + 1];
    for (std::size_t i = 1; i < matrix.row_start.size(); ++i) matrix.row_start[i] += matrix.row_start[i - 1];
    const std::vector<double>& columns = golden[prefix + "matrix_columns"];
    matrix.column.assign(columns.begin(), columns.end());
    matrix.value = golden[prefix + "matrix_values"];
    return problem;
}

Parameters golden_parameters(Golden& golden, int step, const std::string& suffix) {
    Parameters parameters;
    for (int l = 1; l <= 3; ++l) {
        parameters.weight.push_back(golden[fmt::format("step{}.weight{}{}", step, suffix, l)]);
        parameters.bias.push_back(golden[fmt::format("step{}.bias{}{}", step, suffix, l)]);
    }
    return parameters;
}

void expect_close(const Parameters& actual, const Parameters& expected) {
    for (std::size_t l = 0; l < 3; ++l) {
        ASSERT_FALSE(expected.weight[l].empty());
        ASSERT_FALSE(expected.bias[l].empty());
        EXPECT_TRUE(close(actual.weight[l], expected.weight[l], 1e-9)) << "layer " << l + 1;
        EXPECT_TRUE(close(actual.bias[l], expected.bias[l], 1e-9)) << "layer " << l + 1;
    }
}

// Both compute in double precision, so they agree far better than the 1e-5 that single precision would allow.
TEST(SerialNetwork, EqualsPyTorch) {
    Golden golden = read_golden(GNNPLAN_GOLDEN_DIR "/gcn_torch.txt");
    ASSERT_EQ(golden["features"].size(), 55U);
    SerialSettings settings;
    settings.learning_rate = golden["learning_rate"].at(0);
    settings.weight_decay = golden["weight_decay"].at(0);
    SerialProblem problem = golden_problem(golden);
    problem.bias = true;
    problem.model = models::gcn(problem.widths, true);
    const auto epochs = train(problem, settings, golden_parameters(golden, 0, ""), 3);
    for (int step = 0; step < 3; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const SerialEpoch& epoch = epochs[static_cast<std::size_t>(step)];
        EXPECT_TRUE(close(epoch.before.loss, golden[fmt::format("step{}.loss", step)].at(0), 1e-9));
        expect_close(epoch.before.gradient, golden_parameters(golden, step, "_gradient"));
        expect_close(epoch.after, golden_parameters(golden, step + 1, ""));
    }
}

// The same of every other model (make_models_torch.py has them under the same names).
class SerialModel : public ::testing::TestWithParam<std::pair<const char*, ModelRecord>> {
protected:
    Golden golden_ = read_golden(GNNPLAN_GOLDEN_DIR "/models_torch.txt");

    Parameters parameters(const OpGraph& model, const std::string& prefix) {
        Parameters found;
        for (std::size_t id = 0; id < model.parameters.size(); ++id) {
            const bool vector = model.parameters[id].shape.size() == 1;
            (vector ? found.bias : found.weight).push_back(golden_.at(prefix + model.parameters[id].name));
        }
        found.bias.resize(std::max(found.bias.size(), found.weight.size()));
        return found;
    }
    // Gradients of attention may be sums that cancel.
    static void expect_equal(const Parameters& actual, const Parameters& expected) {
        constexpr double rounding = 1e-14;
        for (std::size_t i = 0; i < expected.weight.size(); ++i)
            EXPECT_TRUE(close(actual.weight[i], expected.weight[i], 1e-9, rounding)) << "matrix " << i + 1;
        for (std::size_t i = 0; i < expected.bias.size(); ++i)
            EXPECT_TRUE(close(actual.bias[i], expected.bias[i], 1e-9, rounding)) << "vector " << i + 1;
    }
};

TEST_P(SerialModel, EqualsPyTorch) {
    const std::string name = std::string(GetParam().first) + ".";
    SerialProblem problem = golden_problem(golden_, name);
    ModelRecord model = GetParam().second;
    if (golden_.contains(name + "widths"))
        problem.widths.assign(golden_[name + "widths"].begin(), golden_[name + "widths"].end());
    model.widths = problem.widths;
    problem.model = models::build(model);
    SerialSettings settings;
    settings.learning_rate = golden_["learning_rate"].at(0);
    settings.weight_decay = golden_["weight_decay"].at(0);
    const auto epochs = train(problem, settings, parameters(problem.model, name + "step0."), 3);
    for (int step = 0; step < 3; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const SerialEpoch& epoch = epochs[static_cast<std::size_t>(step)];
        EXPECT_TRUE(close(epoch.before.loss, golden_[fmt::format("{}step{}.loss", name, step)].at(0), 1e-9));
        expect_equal(epoch.before.gradient, parameters(problem.model, fmt::format("{}step{}.gradient.", name, step)));
        expect_equal(epoch.after, parameters(problem.model, fmt::format("{}step{}.", name, step + 1)));
    }
}

std::pair<const char*, ModelRecord> variant(const char* name, const char* model, const char* aggregator, bool bias,
                                            Activation activation = Activation::relu, bool residual = false,
                                            bool jk_concat = false) {
    ModelRecord made = record(model, aggregator, activation, residual, jk_concat);
    made.bias = bias;
    made.trains_epsilon = std::string_view(name) == "gin_trained";
    made.epsilon = made.trains_epsilon ? 0.25 : 0;
    return {name, made};
}

std::pair<const char*, ModelRecord> attending(const char* name, ModelRecord made, Activation activation,
                                              bool residual) {
    made.bias = true;
    made.activation = activation;
    made.residual = residual ? Residual::input : Residual::none;
    return {name, made};
}

std::pair<const char*, ModelRecord> propagating(std::pair<const char*, ModelRecord> made, int hops,
                                                std::optional<double> teleport = {}) {
    made.second.hops = hops;
    made.second.teleport = teleport;
    return made;
}

std::pair<const char*, ModelRecord> mixing(std::pair<const char*, ModelRecord> made,
                                           std::optional<double> teleport = {}, std::optional<double> theta = {}) {
    made.second.teleport = teleport;
    made.second.theta = theta;
    made.second.pre = {7};
    made.second.pre_activation = true;
    made.second.jk = JumpingKnowledge::last;
    return made;
}

std::pair<const char*, ModelRecord> summing(std::pair<const char*, ModelRecord> made) {
    made.second.residual = Residual::sums;
    return made;
}

INSTANTIATE_TEST_SUITE_P(
    Variants, SerialModel,
    ::testing::Values(attending("gat", attention_record(3, 1, false, 0.2), Activation::elu, false),
                      attending("gat_averaged_residual", attention_record(4, 2, true, 0.5), Activation::relu, true),
                      variant("agnn", "agnn", "", true, Activation::elu), variant("sage_mean", "sage", "mean", true),
                      variant("sage_sum", "sage", "sum", false), variant("sage_gcn", "sage", "gcn", true),
                      variant("sage_max", "sage", "max", true), variant("sage_pool", "sage", "pool", true),
                      variant("gin", "gin", "", true), variant("gin_trained", "gin", "", false),
                      variant("gcn_residual_elu", "gcn", "", true, Activation::elu, true),
                      variant("gcn_jk_leaky_relu", "gcn", "", true, Activation::leaky_relu, false, true),
                      variant("sage_pool_residual_jk_elu", "sage", "pool", true, Activation::elu, true, true),
                      propagating(variant("sgc", "sgc", "", true), 3),
                      propagating(variant("appnp", "appnp", "", true), 3, 0.25),
                      variant("appnp_residual_elu", "appnp", "", false, Activation::elu, true),
                      mixing(variant("gcnii", "gcnii", "", true), 0.25, 0.7),
                      mixing(variant("gcnii_elu", "gcnii", "", false, Activation::elu)),
                      summing(variant("gcn_sums", "gcn", "", true))),
    [](const auto& instance) { return instance.param.first; });

}  // namespace
}  // namespace gnnplan::testing
