#include "tests/planner/io/samples.hpp"

namespace gnnplan::test {
namespace {

// A schedule under construction: tensors are added by name, steps name them.
class Builder {
public:
    Builder() {
        schedule_.grid = {2, 2, 1};
        schedule_.numbering = {1, 2, true, 9};
        schedule_.spaces = {{"vertices", 7, 0}, {"needed.1", 7, 1}};
    }

    TensorId tensor(const std::string& name, Role role, DType dtype, std::int64_t rows, std::int64_t columns,
                    Layout layout) {
        Tensor tensor{name, role, dtype, rows, columns, layout, name.starts_with("AT")};
        if (role == Role::weight || role == Role::bias) {
            tensor.parameter = static_cast<int>(schedule_.parameters.size());
            const bool vector = role == Role::bias;
            const std::string one = name == "beta1" ? "layers.1.beta" : "layers.1.bias";
            schedule_.parameters.push_back({vector ? one : "layers.1.weight", name,
                                            vector ? std::vector{columns} : std::vector{rows, columns},
                                            vector ? Init::zeros : Init::glorot, !vector});
        }
        if (rows == 7) tensor.space = 0;
        if (role == Role::adjacency) tensor.column_space = 0;
        schedule_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(schedule_.tensors.size() - 1);
    }
    TensorId edges(const std::string& name, TensorId matrix, const Axes& partial) {
        const Axes rows = tensor_of(schedule_, matrix).layout.rows;
        const TensorId id = tensor(name, Role::edges, DType::f32, 7, 1, {rows, {}, partial});
        schedule_.tensors.back().structure = matrix;
        return id;
    }
    TensorId dense(const std::string& name, std::int64_t columns, Layout layout) {
        return tensor(name, Role::transient, DType::f32, 7, columns, layout);
    }
    void step(const std::string& name, Phase phase, const Operation& operation) {
        schedule_.steps.push_back({name, phase, operation});
    }
    Schedule take() { return std::move(schedule_); }

private:
    Schedule schedule_;
};

// A product made once, as in CAGNET's 1.5D: needed rows, overlapped, summed over y.
void add_dealt_product(Builder& b) {
    const Layout summands{Axes::parse("x"), {}, Axes::parse("y")};
    const TensorId matrix =
        b.tensor("AT.dealt", Role::adjacency, DType::f32, 7, 7, {Axes::parse("x"), Axes::parse("y"), {}});
    const TensorId whole_rows = b.tensor("H0.f", Role::features, DType::f32, 7, 3, layout_f());
    const TensorId summand = b.dense("T.partial", 3, summands);
    const TensorId sum = b.tensor("T.kept", Role::cached, DType::f32, 7, 3, layout_r());
    b.step("setup.index", Phase::setup, RowRequestStep{matrix});
    b.step("setup.dealt", Phase::setup, SpmmStep{matrix, {whole_rows}, {summand}, Exchange::rows, true});
    b.step("setup.sum", Phase::setup, ReduceScatterStep{summand, sum});
}

// Scores of edges, their softmax, and the weights where the transpose has them; scores of dealt rows besides.
void add_edges(Builder& b, TensorId at, TensorId a, TensorId x, TensorId x_r) {
    const TensorId scores = b.edges("scores", at, Axes::parse("y")), weights = b.edges("weights", at, {});
    const TensorId beta = b.tensor("beta1", Role::bias, DType::f32, 1, 1, layout_replicated());
    const TensorId largest = b.dense("largest", 1, layout_f()), total = b.dense("total", 1, layout_f());
    b.step("edges.scores", Phase::epoch,
           SpmmStep{at, {x}, {scores}, Exchange::panels, false, false, Program::dot, {x}});
    b.step("edges.scores.sum", Phase::epoch, AllReduceStep{scores});
    b.step("edges.softmax", Phase::epoch,
           EdgeStep{EdgeOp::softmax, at, {scores, beta}, std::nullopt, {weights, largest, total}});
    b.step("edges.transpose", Phase::epoch, EdgeTransposeStep{weights, b.edges("weights.back", a, {})});
    const TensorId rows = b.tensor("AT.rows", Role::adjacency, DType::f32, 7, 7, layout_r());
    const TensorId dealt = b.edges("scores.dealt", rows, {});
    b.step("edges.dealt", Phase::epoch,
           SpmmStep{rows, {x_r}, {dealt}, Exchange::panels, false, false, Program::dot, {x_r}});
    b.step("edges.gather", Phase::epoch, EdgeGatherStep{dealt, b.edges("scores.all", at, {})});
}

Schedule sample_schedule() {
    Builder b;
    const Layout adjacency{Axes::parse("x"), Axes::parse("z"), {}};
    const TensorId at = b.tensor("AT", Role::adjacency, DType::f32, 7, 7, adjacency);
    const TensorId a = b.tensor("A", Role::adjacency, DType::f32, 7, 7, adjacency);
    const TensorId h0 = b.tensor("H0", Role::features, DType::f32, 7, 3, layout_c());
    const TensorId labels = b.tensor("labels", Role::labels, DType::i32, 7, 1, layout_r());
    const TensorId subset = b.tensor("subset", Role::subset, DType::u8, 7, 1, layout_r());
    const TensorId w = b.tensor("W1", Role::weight, DType::f32, 3, 2, layout_replicated());
    const TensorId bias = b.tensor("b1", Role::bias, DType::f32, 1, 2, layout_replicated());
    const TensorId m1 = b.tensor("W1.m1", Role::moment, DType::f32, 3, 2, layout_replicated());
    const TensorId m2 = b.tensor("W1.m2", Role::moment, DType::f32, 3, 2, layout_replicated());
    const TensorId x = b.dense("X", 3, layout_c());
    const TensorId t_c = b.dense("T.c", 3, layout_c());
    const TensorId t_r = b.dense("T.r", 3, layout_r());
    const TensorId z = b.dense("Z", 2, layout_r());
    const TensorId u = b.dense("U", 3, layout_r());
    const TensorId u_c = b.dense("U.c", 3, layout_c());
    const TensorId g = b.dense("G", 3, layout_c());
    const TensorId mean = b.dense("Z.mean", 1, layout_r());
    const TensorId gamma = b.tensor("g1.norm", Role::bias, DType::f32, 1, 2, layout_replicated());
    const TensorId beta = b.tensor("b1.norm", Role::bias, DType::f32, 1, 2, layout_replicated());
    const TensorId means = b.dense("m1", 1, layout_r());
    const TensorId variances = b.dense("v1", 1, layout_r());
    const TensorId normed = b.dense("H1", 2, layout_r());
    const TensorId mask = b.tensor("mask", Role::transient, DType::bits, 7, 2, layout_r());
    const TensorId loss = b.tensor("loss", Role::transient, DType::f64, 1, 1, layout_partial());
    const TensorId counts = b.tensor("counts", Role::transient, DType::f64, 1, 3, layout_partial());
    const TensorId dw = b.tensor("dW1", Role::transient, DType::f32, 3, 2, layout_partial());
    const TensorId db = b.tensor("db1", Role::transient, DType::f32, 1, 2, layout_partial());

    const TensorId vertices = b.tensor("vertices", Role::vertices, DType::i32, 7, 1, layout_r());
    b.step("setup.spmm", Phase::setup, SpmmStep{at, {h0}, {t_c}, Exchange::panels, false});
    b.step("forward.dropout", Phase::epoch, MapStep{MapOp::dropout, h0, {}, x, 1, Activation::none, false});
    b.step("forward.spmm", Phase::epoch, SpmmStep{at, {x}, {t_c}, Exchange::panels, false});
    b.step("forward.redistribute", Phase::epoch, RedistributeStep{t_c, t_r});
    b.step("forward.gemm", Phase::epoch, GemmStep{t_r, w, z, false});
    b.step("forward.activate", Phase::epoch,
           MapStep{MapOp::activate, z, bias, {}, 2, Activation::relu, true, vertices});
    b.step("forward.mean", Phase::epoch, HeadStep{HeadOp::mean, 2, {z}, mean});
    b.step("forward.norm", Phase::epoch, NormStep{NormOp::rows, {z, gamma, beta}, {}, {means, variances, normed}});
    const TensorId moments = b.tensor("s1.norm", Role::transient, DType::f64, 2, 2, layout_partial());
    const TensorId column_means = b.tensor("mean1.norm", Role::transient, DType::f32, 1, 2, layout_replicated());
    const TensorId inverses = b.tensor("inverse1.norm", Role::transient, DType::f32, 1, 2, layout_replicated());
    const TensorId running_mean = b.tensor("m1.norm", Role::bias, DType::f32, 1, 2, layout_replicated());
    const TensorId running_var = b.tensor("v1.norm", Role::bias, DType::f32, 1, 2, layout_replicated());
    b.step("forward.moments", Phase::epoch, BatchNormStep{BatchNormOp::moments, {z}, {moments}});
    b.step("forward.moments.sum", Phase::epoch, AllReduceStep{moments});
    b.step("forward.finish", Phase::epoch,
           BatchNormStep{BatchNormOp::finish, {moments}, {column_means, inverses}, {}, {running_mean, running_var}, 7});
    b.step("forward.mask", Phase::epoch, MapStep{MapOp::positive_mask, z, {}, mask, 2, Activation::none, false});
    b.step("loss", Phase::epoch, LossStep{z, labels, subset, loss});
    b.step("loss.sum", Phase::epoch, AllReduceStep{loss});
    b.step("backward.mask", Phase::epoch, MapStep{MapOp::apply_mask, z, mask, {}, 2, Activation::none, true});
    b.step("backward.bias", Phase::epoch, MapStep{MapOp::column_sum, z, {}, db, 0, Activation::none, false});
    b.step("backward.bias.sum", Phase::epoch, AllReduceStep{db});
    b.step("backward.weight", Phase::epoch, WeightGradStep{t_r, z, dw});
    b.step("backward.weight.sum", Phase::epoch, AllReduceStep{dw});
    b.step("backward.gemm", Phase::epoch, GemmStep{z, w, u, true});
    b.step("backward.redistribute", Phase::epoch, RedistributeStep{u, u_c});
    b.step("backward.spmm", Phase::epoch, SpmmStep{a, {u_c}, {g}, Exchange::panels, false});
    b.step("update", Phase::epoch, UpdateStep{w, dw, m1, m2, Optimiser::adam, true});
    b.step("evaluation.spmm", Phase::evaluation, SpmmStep{at, {h0}, {t_c}, Exchange::panels, false});
    b.step("evaluation.redistribute", Phase::evaluation, RedistributeStep{t_c, t_r});
    b.step("evaluation.gemm", Phase::evaluation, GemmStep{t_r, w, z, false});
    b.step("evaluation.score", Phase::evaluation, ScoreStep{z, labels, subset, counts});
    b.step("evaluation.sum", Phase::evaluation, AllReduceStep{counts});
    add_edges(b, at, a, x, t_r);
    b.step("ring", Phase::epoch, RingGemmStep{t_c, w, b.dense("Z.c", 2, layout_c())});
    add_dealt_product(b);
    return b.take();
}

Configuration sample_configuration() {
    Configuration configuration;
    configuration.id = 0;
    configuration.grid = {2, 2, 1};
    configuration.forward = parse_orders("S");
    configuration.backward = parse_orders("S");
    configuration.exchange = Exchange::panels;
    configuration.permutation = true;
    configuration.operands = parse_operands("T");
    configuration.loss_rows = true;
    configuration.parts = 2;
    return configuration;
}

Candidate sample_candidate() {
    Candidate candidate{sample_configuration(), sample_schedule(), {}};
    candidate.predicted = {0.0375, 4096, 1024, 65536, 0, true, {}};
    for (std::size_t i = 0; i < candidate.schedule.steps.size(); ++i) {
        candidate.predicted.step_seconds.push_back(1e-6 * static_cast<double>(i) / 3);
    }
    return candidate;
}

}  // namespace

Machine sample_machine() {
    Machine machine;
    machine.name = "two-sockets";
    machine.source = "a test, section 1";
    machine.ranks_per_node = 8;
    machine.memory_per_rank = std::int64_t{48} << 30;
    machine.intra_node = {2e-6, 12.5e9};
    machine.inter_node = {5e-6, 1.25e9};
    machine.spmm = {{16, 1.5e9}, {128, 2.25e10}};
    machine.gemm_flops_per_second = 1e12;
    machine.memory_bytes_per_second = 7.5e10;
    machine.step_seconds = 1.5e-6;
    return machine;
}

Plan sample_plan() {
    Plan plan;
    plan.tool_version = "0.1.0";
    plan.command_line = "gnnplan plan --graph \"a b\" -o plan.json";
    plan.problem.graph = {"ring", "file: OGB folder",      7,      21, false, true,  1, true, true,
                          false,  Normalisation::row_mean, "time", 3,  2,     false, 42};
    plan.problem.model = {"gcn", {3, 2}, true};
    plan.problem.ranks = 4;
    plan.problem.memory_per_rank = 123'456'789;
    plan.problem.run = {300, 0.5, 0.0, 0, 10};
    plan.machine = sample_machine();
    plan.candidates = {sample_candidate(), sample_candidate()};
    plan.candidates[1].configuration.id.reset();
    Configuration& other = plan.candidates[1].configuration;
    other.backward = parse_orders("-");
    other.exchange = Exchange::rows;
    other.overlap = true;
    other.constant_input = true;
    other.operands = parse_operands("G");
    other.cached_aggregation = true;
    other.replicated_input = true;
    other.column_loss = true;
    plan.fingerprints.graph = "xxh64:0123456789abcdef";
    return plan;
}

Plan small_plan() {
    Plan plan = sample_plan();
    plan.candidates.resize(1);
    Candidate& candidate = plan.candidates.front();
    constexpr std::size_t tensors = 11;  // all that the first steps name
    constexpr std::size_t steps = 3;
    candidate.schedule.tensors.resize(tensors);
    candidate.schedule.steps.resize(steps);
    candidate.predicted.step_seconds.resize(steps);
    return plan;
}

Profile sample_profile() {
    Profile profile;
    profile.machine = sample_machine();
    profile.machine.measured = true;
    profile.machine.intra_node.segments = {{0, 2e-6, 5e9}, {65536, 5e-6, 1.25e10}};
    profile.machine.calibration =
        Calibration{{{16, {{32768, 1e-9}, {1048576, 2.5e-9}}, 1e-8, 5e-9}, {128, {{32768, 4e-9}}, 2e-8}},
                    {{GemmKind::forward, 128, 40, 1e12}, {GemmKind::weight_gradient, 128, 128, 9e11}},
                    {{ElementwiseKind::copy, 1048576, 8e10}, {ElementwiseKind::activate_dropout, 1048576, 3e10}},
                    {{Program::max, 0, false, {1e-9, 1e-11}},
                     {Program::attend, 8, true, {4e-9, 2e-11}, {1e-8, -1e-11}, 8388608, 0.75}},
                    LossCost{2e-8, 3e-10},
                    std::nullopt,
                    Link{3e-6, 1e10, {{0, 3e-6, 1e10}}},
                    Link{4e-6, 1e10, {{0, 4e-6, 1e10}}},
                    Link{5e-6, 1e10, {{0, 5e-6, 1e10}}},
                    2e-6,
                    1.25,
                    0.375,
                    0.0625,
                    0.125,
                    OverlapCost{1.25, 5e-7, 0.75}};
    profile.fingerprint =
        ProfileFingerprint{"Sample CPU", 16, 8, 2, "MPI 1.0", "gnnplan 0.1.0, cpu", "cc 12", "2031-05-17T09:30:00Z"};
    profile.samples = {{"gemm.forward", {200000, 128, 40}, {0.001, 0.00125}}, {"step", {}, {1e-6}}};
    return profile;
}

RunReport sample_report() {
    RunReport report;
    report.tool_version = "0.1.0";
    report.command_line = "gnnrun plan.json";
    report.seed = ~std::uint64_t{0};
    report.settings = {200,  0.01, "step:100:0.5", 5e-4, false,        "weight=0.5", Optimiser::adam, 0, 0.5,
                       0.25, 0,    "row",          true, BestBy::loss, 10,           "w.safetensors"};
    report.ranks = 4;
    report.threads = 2;
    report.communicator = "threads";
    report.configuration = sample_configuration();
    report.runs = {{7, 200, 0.5, 90, {{1, 0.5, {}}, {}, {}}}, {8, 100, 0.25, {}, {}}};
    report.spreads[0] = {Spread{0.75, 0.25}, std::nullopt, Spread{0.5, {}}};
    report.epochs = {{1, 1.75, {}, 0.25}, {2, 0.1, {{0.5, 1.0, 0.0}, {}, {}}, 0.125}};
    const Origin origin{Pass::forward, 1, OpKind::aggregate};
    report.steps = {{"forward.spmm", "spmm", origin, 7, 3, 2, 64, 64, {16, 16, 16, 16}, {16, 16, 16, 16}, 1e-5, 2e-5}};
    report.steps[0].kernels = {{"whole", 1e-5, {}}, {"cusparse", {}, "values are factored"}};
    report.setup = {{"setup.spmm", "spmm", std::nullopt, 7, 3, 2, 0, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0}};
    report.evaluation = report.setup;
    report.predicted = sample_candidate().predicted;
    report.measured = {0.1875, 4096, 1024, 65536};
    report.tried = {{0, 3, 0.5}, {1, 3, 0.25}};
    report.chosen = 1;
    report.fingerprints = {"xxh64:1", "xxh64:2", "xxh64:3"};
    return report;
}

}  // namespace gnnplan::test
