#include "runtime/sample/neighbours.hpp"

#include "runtime/graph/streams.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <span>

namespace gnnplan::sample {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The in-neighbours of a vertex, of which its self loop is none.
struct Neighbours {
    std::span<const std::int32_t> column;
    const float* weight = nullptr;  // of each; null: 1
    std::int64_t loop = -1;         // where the vertex stands among them; -1: nowhere

    Neighbours(const data::Csr& matrix, std::int64_t row, std::int64_t vertex)
        : column(matrix.column.data() + matrix.row_start[at(row)], at(matrix.degree(row))),
          weight(matrix.weighted() ? matrix.weight.data() + matrix.row_start[at(row)] : nullptr) {
        const auto found = std::ranges::lower_bound(column, vertex);
        if (found != column.end() && *found == vertex) loop = found - column.begin();
    }

    std::int64_t degree() const { return std::ssize(column) - (loop >= 0 ? 1 : 0); }
    std::int64_t drawn(std::int64_t fanout) const { return std::min(degree(), fanout) + (loop >= 0 ? 1 : 0); }
    // Among all columns, the i-th that is no loop.
    std::int64_t position(std::int64_t i) const { return loop >= 0 && i >= loop ? i + 1 : i; }
};

// Draws distinct numbers (Floyd's algorithm: Bentley and Floyd 1987, "A sample of brilliance").
class Drawing {
public:
    Drawing(std::uint64_t seed, std::int64_t largest_degree) : seed_(seed), taken_(at(largest_degree), 0) {}

    // `count` of 0 .. of - 1, ascending; the span holds until the next call.
    std::span<const std::int64_t> draw(std::int64_t layer, std::int64_t vertex, std::int64_t count, std::int64_t of) {
        drawn_.clear();
        for (std::int64_t last = of - count; last < of; ++last) {
            const std::int64_t wanted = data::draw_below(seed_, data::neighbour_stream, layer * of_vertices + vertex,
                                                         last - (of - count), last + 1);
            const std::int64_t got = taken_[at(wanted)] != 0 ? last : wanted;
            taken_[at(got)] = 1;
            drawn_.push_back(got);
        }
        for (const std::int64_t i : drawn_) taken_[at(i)] = 0;
        std::ranges::sort(drawn_);
        return drawn_;
    }

private:
    static constexpr std::int64_t of_vertices = std::int64_t{1} << 32;  // more than there can be

    std::uint64_t seed_;
    std::vector<std::uint8_t> taken_;
    std::vector<std::int64_t> drawn_;
};

// One layer's matrix while it is filled.
class Layer {
public:
    Layer(const data::Csr& matrix, const data::RowVertices& vertices, std::int64_t fanout, bool weighted)
        : fanout_(fanout), weighted_(weighted) {
        made_.vertices = matrix.vertices;
        made_.first_row = matrix.first_row;
        made_.row_start.reserve(matrix.row_start.size());
        made_.row_start.push_back(0);
        for (std::int64_t i = 0; i < matrix.rows(); ++i)
            made_.row_start.push_back(made_.row_start.back() + Neighbours(matrix, i, vertices[i]).drawn(fanout));
        made_.column.reserve(at(made_.row_start.back()));
        if (weighted) made_.weight.reserve(at(made_.row_start.back()));
    }

    void add(const Neighbours& all, std::int64_t layer, std::int64_t vertex, Drawing& drawing) {
        const std::int64_t degree = all.degree();
        if (degree <= fanout_) {
            for (std::int64_t i = 0; i < std::ssize(all.column); ++i) take(all, i, 1);
            return;
        }
        const float each = static_cast<float>(degree) / static_cast<float>(fanout_);
        bool loop = all.loop >= 0;
        for (const std::int64_t i : drawing.draw(layer, vertex, fanout_, degree)) {
            const std::int64_t position = all.position(i);
            if (loop && position > all.loop) take(all, all.loop, 1), loop = false;
            take(all, position, each);
        }
        if (loop) take(all, all.loop, 1);
    }

    data::Csr finish() {
        ensure(std::ssize(made_.column) == made_.row_start.back(), "as many edges were drawn as were counted");
        return std::move(made_);
    }

private:
    void take(const Neighbours& all, std::int64_t position, float stands_for) {
        made_.column.push_back(all.column[at(position)]);
        if (weighted_) made_.weight.push_back(stands_for * (all.weight != nullptr ? all.weight[position] : 1.0F));
    }

    std::int64_t fanout_;
    bool weighted_;
    data::Csr made_;
};

}  // namespace

std::vector<data::Csr> draw_neighbours(const data::Csr& matrix, const std::vector<std::int64_t>& fanout,
                                       std::uint64_t seed, bool weighted, const data::RowVertices& vertices) {
    std::vector<Layer> layers;
    layers.reserve(fanout.size());
    for (const std::int64_t k : fanout) layers.emplace_back(matrix, vertices, k, weighted);
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < matrix.rows(); ++i) largest = std::max(largest, matrix.degree(i));
    Drawing drawing(seed, largest);
    // One visit of a vertex serves all layers, while its neighbours are in the caches.
    for (std::int64_t i = 0; i < matrix.rows(); ++i) {
        const Neighbours all(matrix, i, vertices[i]);
        for (std::size_t l = 0; l < layers.size(); ++l)
            layers[l].add(all, static_cast<std::int64_t>(l) + 1, vertices[i], drawing);
    }
    std::vector<data::Csr> drawn;
    drawn.reserve(layers.size());
    for (Layer& layer : layers) drawn.push_back(layer.finish());
    return drawn;
}

}  // namespace gnnplan::sample
