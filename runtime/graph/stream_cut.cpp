#include "runtime/graph/stream_cut.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <bit>

namespace gnnplan::data {

constexpr int word_bits = 64;

Replicas::Replicas(std::int64_t vertices, int parts)
    : words_(at((parts + word_bits - 1) / word_bits)), bits_(at(vertices) * words_, 0) {}

std::size_t Replicas::first_word(std::int64_t vertex) const { return at(vertex) * words_; }

std::span<const std::uint64_t> Replicas::words(std::int64_t vertex) const {
    return std::span(bits_).subspan(first_word(vertex), words_);
}

void Replicas::add(std::int64_t vertex, int part) {
    bits_[first_word(vertex) + at(part / word_bits)] |= std::uint64_t{1} << (part % word_bits);
}

bool Replicas::has(std::int64_t vertex, int part) const {
    return (bits_[first_word(vertex) + at(part / word_bits)] >> (part % word_bits) & 1U) != 0;
}

int Replicas::count(std::int64_t vertex) const {
    int sum = 0;
    for (const std::uint64_t word : words(vertex)) sum += std::popcount(word);
    return sum;
}

Replicas replicas_of(const Neighbours& graph, const EdgeParts& part, int parts) {
    Replicas replicas(graph.vertices(), parts);
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        for (std::int32_t k = graph.start[at(v)]; k < graph.start[at(v) + 1]; ++k) {
            if (part[at(k)] != no_part) replicas.add(v, part[at(k)]);
        }
    }
    return replicas;
}

void set_both(const Neighbours& graph, std::int32_t u, std::int32_t k, std::int16_t value, EdgeParts& part) {
    part[at(k)] = value;
    const auto back = graph.of(graph.vertex[at(k)]);
    part[static_cast<std::size_t>(&*std::ranges::lower_bound(back, u) - graph.vertex.data())] = value;
}

class StreamCut {
public:
    StreamCut(const Neighbours& graph, int parts, std::int64_t most, EdgeParts& part)
        : graph_(graph), most_(most), part_(part), replicas_(replicas_of(graph, part, parts)), load_(at(parts), 0) {
        for (const std::int16_t p : part) {
            if (p != no_part) ++load_[at(p)];
        }
        for (std::int64_t& load : load_) load /= 2;  // both directions were counted
    }

    void deal(std::int32_t u, std::int32_t k) {
        const std::int32_t v = graph_.vertex[at(k)];
        const int p = choose(u, v);
        set_both(graph_, u, k, static_cast<std::int16_t>(p), part_);
        replicas_.add(u, p);
        replicas_.add(v, p);
        ++load_[at(p)];
    }

private:
    int choose(std::int32_t u, std::int32_t v) const {
        const auto of_u = replicas_.words(u);
        const auto of_v = replicas_.words(v);
        const std::size_t words = of_u.size();
        if (const int p = least_loaded(words, [&](std::size_t w) { return of_u[w] & of_v[w]; }); p >= 0) return p;
        const bool u_counts = graph_.degree(u) < graph_.degree(v);
        const bool u_is_new = replicas_.count(u) == 0;
        const bool v_is_new = replicas_.count(v) == 0;
        const auto end = u_is_new || (!v_is_new && !u_counts) ? of_v : of_u;
        if (const int p = least_loaded(words, [&](std::size_t w) { return end[w]; }); p >= 0) return p;
        if (const int p = least_loaded(words, [&](std::size_t w) { return of_u[w] | of_v[w]; }); p >= 0) return p;
        return static_cast<int>(std::ranges::min_element(load_) - load_.begin());
    }

    // Returns the least loaded of the parts whose bit is set and that have room; -1 where there is none.
    template <class Word>
    int least_loaded(std::size_t words, Word word) const {
        int best = -1;
        for (std::size_t w = 0; w < words; ++w) {
            for (std::uint64_t left = word(w); left != 0; left &= left - 1) {
                const int p = static_cast<int>(w) * word_bits + std::countr_zero(left);
                if (load_[at(p)] < most_ && (best < 0 || load_[at(p)] < load_[at(best)])) best = p;
            }
        }
        return best;
    }

    const Neighbours& graph_;
    std::int64_t most_;  // edges of a part
    EdgeParts& part_;
    Replicas replicas_;
    std::vector<std::int64_t> load_;  // edges of each part
};

void deal_edges(const Neighbours& graph, const std::vector<std::int32_t>& order, int parts, std::int64_t most,
                EdgeParts& part) {
    StreamCut stream(graph, parts, most, part);
    for (const std::int32_t u : order) {
        for (std::int32_t k = graph.start[at(u)]; k < graph.start[at(u) + 1]; ++k) {
            if (part[at(k)] == no_part) stream.deal(u, k);
        }
    }
}

}  // namespace gnnplan::data
