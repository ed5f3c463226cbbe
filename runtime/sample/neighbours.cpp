#include "runtime/sample/neighbours.hpp"

#include "runtime/graph/row_parts.hpp"
#include "runtime/graph/streams.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

namespace gnnplan::sample {
namespace {

// Where a vertex stands among its in-neighbours; -1: nowhere.
std::int32_t loop_of(const data::Csr& matrix, std::int64_t row, std::int64_t vertex) {
    const auto first = matrix.column.begin() + matrix.row_start[at(row)];
    const auto last = first + matrix.degree(row);
    const auto found = std::lower_bound(first, last, vertex);
    return found != last && *found == vertex ? static_cast<std::int32_t>(found - first) : -1;
}

// The in-neighbours of a vertex, of which its self loop is none.
struct Neighbours {
    std::span<const std::int32_t> column;
    const float* weight = nullptr;  // of each; null: 1
    std::int64_t loop = -1;         // as loop_of()

    Neighbours(const data::Csr& matrix, std::int64_t row, std::int64_t loop_at)
        : column(matrix.column.data() + matrix.row_start[at(row)], at(matrix.degree(row))),
          weight(matrix.weighted() ? matrix.weight.data() + matrix.row_start[at(row)] : nullptr),
          loop(loop_at) {}

    std::int64_t degree() const { return std::ssize(column) - (loop >= 0 ? 1 : 0); }
};

// Some of so many things: a bit for each, so that they come out ascending.
class Positions {
public:
    explicit Positions(std::int64_t most) : words_(at(most / 64 + 1), 0) {}

    bool has(std::int64_t i) const { return (words_[at(i / 64)] >> (i % 64) & 1U) != 0; }
    void add(std::int64_t i) { words_[at(i / 64)] |= std::uint64_t{1} << (i % 64); }

    // Puts one more thing at `place`, which is taken, and moves those from there on; `end` is how many there are then.
    void insert(std::int64_t place, std::int64_t end) {
        const auto first = at(place / 64);
        for (std::size_t w = at((end - 1) / 64); w > first; --w) words_[w] = words_[w] << 1U | words_[w - 1] >> 63U;
        const std::uint64_t below = (std::uint64_t{1} << (place % 64)) - 1;
        words_[first] = (words_[first] & below) | (words_[first] & ~below) << 1U | (below + 1);
    }

    std::int64_t count_below(std::int64_t place) const {
        std::int64_t count = std::popcount(words_[at(place / 64)] & ((std::uint64_t{1} << (place % 64)) - 1));
        for (std::int64_t w = 0; w < place / 64; ++w) count += std::popcount(words_[at(w)]);
        return count;
    }

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

// Random numbers of a vertex: one of 128 bits for each draw serves three layers, 42 bits each.
using RandomNumbers = std::vector<std::array<std::uint64_t, 2>>;
constexpr std::size_t layers_of_number = 3;

std::uint64_t bits_of(const std::array<std::uint64_t, 2>& number, std::size_t layer) {
    const auto [low, high] = number;
    if (layer == 0) return low << 22U;
    return layer == 1 ? (high << 44U) | (low >> 42U << 22U) : high >> 20U << 22U;
}

// One layer's matrix while it is filled, by any thread one row at a time.
class Layer {
public:
    // `loops` says where each vertex stands among its neighbours.
    Layer(const data::Csr& matrix, std::int64_t fanout, bool weighted, const std::vector<std::int32_t>& loops)
        : fanout_(fanout) {
        made_.vertices = matrix.vertices;
        made_.first_row = matrix.first_row;
        made_.row_start.resize(matrix.row_start.size());
        for (std::int64_t i = 0; i < matrix.rows(); ++i) {
            const std::int64_t loop = loops[at(i)] >= 0 ? 1 : 0;
            made_.row_start[at(i) + 1] = made_.row_start[at(i)] + std::min(matrix.degree(i) - loop, fanout) + loop;
        }
        made_.column.resize(at(made_.row_start.back()));
        if (weighted) made_.weight.resize(made_.column.size());
    }

    // How many of so many neighbours are left to chance.
    std::int64_t draws(std::int64_t degree) const { return degree > fanout_ ? fanout_ : 0; }

    // Draws among so many neighbours (Floyd's algorithm: Bentley and Floyd 1987, "A sample of brilliance"), with what
    // the layer has of each number.
    void draw(std::int64_t degree, const RandomNumbers& numbers, std::size_t layer, Positions& drawn) const {
        const std::int64_t count = draws(degree);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t last = degree - count + i;
            const std::int64_t wanted = data::below(bits_of(numbers[at(i)], layer), last + 1);
            drawn.add(drawn.has(wanted) ? last : wanted);
        }
    }

    // Fills a row with all neighbours, or with those that were drawn, which are forgotten.
    void fill(std::int64_t row, const Neighbours& all, Positions& drawn) {
        std::int32_t* const column = made_.column.data() + made_.row_start[at(row)];
        float* const weight = made_.weighted() ? made_.weight.data() + made_.row_start[at(row)] : nullptr;
        if (all.degree() > fanout_) return fill_drawn(all, drawn, column, weight);
        std::ranges::copy(all.column, column);
        if (weight == nullptr) return;
        if (all.weight != nullptr) {
            std::copy_n(all.weight, all.column.size(), weight);
        } else {
            std::fill_n(weight, all.column.size(), 1.0F);
        }
    }

    data::Csr finish() { return std::move(made_); }

private:
    // A drawn edge stands for degree / fanout of them, a loop for itself.
    void fill_drawn(const Neighbours& all, Positions& drawn, std::int32_t* column, float* weight) const {
        if (all.loop >= 0) drawn.insert(all.loop, std::ssize(all.column));
        if (weight != nullptr) {
            const float each = static_cast<float>(all.degree()) / static_cast<float>(fanout_);
            std::fill_n(weight, fanout_ + (all.loop >= 0 ? 1 : 0), each);
            if (all.loop >= 0) weight[drawn.count_below(all.loop)] = 1;
        }
        if (weight == nullptr || all.weight == nullptr) {
            drawn.take(std::ssize(all.column), [&](std::int64_t i) { *column++ = all.column[at(i)]; });
        } else {
            drawn.take(std::ssize(all.column), [&](std::int64_t i) {
                *column++ = all.column[at(i)];
                *weight++ *= all.weight[i];
            });
        }
    }

    std::int64_t fanout_;
    data::Csr made_;
};

// Draws for the vertices of some rows in all layers: one visit serves all, while its neighbours are in the caches.
class Visits {
public:
    Visits(std::vector<Layer>& layers, const kernels::RandomStream& random, std::int64_t longest_row)
        : layers_(layers), random_(random), drawn_(layers.size(), Positions(longest_row)) {}

    void visit(std::int64_t row, const Neighbours& all, std::int64_t vertex) {
        for (std::size_t first = 0; first < layers_.size(); first += layers_of_number) {
            const std::size_t end = std::min(first + layers_of_number, layers_.size());
            make_numbers(first, end, all.degree(), vertex);
            for (std::size_t l = first; l < end; ++l) {
                layers_[l].draw(all.degree(), numbers_, l - first, drawn_[l]);
                layers_[l].fill(row, all, drawn_[l]);
            }
        }
    }

private:
    // As many as the layers `first` to `end` - 1 draw.
    void make_numbers(std::size_t first, std::size_t end, std::int64_t degree, std::int64_t vertex) {
        constexpr std::uint64_t of_vertices = std::uint64_t{1} << 32;  // more than there can be
        std::int64_t most = 0;
        for (std::size_t l = first; l < end; ++l) most = std::max(most, layers_[l].draws(degree));
        if (std::ssize(numbers_) < most) numbers_.resize(at(most));
        const std::uint64_t row = first / layers_of_number * of_vertices + static_cast<std::uint64_t>(vertex);
        for (std::int64_t i = 0; i < most; ++i) numbers_[at(i)] = random_.at(row, static_cast<std::uint64_t>(i));
    }

    std::vector<Layer>& layers_;
    const kernels::RandomStream& random_;
    std::vector<Positions> drawn_;  // of each layer
    RandomNumbers numbers_;
};

}  // namespace

std::vector<data::Csr> draw_neighbours(const data::Csr& matrix, const std::vector<std::int64_t>& fanout,
                                       std::uint64_t seed, bool weighted, const data::RowVertices& vertices) {
    if (fanout.empty()) return {};
    std::vector<std::int32_t> loops(at(matrix.rows()));
    data::for_row_parts(matrix.row_start, [&](Range rows) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) loops[at(i)] = loop_of(matrix, i, vertices[i]);
    });
    std::vector<Layer> layers;
    layers.reserve(fanout.size());
    for (const std::int64_t k : fanout) layers.emplace_back(matrix, k, weighted, loops);
    const kernels::RandomStream random(seed, data::neighbour_stream);
    data::for_row_parts(matrix.row_start, [&](Range rows) {
        std::int64_t longest = 0;
        for (std::int64_t i = rows.begin; i < rows.end; ++i) longest = std::max(longest, matrix.degree(i));
        Visits visits(layers, random, longest);
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
            visits.visit(i, Neighbours(matrix, i, loops[at(i)]), vertices[i]);
    });
    std::vector<data::Csr> made;
    made.reserve(layers.size());
    for (Layer& layer : layers) made.push_back(layer.finish());
    return made;
}

}  // namespace gnnplan::sample
