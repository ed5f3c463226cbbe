// The graphs of batches of a pool.
#include "runtime/graph/row_parts.hpp"
#include "runtime/sample/masks.hpp"
#include "runtime/sample/pool.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gnnplan::sample {

data::Clones Pool::graphs(std::span<const std::int64_t> numbers, Range own, Induced& room) const {
    data::Clones made = none();
    for (std::int64_t i = 0; i < std::ssize(numbers); ++i) {
        const std::int64_t end = made.first.back() + size_of(numbers[at(i)]).vertices;
        own.begin <= i&& i < own.end ? add_batch(numbers[at(i)], room, made) : add_vertices(end, made);
        made.first.push_back(end);
    }
    return made;
}

data::Clones Pool::none() const {
    data::Clones made;
    made.graph.symmetric = graph_.symmetric && sampling_.has_pool();
    made.graph.weighted = graph_.weighted || sampling_.coefficients;
    made.graph.share = true;
    made.graph.out.row_start = {0};
    if (!made.graph.symmetric) made.graph.in.row_start = {0};
    made.first = {0};
    return made;
}

void Pool::add_mask(std::int64_t number, data::Clones& made) const {
    ensure(made.vertices.vertex.empty(), "an update is of one graph of all vertices");
    data::Graph mask = masked_graph(graph_, sampling_.budget, sampling_.seed, number);
    made.graph.out = std::move(mask.out), made.graph.in = std::move(mask.in);
    for (std::int64_t v = 0; v < graph_.vertices(); ++v) {
        made.vertices.vertex.push_back(static_cast<std::int32_t>(v));
        made.counts_as.push_back(trains(v) ? 1.0F : 0.0F);
    }
}

void Pool::add_batch(std::int64_t batch, Induced& room, data::Clones& made) const {
    if (!sampling_.has_pool()) return add_mask(batch, made);
    const std::vector<std::int32_t> vertices = draws_.vertices(batch);
    const std::int64_t first = std::ssize(made.vertices.vertex);
    room.choose(vertices);
    add_matrix(backward_matrix, first, room, made.graph.out);
    if (!graph_.symmetric) add_matrix(forward_matrix, first, room, made.graph.in);
    room.choose({});
    for (const std::int32_t v : vertices) {
        made.vertices.vertex.push_back(static_cast<std::int32_t>(vertex(v)));
        made.counts_as.push_back(counts_as(v, batch));
    }
    set_vertices(made);
}

// Vertices without edges, which no loss counts, until there are so many.
void Pool::add_vertices(std::int64_t until, data::Clones& made) const {
    made.vertices.vertex.resize(at(until), static_cast<std::int32_t>(vertex(0)));
    made.counts_as.resize(at(until), 0.0F);
    set_vertices(made);
}

void Pool::set_vertices(data::Clones& made) const {
    const std::int64_t clones = std::ssize(made.vertices.vertex);
    for (data::Csr* matrix : {&made.graph.out, &made.graph.in}) {
        if (matrix == &made.graph.in && made.graph.symmetric) continue;
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
    const bool as_many = of_group * groups == all_vertices_;
    for (int group = 0; group < groups; ++group) {
        for (int batch = 0; batch < batches / groups; ++batch) add_batch(widest, room, made);
        const std::int64_t end = made.first.back() + of_group + (as_many && group + 1 == groups ? 1 : 0);
        add_vertices(end, made);
        made.first.push_back(end);
    }
    return made;
}

// Columns count from the first vertex of the batch. Each part of the rows is found by itself, and copied to its place
// when those before it are known; what is read of all over the graph then is read by a loop of its own.
void Pool::add_matrix(MatrixId which, std::int64_t first, const Induced& room, data::Csr& made) const {
    const data::Csr& matrix = graph_.matrix(which);
    struct Found {
        std::vector<std::int64_t> entry;
        std::vector<std::int32_t> column;
    };
    const std::int64_t before = made.nonzeros(), looked_at = matrix.nonzeros() / graph_.vertices() * room.size();
    const std::vector<Range> parts = data::even_parts({0, room.size()}, looked_at);
    std::vector<Found> found(parts.size());
    made.row_start.resize(at(first + room.size() + 1), 0);
    data::for_parts(std::ssize(parts), [&](std::int64_t part) {
        Found& here = found[at(part)];
        room.visit(matrix, parts[at(part)], [&](std::int64_t e, std::int64_t i, std::int32_t j) {
            ++made.row_start[at(first + i + 1)];
            here.entry.push_back(e);
            here.column.push_back(static_cast<std::int32_t>(first + j));
        });
    });
    made.row_start[at(first)] = before;
    std::partial_sum(made.row_start.begin() + first, made.row_start.end(), made.row_start.begin() + first);
    made.column.resize(at(made.row_start.back()));
    const bool weighs = matrix.weighted() || sampling_.coefficients;
    if (weighs) made.weight.resize(made.column.size());
    data::for_parts(std::ssize(parts), [&](std::int64_t part) {
        const std::int64_t begin = made.row_start[at(first + parts[at(part)].begin)];
        std::ranges::copy(found[at(part)].column, made.column.begin() + begin);
        if (!weighs) return;
        std::ranges::transform(found[at(part)].entry, made.weight.begin() + begin,
                               [&](std::int64_t e) { return weight(which, matrix, e); });
    });
}

float Pool::weight(MatrixId which, const data::Csr& matrix, std::int64_t nonzero) const {
    const float weight = matrix.weighted() ? matrix.weight[at(nonzero)] : 1;
    return sampling_.coefficients ? weight / static_cast<float>(batches_with(which, nonzero)) : weight;
}

float Pool::counts_as(std::int64_t vertex, std::int64_t batch) const {
    if (!trains(vertex)) return 0;
    const double of = sampling_.coefficients ? static_cast<double>(batches()) : static_cast<double>(training_);
    const std::int64_t over = sampling_.coefficients ? batches_with(vertex) : sizes_[at(batch)].training;
    return static_cast<float>(of / static_cast<double>(over));
}

}  // namespace gnnplan::sample
