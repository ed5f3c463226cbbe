#include "runtime/sample/pool.hpp"

#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/subset.hpp"

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

void add_one(std::int32_t& count) { std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed); }

}  // namespace

Pool::Pool(const data::Graph& graph, std::vector<std::uint8_t> subset, const Sampling& sampling)
    : graph_(graph), subset_(std::move(subset)), sampling_(sampling), draws_(graph, sampling) {
    ensure(subset_.empty() || std::ssize(subset_) == graph.vertices(), "one subset for each vertex");
    for (std::int64_t v = 0; v < graph.vertices(); ++v) training_ += trains(v) ? 1 : 0;
    if (sampling.coefficients) {
        of_vertices_.assign(at(graph.vertices()), 0);
        of_sources_.assign(at(graph.nonzeros()), 0);
        if (!graph.symmetric) of_targets_.assign(at(graph.nonzeros()), 0);
    }
    refuse_too_many(sampling, draws_, graph.vertices());
    draw_all();
    uncovered_ = std::ranges::count(of_sources_, 0);
}

bool Pool::trains(std::int64_t vertex) const { return subset_.empty() || subset_[at(vertex)] == data::train; }

std::int64_t Pool::batches_of_epoch() const {
    const std::int64_t drawn = draws_.drawn();
    return (graph_.vertices() + drawn - 1) / drawn;
}

// Some batches at a time, as nobody knows how many are wanted before their vertices are there.
void Pool::draw_all() {
    constexpr std::int64_t batches_of_thread = 4;
    const std::int64_t threads = kernels::max_threads();
    std::vector<Induced> rooms(at(threads), Induced(graph_.vertices()));
    std::vector<std::vector<std::int32_t>> drawn(at(threads * batches_of_thread));
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
    for (const std::int32_t v : vertices) size.training += trains(v) ? 1 : 0;
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

data::Clones Pool::graphs(std::span<const std::int64_t> numbers, Induced& room) const {
    data::Clones made = none();
    for (const std::int64_t batch : numbers) {
        add_batch(batch, room, made);
        made.first.push_back(std::ssize(made.vertices.vertex));
    }
    return made;
}

data::Clones Pool::none() const {
    data::Clones made;
    made.graph.symmetric = graph_.symmetric;
    made.graph.weighted = graph_.weighted || sampling_.coefficients;
    made.graph.share = true;
    made.graph.out.row_start = {0};
    if (!graph_.symmetric) made.graph.in.row_start = {0};
    made.first = {0};
    return made;
}

void Pool::add_batch(std::int64_t batch, Induced& room, data::Clones& made) const {
    const std::vector<std::int32_t> vertices = draws_.vertices(batch);
    const std::int64_t first = std::ssize(made.vertices.vertex);
    room.choose(vertices);
    add_matrix(backward_matrix, first, room, made.graph.out);
    if (!graph_.symmetric) add_matrix(forward_matrix, first, room, made.graph.in);
    room.choose({});
    for (const std::int32_t v : vertices) {
        made.vertices.vertex.push_back(v);
        made.counts_as.push_back(counts_as(v, batch));
    }
    set_vertices(made);
}

void Pool::set_vertices(data::Clones& made) const {
    const std::int64_t clones = std::ssize(made.vertices.vertex);
    for (data::Csr* matrix : {&made.graph.out, &made.graph.in}) {
        if (matrix == &made.graph.in && graph_.symmetric) continue;
        matrix->row_start.resize(at(clones + 1), matrix->nonzeros());
        matrix->vertices = clones;
    }
}

data::Clones Pool::largest(int batches, int groups) const {
    const auto most = [&](auto member) { return std::ranges::max_element(sizes_, {}, member) - sizes_.begin(); };
    const std::int64_t widest = most(&BatchSize::nonzeros), longest = most(&BatchSize::vertices);
    Induced room(graph_.vertices());
    data::Clones made = none();
    const std::int64_t of_group = batches / groups * sizes_[at(longest)].vertices;
    const bool as_many = of_group * groups == graph_.vertices();
    for (int group = 0; group < groups; ++group) {
        for (int batch = 0; batch < batches / groups; ++batch) add_batch(widest, room, made);
        const std::int64_t end = made.first.back() + of_group + (as_many && group + 1 == groups ? 1 : 0);
        made.vertices.vertex.resize(at(end), 0);
        made.counts_as.resize(at(end), 0.0F);
        set_vertices(made);
        made.first.push_back(end);
    }
    return made;
}

std::int64_t Pool::bytes() const {
    const auto counts = of_vertices_.size() + of_sources_.size() + of_targets_.size();
    return static_cast<std::int64_t>(sizes_.size() * sizeof(BatchSize) + counts * sizeof(std::int32_t) +
                                     subset_.size()) +
           draws_.bytes() + 4 * graph_.vertices();
}

// Columns count from the first vertex of the batch.
void Pool::add_matrix(MatrixId which, std::int64_t first, const Induced& room, data::Csr& made) const {
    const data::Csr& matrix = graph_.matrix(which);
    if (made.row_start.empty()) made.row_start.push_back(0);
    std::int64_t row = 0;
    const auto finish_rows = [&](std::int64_t until) {
        for (; row < until; ++row) made.row_start.push_back(made.nonzeros());
    };
    room.visit(matrix, [&](std::int64_t e, std::int64_t i, std::int32_t j) {
        finish_rows(i);
        made.column.push_back(static_cast<std::int32_t>(first + j));
        if (!matrix.weighted() && !sampling_.coefficients) return;
        const float weight = matrix.weighted() ? matrix.weight[at(e)] : 1;
        made.weight.push_back(sampling_.coefficients ? weight / static_cast<float>(batches_with(which, e)) : weight);
    });
    finish_rows(room.size());
}

float Pool::counts_as(std::int64_t vertex, std::int64_t batch) const {
    if (!trains(vertex)) return 0;
    const double of = sampling_.coefficients ? static_cast<double>(batches()) : static_cast<double>(training_);
    const std::int64_t over = sampling_.coefficients ? batches_with(vertex) : sizes_[at(batch)].training;
    return static_cast<float>(of / static_cast<double>(over));
}

}  // namespace gnnplan::sample
