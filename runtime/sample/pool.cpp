#include "runtime/sample/pool.hpp"

#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/subset.hpp"
#include "runtime/sample/masks.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace gnnplan::sample {
namespace {

// Fewer than there will be, as vertices that are drawn for a batch again are not in it again.
void refuse_too_many(const Sampling& sampling, const Draws& draws, std::int64_t vertices) {
    constexpr std::int64_t most_batches = 10'000'000;
    if (sampling.coverage * vertices / draws.drawn() <= most_batches) return;
    throw Error(ErrorCode::usage,
                "a pool of batches of " + std::to_string(draws.drawn()) + " vertices that covers " +
                    std::to_string(vertices) + " vertices " + std::to_string(sampling.coverage) +
                    " times has more than ten million batches",
                {}, "draw more for each batch, or cover less");
}

std::vector<std::int32_t> training_vertices(const std::vector<std::uint8_t>& subset) {
    std::vector<std::int32_t> training;
    for (std::size_t v = 0; v < subset.size(); ++v) {
        if (subset[v] == data::train) training.push_back(static_cast<std::int32_t>(v));
    }
    if (training.empty())
        throw Error(ErrorCode::usage, "no vertex trains, so there is no graph of such to draw batches from", {},
                    "sample all vertices");
    return training;
}

void add_to(float& count, float more) { std::atomic_ref(count).fetch_add(more, std::memory_order_relaxed); }

}  // namespace

Pool::Pool(const data::Graph& graph, std::vector<std::uint8_t> subset, const Sampling& sampling)
    : all_vertices_(graph.vertices()),
      vertex_(sampling.training_graph && !subset.empty() ? training_vertices(subset) : std::vector<std::int32_t>()),
      own_(vertex_.empty() ? data::Graph() : induced_graph(graph, vertex_)),
      graph_(vertex_.empty() ? graph : own_),
      subset_(vertex_.empty() ? std::move(subset) : std::vector<std::uint8_t>()),
      sampling_(sampling),
      draws_(graph_, sampling) {
    ensure(subset_.empty() || std::ssize(subset_) == graph.vertices(), "one subset for each vertex");
    if (!vertex_.empty()) number_.assign(at(graph.vertices()), -1);
    for (std::size_t i = 0; i < vertex_.size(); ++i) number_[at(vertex_[i])] = static_cast<std::int32_t>(i);
    for (std::int64_t v = 0; v < graph_.vertices(); ++v) training_ += trains(v) ? 1 : 0;
    if (!sampling.has_pool()) return;
    refuse_too_many(sampling, draws_, graph_.vertices());
    of_vertices_.assign(at(graph_.vertices()), 0);
    if (!sampling.coefficients) return;
    of_sources_.assign(at(graph_.nonzeros()), 0);
    if (!graph_.symmetric) of_targets_.assign(at(graph_.nonzeros()), 0);
}

bool Pool::trains(std::int64_t vertex) const { return subset_.empty() || subset_[at(vertex)] == data::train; }

std::int64_t Pool::batches_of_epoch() const {
    const std::int64_t drawn = draws_.drawn();
    return (graph_.vertices() + drawn - 1) / drawn;
}

// Batches that are drawn at a time, as nobody knows how many are wanted before their vertices are there: no more than
// there will be, and enough for many threads.
std::int64_t Pool::batches_of_round(int ranks) const {
    constexpr std::int64_t of_threads = 64, most = 4096;
    const std::int64_t worth_it = std::min(most, kernels::serial_work / draws_.drawn());
    const std::int64_t least = sampling_.coverage * graph_.vertices() / draws_.drawn();
    return std::clamp<std::int64_t>(least, 1, ranks * std::max(of_threads, worth_it));
}

// The rank's batches of a round, and what its threads count them in.
struct Pool::Round {
    std::vector<std::vector<std::int32_t>> drawn;
    std::vector<Induced> rooms;
};

void Pool::draw(const PoolRanks& ranks) {
    if (!sampling_.has_pool()) {
        const data::Csr& sources = graph_.matrix(forward_matrix);
        sizes_.push_back({graph_.vertices(), masked_nonzeros(graph_, sampling_.budget), training_, sources.nonzeros()});
        return take_means();
    }
    Round round{{}, std::vector<Induced>(at(kernels::max_threads()), Induced(graph_.vertices()))};
    std::int64_t wanted = std::max<std::int64_t>(1, sampling_.coverage * graph_.vertices());
    while (wanted > 0) {
        const std::int64_t first = batches();
        draw_round(ranks, first, round);
        std::int64_t end = first;
        for (; end < batches() && wanted > 0; ++end) wanted -= sizes_[at(end)].vertices;
        // Takes back what is too much.
        for (std::int64_t i = 0; i < std::ssize(round.drawn); ++i) {
            if (first + ranks.rank + i * ranks.ranks >= end) add(round.drawn[at(i)], -1, round.rooms.front());
        }
        sizes_.resize(at(end));
    }
    if (ranks.ranks > 1) {
        for (kernels::LargeVector<float>* counts : {&of_vertices_, &of_sources_, &of_targets_})
            if (!counts->empty()) ranks.add_counts(*counts);
    }
    take_means();
    uncovered_ = std::ranges::count(of_sources_, 0.0F);
}

// A rank draws every so-many-th batch; sizes are numbers that doubles have exactly.
void Pool::draw_round(const PoolRanks& ranks, std::int64_t first, Round& round) {
    const std::int64_t all = batches_of_round(ranks.ranks), own = (all - ranks.rank + ranks.ranks - 1) / ranks.ranks;
    round.drawn.resize(at(own));
    sizes_.resize(at(first + all));
    const auto number = [&](std::int64_t i) { return first + ranks.rank + i * ranks.ranks; };
    data::for_parts(own, [&](std::int64_t i) { round.drawn[at(i)] = draws_.vertices(number(i)); });
    const std::int64_t threads = std::ssize(round.rooms);
    data::for_parts(threads, [&](std::int64_t thread) {
        for (std::int64_t i = thread; i < own; i += threads)
            sizes_[at(number(i))] = add(round.drawn[at(i)], 1, round.rooms[at(thread)]);
    });
    if (ranks.ranks == 1) return;
    std::vector<double> sums;
    for (std::int64_t batch = first; batch < first + all; ++batch) {
        const BatchSize& size = sizes_[at(batch)];
        for (const std::int64_t value : {size.vertices, size.nonzeros, size.training, size.looked_at})
            sums.push_back(static_cast<double>(value));
    }
    ranks.add_sizes(sums);
    for (std::int64_t i = 0; i < all; ++i) {
        const auto sum = [&](std::int64_t k) { return static_cast<std::int64_t>(sums[at(4 * i + k)]); };
        sizes_[at(first + i)] = {sum(0), sum(1), sum(2), sum(3)};
    }
}

std::vector<std::int64_t> Pool::added_sizes(int ranks) const {
    if (ranks == 1 || !sampling_.has_pool()) return {};
    const std::int64_t of_round = batches_of_round(ranks), rounds = (batches() + of_round - 1) / of_round;
    return std::vector<std::int64_t>(at(rounds), 4 * of_round);
}

std::vector<std::int64_t> Pool::added_counts() const {
    std::vector<std::int64_t> added;
    for (const std::size_t values : {of_vertices_.size(), of_sources_.size(), of_targets_.size()}) {
        if (values > 0) added.push_back(static_cast<std::int64_t>(values));
    }
    return added;
}

// Adds `count` to the numbers of batches of a batch's vertices and edges. Returns its size.
BatchSize Pool::add(std::span<const std::int32_t> vertices, float count, Induced& room) {
    BatchSize size{.vertices = std::ssize(vertices)};
    room.choose(vertices);
    for (const std::int32_t v : vertices) {
        size.training += trains(v) ? 1 : 0;
        size.looked_at += graph_.matrix(backward_matrix).degree(v);
        if (!graph_.symmetric) size.looked_at += graph_.matrix(forward_matrix).degree(v);
    }
    room.visit(graph_.matrix(forward_matrix), [&](std::int64_t e, std::int64_t, std::int32_t) {
        ++size.nonzeros;
        if (sampling_.coefficients) add_to(of_sources_[at(e)], count);
    });
    for (const std::int32_t v : vertices) add_to(of_vertices_[at(v)], count);
    if (sampling_.coefficients && !graph_.symmetric) {
        room.visit(graph_.matrix(backward_matrix),
                   [&](std::int64_t e, std::int64_t, std::int32_t) { add_to(of_targets_[at(e)], count); });
    }
    room.choose({});
    return size;
}

std::int64_t Pool::uncovered_training() const {
    std::int64_t uncovered = 0;
    for (std::int64_t v = 0; v < std::ssize(of_vertices_); ++v) uncovered += is_uncovered(v);
    return uncovered;
}

bool Pool::is_isolated(std::int64_t vertex) const {
    const auto has_loop_alone = [&](const data::Csr& matrix) {
        const std::int64_t degree = matrix.degree(vertex);
        return degree == 0 || (degree == 1 && matrix.column[at(matrix.row_start[at(vertex)])] == vertex);
    };
    const bool begins_none = has_loop_alone(graph_.matrix(backward_matrix));
    return begins_none && (sampling_.sampler == Sampler::node || has_loop_alone(graph_.matrix(forward_matrix)));
}

std::int64_t Pool::isolated_training() const {
    std::int64_t isolated = 0;
    for (std::int64_t v = 0; v < std::ssize(of_vertices_); ++v) isolated += is_uncovered(v) && is_isolated(v);
    return isolated;
}

void Pool::refuse_idle() const {
    if (without_training() < std::ssize(sizes_)) return;
    throw Error(ErrorCode::usage, "no batch has a training vertex, so nothing would be learned", "`sampler`",
                "draw more, or walks or clusters, which have vertices without edges, too");
}

void Pool::take_means() {
    BatchMeans sums;
    for (const BatchSize& size : sizes_) {
        sums.vertices += static_cast<double>(size.vertices);
        sums.nonzeros += static_cast<double>(size.nonzeros);
        sums.looked_at += static_cast<double>(size.looked_at);
    }
    const auto count = static_cast<double>(sizes_.size());
    means_ = {sums.vertices / count, sums.nonzeros / count, sums.looked_at / count};
}

std::int64_t Pool::bytes() const {
    const auto counts = of_vertices_.size() + of_sources_.size() + of_targets_.size();
    // With the scales of the training vertices' graph.
    const std::int64_t own = vertex_.empty() ? 0 : own_.bytes() + 20 * std::ssize(vertex_) + 4 * std::ssize(number_);
    return static_cast<std::int64_t>(sizes_.size() * sizeof(BatchSize) + counts * sizeof(float) + subset_.size()) +
           draws_.bytes() + 4 * graph_.vertices() + own;
}

}  // namespace gnnplan::sample
