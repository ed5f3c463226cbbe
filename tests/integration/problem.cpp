#include "tests/integration/problem.hpp"

#include "tests/support/devices.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

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

bool reads_values(const Network& network) {
    const std::string& name = network.model.name;
    return name != "gat" && name != "agnn" && network.model.aggregator != "max" && network.model.aggregator != "pool";
}

data::Dataset load(const TinyGraph& graph, const Network& network, const std::filesystem::path& folder) {
    write_ogb(graph, folder);
    data::DatasetOptions options;
    options.preparation.add_self_loops = network.matrix.self_loops;
    options.preparation.edge_weights = graph.weighted;
    options.fanout = network.fanout;
    options.drawn_weighted = reads_values(network);
    return data::open_dataset(folder, options);
}

// The entries of the serial matrix that a layer has drawn, times what each of them stands for.
SparseMatrix drawn_of(const SparseMatrix& all, const data::Csr& drawn) {
    SparseMatrix made{all.size, drawn.row_start, {}, {}};
    for (std::int64_t v = 0; v < all.size; ++v) {
        const auto row = static_cast<std::size_t>(v);
        for (auto e = static_cast<std::size_t>(drawn.row_start[row]);
             e < static_cast<std::size_t>(drawn.row_start[row + 1]); ++e) {
            const auto begin = all.column.begin() + all.row_start[row],
                       end = all.column.begin() + all.row_start[row + 1];
            const auto entry = std::find(begin, end, drawn.column[e]);
            if (entry == end) throw std::logic_error("an edge was drawn that is not there");
            // Where the graph's edges have weights, those of drawn ones are multiples of them.
            made.column.push_back(drawn.column[e]);
            made.value.push_back(all.value[static_cast<std::size_t>(entry - all.column.begin())]);
        }
    }
    return made;
}

// How much a drawn edge of vertex v stands for, in double: degree / fanout, without the loop, where some are left out.
void scale(SparseMatrix& drawn, const SparseMatrix& all, std::int64_t fanout) {
    for (std::int64_t v = 0; v < all.size; ++v) {
        const auto row = static_cast<std::size_t>(v);
        std::int64_t degree = 0;
        for (std::int64_t e = all.row_start[row]; e < all.row_start[row + 1]; ++e)
            degree += all.column[static_cast<std::size_t>(e)] != v ? 1 : 0;
        for (std::int64_t e = drawn.row_start[row]; e < drawn.row_start[row + 1]; ++e) {
            const auto at = static_cast<std::size_t>(e);
            if (degree > fanout && drawn.column[at] != v)
                drawn.value[at] *= static_cast<double>(degree) / static_cast<double>(fanout);
        }
    }
}

}  // namespace

TestProblem::TestProblem(const TinyGraph& graph, Network network)
    : name_(graph.name),
      network_(std::move(network)),
      serial_(serial_problem(graph, all_widths(graph, network_), network_.bias, network_.matrix, network_.model)),
      dataset_(load(graph, network_, folder_.path() / "graph")) {
    for (std::size_t l = 0; l < network_.fanout.size(); ++l) {
        serial_.drawn.push_back(drawn_of(serial_.forward, dataset_.graph().drawn[l]));
        if (reads_values(network_)) scale(serial_.drawn.back(), serial_.forward, network_.fanout[l]);
    }
}

std::string TestProblem::name() const {
    constexpr std::array<const char*, 3> matrices{"", " row mean", " not normalised"};
    const ModelRecord& model = network_.model;
    return fmt::format("{} {}{}{}{} on {}{}{} N={} widths={}{} heads={} dropout={} input={} attention={} fanout={}",
                       model.name, model.aggregator, model.activation ? " curved" : "",
                       model.residual != Residual::none ? " residual" : "",
                       model.jk != JumpingKnowledge::none ? " jk" : "", name_,
                       matrices[static_cast<std::size_t>(network_.matrix.normalisation)],
                       network_.matrix.self_loops ? "" : " without loops", serial_.vertices(), fmt::join(widths(), ","),
                       network_.bias ? " bias" : "", model.heads, network_.dropout, network_.input_dropout,
                       network_.attention_dropout, fmt::join(network_.fanout, ","));
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
    problem.record.fanout = network_.fanout;
    if (!network_.fanout.empty()) problem.ops = applied(std::move(problem.ops));
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

}  // namespace gnnplan::testing
