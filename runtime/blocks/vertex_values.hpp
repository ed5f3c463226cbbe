// Numbers of vertices, of all of them or of those that a rank meets.
#pragma once

#include <gnnplan/base/range.hpp>

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gnnplan::data {

// A set of vertices that tells which of its members each one is, in 1.5 bits for each vertex there could be.
class VertexSet {
public:
    explicit VertexSet(std::int64_t vertices) : words_(static_cast<std::size_t>(word_count(vertices))) {}

    // 12 bytes for every 64 vertices.
    static std::int64_t bytes_of(std::int64_t vertices) { return 12 * word_count(vertices); }

    void add(std::int64_t vertex) { words_[word(vertex)].members |= bit(vertex); }
    // Once all are added, before the questions.
    void count() {
        for (Word& w : words_) {
            w.before = size_;
            size_ += std::popcount(w.members);
        }
    }

    std::int64_t size() const { return size_; }
    // The place of a vertex among the members, ascending; -1: it is none.
    std::int64_t find(std::int64_t vertex) const {
        const Word& w = words_[word(vertex)];
        if ((w.members & bit(vertex)) == 0) return -1;
        return w.before + std::popcount(w.members & (bit(vertex) - 1));
    }
    // The members within a range, ascending.
    std::vector<std::int32_t> members(Range range) const {
        std::vector<std::int32_t> found;
        for (std::int64_t v = range.begin; v < range.end; ++v) {
            const std::uint64_t from_here = words_[word(v)].members >> (v % 64);
            if (from_here == 0) {
                v += 63 - v % 64;
                continue;
            }
            v += std::countr_zero(from_here);
            if (v < range.end) found.push_back(static_cast<std::int32_t>(v));
        }
        return found;
    }

private:
#pragma pack(push, 4)
    struct Word {
        std::uint64_t members = 0;
        std::int32_t before = 0;  // members in the words before
    };
#pragma pack(pop)
    static_assert(sizeof(Word) == 12);

    static std::int64_t word_count(std::int64_t vertices) { return (vertices + 63) / 64; }
    static std::size_t word(std::int64_t vertex) { return static_cast<std::size_t>(vertex / 64); }
    static std::uint64_t bit(std::int64_t vertex) { return std::uint64_t{1} << (vertex % 64); }

    std::vector<Word> words_;
    std::int32_t size_ = 0;
};

// A number for each vertex, or for those of a range and of a set; 0 for all others.
class VertexValues {
public:
    VertexValues() = default;
    VertexValues(std::vector<double> of_all)  // NOLINT(google-explicit-constructor)
        : own_{0, static_cast<std::int64_t>(of_all.size())}, of_own_(std::move(of_all)) {}
    VertexValues(Range own, std::vector<double> of_own) : own_(own), of_own_(std::move(of_own)) {}
    // Adds the numbers of a set, in the order of its members.
    void add(std::shared_ptr<const VertexSet> others, std::vector<double> of_others) {
        others_ = std::move(others);
        of_others_ = std::move(of_others);
    }
    void push_back(double value) {
        of_own_.push_back(value);
        ++own_.end;
    }

    bool empty() const { return of_own_.empty() && of_others_.empty(); }
    // How many numbers there are.
    std::size_t size() const { return of_own_.size() + of_others_.size(); }
    double operator[](std::size_t vertex) const {
        const auto v = static_cast<std::int64_t>(vertex);
        if (v >= own_.begin && v < own_.end) return of_own_[vertex - static_cast<std::size_t>(own_.begin)];
        const std::int64_t place = others_ == nullptr ? -1 : others_->find(v);
        return place < 0 ? 0 : of_others_[static_cast<std::size_t>(place)];
    }

private:
    Range own_;
    std::vector<double> of_own_;
    std::shared_ptr<const VertexSet> others_;
    std::vector<double> of_others_;
};

}  // namespace gnnplan::data
