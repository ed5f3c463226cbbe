#include "runtime/sample/neighbours.hpp"

#include "runtime/graph/streams.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

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
    // Among all columns, the i-th that is no loop.
    std::int64_t position(std::int64_t i) const { return loop >= 0 && i >= loop ? i + 1 : i; }
};

// Some of a vertex's columns: a bit for each, so that they come out ascending.
class Positions {
public:
    explicit Positions(std::int64_t most) : words_(at((most + 63) / 64), 0) {}

    bool has(std::int64_t i) const { return (words_[at(i / 64)] >> (i % 64) & 1U) != 0; }
    void add(std::int64_t i) { words_[at(i / 64)] |= std::uint64_t{1} << (i % 64); }

    // Calls visit(i) for all that are below `end`, and forgets them.
    template <class Visit>
    void take(std::int64_t end, const Visit& visit) {
        for (std::int64_t w = 0; w <= (end - 1) / 64; ++w) {
            for (std::uint64_t word = words_[at(w)]; word != 0; word &= word - 1)
                visit(64 * w + std::countr_zero(word));
            words_[at(w)] = 0;
        }
    }

private:
    std::vector<std::uint64_t> words_;
};

// One layer's matrix while it is filled.
class Layer {
public:
    Layer(const data::Csr& matrix, std::int64_t fanout, bool weighted, std::int64_t longest_row)
        : fanout_(fanout), weighted_(weighted), drawn_(longest_row) {
        made_.vertices = matrix.vertices;
        made_.first_row = matrix.first_row;
        made_.row_start.reserve(matrix.row_start.size());
        made_.row_start.push_back(0);
        std::int64_t most = 0;  // where no vertex lacks its loop
        for (std::int64_t i = 0; i < matrix.rows(); ++i) most += std::min(matrix.degree(i) - 1, fanout) + 1;
        made_.column.reserve(at(most));
        if (weighted) made_.weight.reserve(at(most));
    }

    // How many of so many neighbours are left to chance.
    std::int64_t draws(std::int64_t degree) const { return degree > fanout_ ? fanout_ : 0; }

    // The i-th draw of a vertex (Floyd's algorithm: Bentley and Floyd 1987, "A sample of brilliance").
    void draw(const Neighbours& all, std::int64_t i, std::uint64_t random) {
        const std::int64_t last = all.degree() - fanout_ + i;
        const std::int64_t wanted = all.position(data::below(random, last + 1));
        drawn_.add(drawn_.has(wanted) ? all.position(last) : wanted);
    }

    void end_row(const Neighbours& all) {
        const std::int64_t degree = all.degree();
        if (degree <= fanout_) {
            made_.column.insert(made_.column.end(), all.column.begin(), all.column.end());
            if (weighted_ && all.weight != nullptr)
                made_.weight.insert(made_.weight.end(), all.weight, all.weight + all.column.size());
            else if (weighted_)
                made_.weight.insert(made_.weight.end(), all.column.size(), 1.0F);
        } else {
            end_drawn_row(all, static_cast<float>(degree) / static_cast<float>(fanout_));
        }
        made_.row_start.push_back(std::ssize(made_.column));
    }

    data::Csr finish() { return std::move(made_); }

private:
    // A drawn edge stands for `each`, a loop for itself.
    void end_drawn_row(const Neighbours& all, float each) {
        if (all.loop >= 0) drawn_.add(all.loop);
        const std::size_t begin = made_.column.size(), count = at(fanout_ + (all.loop >= 0 ? 1 : 0));
        made_.column.resize(begin + count);
        std::int32_t* column = made_.column.data() + begin;
        if (weighted_) made_.weight.resize(begin + count, each);
        float* weight = weighted_ ? made_.weight.data() + begin : nullptr;
        drawn_.take(std::ssize(all.column), [&](std::int64_t i) {
            *column++ = all.column[at(i)];
            if (weight == nullptr) return;
            if (i == all.loop) *weight = 1;
            if (all.weight != nullptr) *weight *= all.weight[i];
            ++weight;
        });
    }

    std::int64_t fanout_;
    bool weighted_;
    Positions drawn_;  // of the row that is being drawn
    data::Csr made_;
};

// Draws for a vertex in all layers. One number of 128 bits serves three of them, 42 bits each.
void draw(std::vector<Layer>& layers, const Neighbours& all, const kernels::RandomStream& random, std::int64_t vertex) {
    constexpr std::size_t together = 3;
    constexpr std::uint64_t of_vertices = std::uint64_t{1} << 32;  // more than there can be
    const std::int64_t degree = all.degree();
    const auto row = [&](std::size_t first) {
        return first / together * of_vertices + static_cast<std::uint64_t>(vertex);
    };
    for (std::size_t first = 0; first < layers.size(); first += together) {
        const std::span<Layer> some = std::span(layers).subspan(first, std::min(together, layers.size() - first));
        std::int64_t most = 0;
        for (const Layer& layer : some) most = std::max(most, layer.draws(degree));
        for (std::int64_t i = 0; i < most; ++i) {
            const auto [low, high] = random.at(row(first), static_cast<std::uint64_t>(i));
            const std::array<std::uint64_t, together> numbers{low << 22U, (high << 44U) | (low >> 42U << 22U),
                                                              high >> 20U << 22U};
            for (std::size_t l = 0; l < some.size(); ++l)
                if (i < some[l].draws(degree)) some[l].draw(all, i, numbers[l]);
        }
    }
}

}  // namespace

std::vector<data::Csr> draw_neighbours(const data::Csr& matrix, const std::vector<std::int64_t>& fanout,
                                       std::uint64_t seed, bool weighted, const data::RowVertices& vertices) {
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < matrix.rows(); ++i) longest = std::max(longest, matrix.degree(i));
    std::vector<Layer> layers;
    layers.reserve(fanout.size());
    for (const std::int64_t k : fanout) layers.emplace_back(matrix, k, weighted, longest);
    const kernels::RandomStream random(seed, data::neighbour_stream);
    // One visit of a vertex serves all layers, while its neighbours are in the caches.
    for (std::int64_t i = 0; i < matrix.rows(); ++i) {
        const Neighbours all(matrix, i, vertices[i]);
        draw(layers, all, random, vertices[i]);
        for (Layer& layer : layers) layer.end_row(all);
    }
    std::vector<data::Csr> drawn;
    drawn.reserve(layers.size());
    for (Layer& layer : layers) drawn.push_back(layer.finish());
    return drawn;
}

}  // namespace gnnplan::sample
