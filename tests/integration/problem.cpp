#include "tests/integration/problem.hpp"

#include "tests/support/devices.hpp"

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "planner/search/paper_space.hpp"

namespace gnnplan::testing {
namespace {

std::vector<std::int64_t> all_widths(const TinyGraph& graph, const Network& network) {
    std::vector<std::int64_t> widths = {graph.features};
    widths.insert(widths.end(), network.hidden.begin(), network.hidden.end());
    widths.push_back(graph.classes);
    return widths;
}

data::Dataset load(const TinyGraph& graph, const Network& network, const std::filesystem::path& folder) {
    write_ogb(graph, folder);
    data::DatasetOptions options;
    options.preparation.add_self_loops = network.matrix.self_loops;
    options.preparation.edge_weights = graph.weighted;
    return data::open_dataset(folder, options);
}

}  // namespace

TestProblem::TestProblem(const TinyGraph& graph, Network network)
    : name_(graph.name),
      network_(std::move(network)),
      serial_(serial_problem(graph, all_widths(graph, network_), network_.bias, network_.matrix, network_.model)),
      dataset_(load(graph, network_, folder_.path() / "graph")) {}

std::string TestProblem::name() const {
    constexpr std::array<const char*, 3> matrices{"", " row mean", " not normalised"};
    const ModelRecord& model = network_.model;
    return fmt::format("{} {}{}{}{} on {}{}{} N={} widths={}{} heads={} dropout={} input={} attention={}", model.name,
                       model.aggregator, model.activation ? " curved" : "", model.residual ? " residual" : "",
                       model.jk_concat ? " jk" : "", name_,
                       matrices[static_cast<std::size_t>(network_.matrix.normalisation)],
                       network_.matrix.self_loops ? "" : " without loops", serial_.vertices(), fmt::join(widths(), ","),
                       network_.bias ? " bias" : "", model.heads, network_.dropout, network_.input_dropout,
                       network_.attention_dropout);
}

SerialSettings TestProblem::serial_settings(double weight_decay) const {
    SerialSettings settings;
    settings.dropout = network_.dropout;
    settings.input_dropout = network_.input_dropout;
    settings.attention_dropout = network_.attention_dropout;
    settings.weight_decay = weight_decay;
    return settings;
}

Problem TestProblem::planner_problem(const GraphStats& graph, int ranks) const {
    Problem problem;
    problem.ops = serial_.model;
    problem.graph = &graph;
    problem.record.ranks = ranks;
    problem.record.model = network_.model;
    problem.record.model.widths = widths();
    problem.record.model.bias = network_.bias;
    GraphRecord& record = problem.record.graph;
    record.name = name_;
    record.source = "file: OGB folder";
    record.vertices = dataset_.vertices();
    record.nonzeros = dataset_.nonzeros();
    record.symmetric = dataset_.graph().symmetric;
    record.self_loops = network_.matrix.self_loops;
    record.edge_weights = dataset_.report().weighted;
    record.normalisation = network_.matrix.normalisation;
    record.exact = true;
    return problem;
}

Machine test_machine() {
    Machine machine;
    machine.name = "test";
    machine.source = "made up";
    machine.ranks_per_node = 4;
    machine.memory_per_rank = std::int64_t{1} << 30;
    machine.intra_node = {1e-6, 1e10};
    machine.inter_node = {1e-5, 1e9};
    machine.spmm = {{1, 1e9}, {64, 1e10}};
    machine.gemm_flops_per_second = 5e10;
    machine.memory_bytes_per_second = 1e10;
    machine.step_seconds = 1e-6;
    describe_wanted_device(machine);
    return machine;
}

std::vector<Candidate> configurations(const TestProblem& problem, const GraphStats& graph, int ranks, int replication) {
    SelectOptions options;
    options.space = SearchSpace::paper;
    options.scheme = "rdm";
    options.replication = replication;
    const Problem asked = problem.planner_problem(graph, ranks);
    const search::Space space = search::make_space(asked, test_machine(), options);
    search::NumberedGraphs graphs(graph);
    std::vector<Candidate> candidates;
    for (const Distribution& grid : space.grids) {
        for (const search::PaperMember& listed : search::list_paper_space(space, grid)) {
            candidates.push_back(search::cost_configuration(space, listed.configuration, test_machine(), graphs));
        }
    }
    return candidates;
}

std::vector<int> replications(int ranks) {
    std::vector<int> divisors;
    for (int r = 1; r <= ranks; ++r) {
        if (ranks % r == 0) divisors.push_back(r);
    }
    return divisors;
}

bool sampled(int index) {
    const char* text = std::getenv("GNNPLAN_TEST_SAMPLE");
    if (text == nullptr) return true;
    std::size_t read = 0;
    const int sample = std::max(1, std::stoi(text, &read));
    const int first = text[read] == ':' ? std::stoi(text + read + 1) : 0;
    return (index + index / 16) % sample == first;  // the shift keeps the sample from being the same orders every time
}

}  // namespace gnnplan::testing
