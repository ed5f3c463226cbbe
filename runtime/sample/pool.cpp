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

void add_one(std::int32_t& count) { std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed); }

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
    if (!sampling.has_pool()) {
        const data::Csr& sources = graph_.matrix(forward_matrix);
        sizes_.push_back({graph_.vertices(), masked_nonzeros(graph_, sampling.budget), training_, sources.nonzeros()});
        take_means();
        return;
    }
    if (sampling.coefficients) {
        of_vertices_.assign(at(graph_.vertices()), 0);
        of_sources_.assign(at(graph_.nonzeros()), 0);
        if (!graph_.symmetric) of_targets_.assign(at(graph_.nonzeros()), 0);
    }
    refuse_too_many(sampling, draws_, graph_.vertices());
    draw_all();
    take_means();
    uncovered_ = std::ranges::count(of_sources_, 0);
}

bool Pool::trains(std::int64_t vertex) const { return subset_.empty() || subset_[at(vertex)] == data::train; }

std::int64_t Pool::batches_of_epoch() const {
    const std::int64_t drawn = draws_.drawn();
    return (graph_.vertices() + drawn - 1) / drawn;
}

// Some batches at a time, as nobody knows how many are wanted before their vertices are there.
void Pool::draw_all() {
    constexpr std::int64_t batches_of_thread = 4, most = 4096;
    const std::int64_t threads = kernels::max_threads();
    const std::int64_t worth_it = std::min(most, kernels::serial_work / draws_.drawn());
    std::vector<Induced> rooms(at(threads), Induced(graph_.vertices()));
    std::vector<std::vector<std::int32_t>> drawn(at(std::max(threads * batches_of_thread, worth_it)));
    std::int64_t wanted = std::max<std::int64_t>(1, sampling_.coverage * graph_.vertices());
    while (wanted > 0) {
        const std::int64_t first = batches();
        data::for_parts(std::ssize(drawn), [&](std::int64_t i) { drawn[at(i)] = draws_.vertices(first + i); });
        for (std::int64_t i = 0; i < std::ssize(drawn) && wanted > 0; ++i) {
            sizes_.push_back({.vertices = std::ssize(drawn[at(i)])});
            wanted -= sizes_.back().vertices;
        }
        data::for_parts(threads, [&](std::int64_t thread) {
            for (std::int64_t batch = first + thread; batch < batches(); batch += threads)
                count(batch, drawn[at(batch - first)], rooms[at(thread)]);
        });
    }
}

void Pool::count(std::int64_t batch, std::span<const std::int32_t> vertices, Induced& room) {
    BatchSize& size = sizes_[at(batch)];
    room.choose(vertices);
    for (const std::int32_t v : vertices) {
        size.training += trains(v) ? 1 : 0;
        size.looked_at += graph_.matrix(backward_matrix).degree(v);
        if (!graph_.symmetric) size.looked_at += graph_.matrix(forward_matrix).degree(v);
    }
    room.visit(graph_.matrix(forward_matrix), [&](std::int64_t e, std::int64_t, std::int32_t) {
        ++size.nonzeros;
        if (sampling_.coefficients) add_one(of_sources_[at(e)]);
    });
    if (sampling_.coefficients) {
        for (const std::int32_t v : vertices) add_one(of_vertices_[at(v)]);
        if (!graph_.symmetric) {
            room.visit(graph_.matrix(backward_matrix),
                       [&](std::int64_t e, std::int64_t, std::int32_t) { add_one(of_targets_[at(e)]); });
        }
    }
    room.choose({});
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
    const std::int64_t own = vertex_.empty() ? 0 : bytes_of(own_) + 20 * std::ssize(vertex_) + 4 * std::ssize(number_);
    return static_cast<std::int64_t>(sizes_.size() * sizeof(BatchSize) + counts * sizeof(std::int32_t) +
                                     subset_.size()) +
           draws_.bytes() + 4 * graph_.vertices() + own;
}

}  // namespace gnnplan::sample
