#include "planner/question/sizes.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>
#include <gnnplan/models.hpp>
#include <gnnplan/question.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan {
namespace question {

void check_sizes(const GraphSizes& sizes) {
    const std::int64_t n = sizes.vertices;
    if (n < 1) throw Error(ErrorCode::usage, "a graph has at least one vertex", "`vertices`");
    if (sizes.nonzeros / n > n || (sizes.nonzeros / n == n && sizes.nonzeros % n > 0)) {
        throw Error(ErrorCode::usage,
                    std::to_string(sizes.nonzeros) + " nonzeros do not fit a matrix of " + std::to_string(n) + " rows");
    }
}

bool reads_values(const OpGraph& model) { return sites_of(model).reduces_by(Reduce::sum); }

}  // namespace question

namespace {

void check_self_loops(const GraphSizes& sizes) {
    if (sizes.nonzeros >= sizes.vertices) return;
    throw Error(ErrorCode::usage,
                std::to_string(sizes.nonzeros) + " nonzeros are fewer than the self loops of " +
                    std::to_string(sizes.vertices) + " vertices, which they include",
                "`nonzeros`", "give the number of edges plus that of vertices");
}

// Edges with their reverses, self loops aside, if none of them came with its reverse: sizes do not tell which do.
std::int64_t most_symmetrised(const GraphSizes& graph, std::int64_t loops) {
    const double pairs = static_cast<double>(graph.vertices) * static_cast<double>(graph.vertices - 1);
    const std::int64_t twice = 2 * (graph.nonzeros - loops);
    return static_cast<double>(twice) > pairs ? graph.vertices * (graph.vertices - 1) : twice;
}

}  // namespace

Problem make_problem(ProblemRecord question, std::shared_ptr<const GraphStats> graph,
                     std::optional<Normalisation> normalisation) {
    ensure(graph != nullptr, "make_problem needs a graph");
    question.model.aggregator = models::find(question.model.name, question.model.aggregator).name;
    const ModelRecord defaults = models::with_defaults(question.model);
    question.model.hops = defaults.hops, question.model.teleport = defaults.teleport;
    question.model.theta = defaults.theta;
    const models::MatrixForm form = models::matrix_of(question.model, normalisation);
    GraphRecord& record = question.graph;
    record.vertices = graph->vertices();
    record.nonzeros = graph->nonzeros();
    record.symmetric = graph->symmetric();
    record.exact = graph->exact();
    record.edge_weights = graph->weighted();
    record.self_loops = form.self_loops;
    record.normalisation = form.normalisation;
    Problem problem;
    problem.ops = models::build(question);
    problem.record = std::move(question);
    problem.own_graph = std::move(graph);
    problem.graph = problem.own_graph.get();
    return problem;
}

Problem make_problem(ProblemRecord question, const GraphSizes& graph, std::optional<Normalisation> normalisation) {
    question::check_sizes(graph);
    const bool self_loops = models::matrix_of(question.model, normalisation).self_loops;
    if (self_loops) check_self_loops(graph);
    const bool has_loops = graph.counts_self_loops || self_loops;
    const std::int64_t loops = has_loops ? std::min(graph.vertices, graph.nonzeros) : 0;
    const bool symmetric = graph.symmetric || question.graph.symmetrised;
    const std::int64_t edges = symmetric && !graph.symmetric ? most_symmetrised(graph, loops) : graph.nonzeros - loops;
    const UniformStats stats(graph.vertices, edges + (self_loops ? loops : 0), symmetric, graph.train_fraction,
                             question.graph.edge_weights);
    const bool reads_values = question::reads_values(models::build(question.model));
    question.graph.name = graph.name;
    question.graph.source = graph.source;
    question.graph.replication = graph.replication;
    auto drawn = std::make_shared<UniformStats>(
        stats.drawn(question.fanout, self_loops, reads_values).with_replication(graph.replication));
    return make_problem(std::move(question), std::move(drawn), normalisation);
}

}  // namespace gnnplan
