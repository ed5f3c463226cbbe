#include "tools/gnnplan/plan_lines.hpp"

#include "runtime/blocks/graph_counts.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/trust.hpp"

#include <gnnplan/ir/work.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace gnnplan::tools {

// How evenly the chosen plan's nonzeros lie, and what its numbering of the vertices does for that. Statistics know
// nothing of it.
std::string balance_line(const Plan& plan, const GraphStats& graph) {
    const Schedule& schedule = plan.candidates.front().schedule;
    if (!graph.exact() || schedule.grid.size() == 1) return "";
    const double balance = sparse_imbalance(schedule, *graph.numbered(schedule.numbering));
    std::string line = fmt::format("balance  the busiest rank has {:.2f}x the mean of sparse work", balance);
    const Configuration& chosen = plan.candidates.front().configuration;
    if (schedule.numbering.cut == CutRule::none && (chosen.permutation || chosen.parts > 1)) {
        Numbering plain = schedule.numbering;
        plain.permuted = false;
        plain.parts = 0;
        line += fmt::format(", {:.2f}x without {}", sparse_imbalance(schedule, *graph.numbered(plain)),
                            chosen.parts > 1 ? "the partition" : "the permutation");
    }
    return line + "\n";
}

// How the chosen plan's vertex cut splits vertices, if it has one.
std::string cut_line(const Plan& plan, const GraphStats& graph) {
    const Schedule& schedule = plan.candidates.front().schedule;
    const int parts = schedule.numbering.parts;
    if (schedule.numbering.cut == CutRule::none || schedule.grid.grouped()) return "";
    if (!graph.exact())
        return labelled("cut", fmt::format("a vertex is in {:.2f} of {} parts, as published or as you say: not counted",
                                           graph.replication(parts).value_or(0), parts));
    const auto numbered = graph.numbered(schedule.numbering);
    const Range all{0, graph.vertices()};
    std::int64_t met = 0, moved = 0;
    for (int part = 0; part < parts; ++part) {
        for (const MatrixId matrix : {part_of(forward_matrix, part), part_of(backward_matrix, part)}) {
            const std::int64_t rows = numbered->distinct_columns(matrix, all, all);
            met += rows;
            moved += rows - numbered->distinct_columns(matrix, all, balanced_block(all, part, parts));
        }
    }
    const auto n = static_cast<double>(graph.vertices());
    const double in_parts = static_cast<double>(met) / 2 / n, rows = static_cast<double>(moved) / n;
    return labelled("cut", fmt::format("a vertex is in {:.2f} of {} parts, and {:.2f} rows a vertex move in a product",
                                       in_parts, parts, rows));
}

namespace {

std::string counted(std::int64_t number, const char* one, const char* many) {
    return format_count(number) + (number == 1 ? one : many);
}

// The training vertices and the nonzeros that no batch of the pool has, and how to have more of them.
std::string uncovered_words(const sample::Pool& pool) {
    const Sampler sampler = pool.sampling().sampler;
    const bool by_edges = (sampler == Sampler::node || sampler == Sampler::edge) && pool.isolated_training() > 0;
    std::string words;
    const std::int64_t idle = pool.uncovered_training(), nonzeros = pool.uncovered();
    if (idle > 0) {
        words += fmt::format("; {} of {} training vertices are in no batch{}", format_count(idle),
                             format_count(pool.training()),
                             by_edges ? ", as batches are drawn by edges: walks and clusters have vertices without, too"
                                      : ": raise --coverage, or draw more");
    }
    if (nonzeros == 0) return words;
    constexpr double many = 0.05;
    const double share = static_cast<double>(nonzeros) / static_cast<double>(pool.sampled().nonzeros());
    words += fmt::format("; {} ({:.1f} %) {} in no batch", counted(nonzeros, " nonzero", " nonzeros"), 100 * share,
                         nonzeros == 1 ? "is" : "are");
    if (share <= many || (idle > 0 && by_edges)) return words;
    return words + ", so nothing learns from them: " +
           (sampler == Sampler::cluster ? "draw more parts for a batch, or have fewer"
                                        : "raise --coverage, or draw more");
}

// How many batches there are, and what they leave out; of sizes alone nobody knows.
std::string pool_words(const GraphStats& numbered, int per_update) {
    const auto* of_data = dynamic_cast<const data::NumberedCounts*>(&numbered);
    const sample::Pool* pool = of_data != nullptr ? of_data->pool() : nullptr;
    if (pool == nullptr) return ", were all vertices alike: batches of skewed graphs have more";
    std::string words = fmt::format(", of a pool of {}", format_count(pool->batches())) + uncovered_words(*pool);
    if (const std::int64_t idle = pool->without_training(); idle > 0)
        words += fmt::format("; {} no training vertex", counted(idle, " batch has", " batches have"));
    const double times = per_update * pool->means().vertices / static_cast<double>(pool->sampled().vertices());
    if (times > 1.5) return words + fmt::format("; an update meets each vertex {:.0f} times on average", times);
    const auto updates = static_cast<std::int64_t>(std::ceil(1 / times));
    return words + "; " + counted(updates, " update meets", " updates meet") + " each vertex once on average";
}

// The batches that updates are of.
std::string batches_line(const Plan& plan, const GraphStats& graph) {
    if (!plan.problem.batches) return "";
    const Schedule& schedule = plan.candidates.front().schedule;
    const auto numbered = graph.numbered(schedule.numbering);
    const BatchMeans mean = numbered->batch_means();
    const auto whole = [](double number) { return format_count(std::llround(number)); };
    const Sampling& sampling = plan.problem.batches->sampling;
    if (!sampling.has_pool()) {
        return labelled("draws", fmt::format("{} in-neighbours of each vertex, anew for each epoch, which all layers "
                                             "share: {}{} of {} nonzeros",
                                             format_count(sampling.budget), graph.exact() ? "" : "at most ",
                                             whole(mean.nonzeros), format_count(graph.nonzeros())));
    }
    const int per_update = plan.problem.batches->per_update, groups = schedule.grid.x, ranks = schedule.grid.y;
    return labelled(
        "batches",
        fmt::format("an epoch is one update, of {}, on {} of {}; {} and {} a batch on average{}",
                    counted(per_update, " batch", " batches"), counted(groups, " group", " groups"),
                    counted(ranks, " rank", " ranks"), counted(std::llround(mean.vertices), " vertex", " vertices"),
                    counted(std::llround(mean.nonzeros), " nonzero", " nonzeros"), pool_words(*numbered, per_update)));
}

// The neighbours that layers draw, and how much of the graph that leaves.
std::string drawn_line(const ProblemRecord& problem, const GraphStats& graph) {
    std::vector<std::string> fanout, nonzeros;
    for (int layer = 1; layer <= graph.samples(); ++layer) {
        fanout.push_back(format_count(problem.fanout[static_cast<std::size_t>(layer - 1)]));
        nonzeros.push_back(format_count(graph.row_nonzeros(MatrixId(true, layer), {0, graph.vertices()})));
    }
    if (fanout.empty()) return "";
    return labelled(
        "draws", fmt::format("{} in-neighbours of each vertex, layer by layer: {}{} nonzeros", fmt::join(fanout, ", "),
                             graph.exact() ? "" : "at most ", fmt::join(nonzeros, ", ")));
}

}  // namespace

std::string samples_lines(const Plan& plan, const GraphStats& graph) {
    return drawn_line(plan.problem, graph) + batches_line(plan, graph);
}

std::string batch_seconds_line(const Plan& plan) {
    const double seconds = plan.candidates.front().predicted.batch_seconds;
    if (seconds == 0) return "";
    return labelled("batches", fmt::format("drawing them, cutting their blocks and filling their rows takes {} of that",
                                           format_seconds(seconds, plan.machine)));
}

}  // namespace gnnplan::tools
