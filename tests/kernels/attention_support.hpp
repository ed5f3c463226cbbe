// The common parts of tests of attention: operands of its calls, and the same calls of the reference in double, which
// says what is right and how far sums of floats may be from it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "kernels/reference/attention.hpp"
#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {

// A matrix of doubles.
class Doubles {
public:
    Doubles(std::int64_t rows, std::int64_t columns)
        : rows_(rows), columns_(columns), data_(static_cast<std::size_t>(rows * columns)) {}
    explicit Doubles(const Owned& from, bool absolute = false) : Doubles(from.view().rows, from.view().columns) {
        for (std::int64_t i = 0; i < rows_; ++i) {
            for (std::int64_t j = 0; j < columns_; ++j)
                at(i, j) = static_cast<double>(absolute ? std::abs(from.at(i, j)) : from.at(i, j));
        }
    }

    Dense<double> view() { return {data_.data(), rows_, columns_, columns_}; }
    Dense<const double> view() const { return {data_.data(), rows_, columns_, columns_}; }
    double& at(std::int64_t i, std::int64_t j) { return data_[static_cast<std::size_t>(i * columns_ + j)]; }
    double at(std::int64_t i, std::int64_t j) const { return data_[static_cast<std::size_t>(i * columns_ + j)]; }

    Doubles& fill(std::mt19937& random) {
        std::uniform_real_distribution<double> value(-1, 1);
        for (double& x : data_) x = value(random);
        return *this;
    }
    double dot(const Doubles& other) const {
        return std::inner_product(data_.begin(), data_.end(), other.data_.begin(), 0.0);
    }

private:
    std::int64_t rows_, columns_;
    std::vector<double> data_;
};

inline BasicCsr<double> in_double(const Csr& a) {
    return {.rows = a.rows,
            .columns = a.columns,
            .row_start = a.row_start,
            .column = a.column,
            .panels = a.panels,
            .panel_stride = a.panel_stride};
}

// Empty if every element is as far from what it should be as so many roundings of `scale` allow, and no padding was
// written; otherwise says where not. Row i has roundings[i].
inline std::string difference(const Owned& got, const Doubles& want, const Doubles& scale,
                              const std::vector<double>& roundings) {
    for (std::int64_t i = 0; i < got.view().rows; ++i) {
        for (std::int64_t j = 0; j < got.view().columns; ++j) {
            const double x = got.at(i, j);
            const double tolerance = roundings[static_cast<std::size_t>(i)] * std::ldexp(scale.at(i, j), -24) + 1e-30;
            if (std::abs(x - want.at(i, j)) <= tolerance) continue;
            std::ostringstream message;
            message << "(" << i << ", " << j << "): " << x << " instead of " << want.at(i, j) << ", tolerance "
                    << tolerance;
            return message.str();
        }
    }
    return got.padding_untouched() ? "" : "wrote behind a row's end";
}

// Entries of each row, and a constant for what is done to each of them: its exponential, of a score that is rounded
// relative to `score`, and what rows are divided by.
inline std::vector<double> roundings_of(const Csr& a, double score) {
    std::vector<double> roundings(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::int64_t entries = 0;
        reference::for_neighbours(a, i, [&](std::int64_t) { ++entries; });
        roundings[static_cast<std::size_t>(i)] = 40 + 8 * score + 2 * static_cast<double>(entries);
    }
    return roundings;
}

// How one of many calls of attention is made.
struct AttentionShape {
    std::int64_t heads = 1;
    std::int64_t head_columns = 1;
    std::int64_t first = 0;    // Heads::first
    std::int64_t columns = 1;  // of wide matrices
    std::int64_t padding = 0;
    int score = 3;  // numbers of vertices are within half of it
    float slope = 0.2F;
    bool drops = false;

    std::string name() const {
        std::ostringstream name;
        name << heads << " heads of " << head_columns << " columns, " << columns << " from " << first << ", padding "
             << padding << ", scores to " << score << ", slope " << slope << (drops ? ", dropout" : "");
        return name.str();
    }
};

// Whole heads, or columns that begin and end within heads.
inline AttentionShape attention_shape(std::mt19937& random, std::int64_t heads, std::int64_t head_columns, bool cut,
                                      bool drops) {
    const std::int64_t all = heads * head_columns;
    AttentionShape shape{.heads = heads, .head_columns = head_columns, .columns = all, .drops = drops};
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    if (cut) shape.first = below(all);
    if (cut) shape.columns = 1 + below(all - shape.first);
    shape.padding = below(2) == 0 ? 0 : 3;
    shape.score = below(3) == 0 ? 500 : 3;
    shape.slope = below(3) == 0 ? 0.0F : 0.2F;
    return shape;
}

// Dropout of a matrix whose rows and columns are any vertices.
struct VertexDropout {
    PassValues pass = pass_values(7);
    std::vector<std::int32_t> row_ids, column_ids;
    std::int64_t first_head, more_heads;

    VertexDropout(std::mt19937& random, const Csr& a)
        : first_head(random() % 2 == 0 ? 0 : static_cast<std::int64_t>(random() % 12)),
          more_heads(static_cast<std::int64_t>(random() % 3)) {
        const auto draw = [&](std::vector<std::int32_t>& ids, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(random() >> 1U));
        };
        draw(row_ids, a.rows);
        draw(column_ids, a.columns);
    }

    Attention attention(const AttentionShape& shape) const {
        Attention how{{shape.head_columns, shape.first}, shape.slope, {}};
        if (!shape.drops) return how;
        how.dropout = {.seed = 0x123456789abcdefU,
                       .pass = &pass,
                       .layer = 2,
                       .probability = 0.4F,
                       .first_head = first_head,
                       .all_heads = first_head + shape.heads + more_heads,
                       .row_ids = row_ids.data(),
                       .column_ids = column_ids.data()};
        return how;
    }
};

// Multiples of 1 / 16 within +-bound, so that s + t is exact in float, and has its sign.
inline Owned numbers(std::mt19937& random, std::int64_t rows, std::int64_t columns, std::int64_t padding, int bound) {
    Owned numbers = Owned(rows, columns, padding).fill(random, 16 * bound);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) numbers.at(i, j) /= 16;
    }
    return numbers;
}

// Entries of a, in all panels, as many as numbers of entries go to.
inline std::int64_t entries_of(const Csr& a) {
    return a.row_start[(a.panels - 1) * (a.panels > 1 ? a.panel_stride : 0) + a.rows];
}

// Operands of Table::attend and what it makes of them.
struct Attending {
    AttentionShape shape;
    Owned h, source, target;
    Owned sum, log_total, total, by_target, negative_share, scores;
    bool keeps, stores;

    Attending(std::mt19937& random, const Csr& a, const AttentionShape& of, bool keeps_parts)
        : shape(of),
          h(Owned(a.columns, of.columns, of.padding).fill(random, 3)),
          source(numbers(random, a.columns, of.heads, of.padding, of.score / 2)),
          target(numbers(random, a.rows, of.heads, 2 * of.padding, of.score / 2)),
          sum(a.rows, of.columns, 2 * of.padding),
          log_total(a.rows, of.heads, of.padding),
          total(a.rows, of.heads, of.padding),
          by_target(a.rows, of.columns, of.padding),
          negative_share(a.rows, of.heads, 0),
          scores(entries_of(a), of.heads, of.padding),
          keeps(keeps_parts),
          stores(keeps && random() % 2 == 0) {}

    AttendOperands in() const { return {h.view(), source.view(), target.view()}; }
    AttendResults to() {
        AttendResults results{sum.view(), log_total.view(), total.view()};
        if (keeps) results.by_target = by_target.view(), results.negative_share = negative_share.view();
        if (stores) results.scores = scores.view();
        return results;
    }

    // Empty if the results are those of all entries of a.
    std::string wrong(const Csr& a, const Attention& how) const {
        Doubles z(a.rows, shape.columns), parts = z, largest_z = z, unread = z;
        Doubles logs(a.rows, shape.heads), totals = logs, shares = logs, one = logs;
        Doubles kept(entries_of(a), shape.heads);
        const Doubles from(h), absolute(h, true), s(source), t(target);
        const BasicCsr<double> b = in_double(a);
        reference::attend<double>(b, {absolute.view(), s.view(), t.view()},
                                  {largest_z.view(), logs.view(), totals.view()}, how, false, true);
        reference::attend<double>(b, {from.view(), s.view(), t.view()},
                                  {z.view(), logs.view(), totals.view(), parts.view(), shares.view(), kept.view()}, how,
                                  false, true);
        for (std::int64_t i = 0; i < a.rows; ++i) {
            for (std::int64_t k = 0; k < shape.heads; ++k) one.at(i, k) = 1 + std::abs(logs.at(i, k));
        }
        const std::vector<double> roundings = roundings_of(a, shape.score);
        std::string message = difference(sum, z, largest_z, roundings);
        if (message.empty()) message = difference(log_total, logs, one, roundings);
        // Two terms, each as large as the sum.
        for (std::int64_t i = 0; i < a.rows; ++i) {
            for (std::int64_t j = 0; j < shape.columns; ++j) largest_z.at(i, j) *= 2;
        }
        if (message.empty() && keeps) message = difference(by_target, parts, largest_z, roundings);
        return message.empty() && stores ? wrong_scores(a, kept) : message;
    }

private:
    // Scores are exact, so that all of their bits are known.
    std::string wrong_scores(const Csr& a, const Doubles& want) const {
        std::string message = scores.padding_untouched() ? "" : "wrote behind scores";
        for (std::int64_t i = 0; i < a.rows && message.empty(); ++i) {
            reference::for_entries(a, i, [&](std::int64_t e, std::int32_t) {
                for (std::int64_t k = 0; k < shape.heads; ++k) {
                    const auto x = static_cast<float>(want.at(e, k));
                    const float stored = stored_score(x, is_dropped(want.at(e, k)));
                    if (std::bit_cast<std::uint32_t>(scores.at(e, k)) == std::bit_cast<std::uint32_t>(stored)) continue;
                    message = "score of entry " + std::to_string(e) + ", head " + std::to_string(k) + ": " +
                              std::to_string(scores.at(e, k)) + " instead of " + std::to_string(stored);
                }
            });
        }
        return message;
    }
};

// Operands of Table::attend_back and what it makes of them.
struct AttendingBack {
    AttentionShape shape;
    Owned gradient, target, log_total, inner, h, source, scores;
    bool stored;
    Owned to_h, to_source, before_h, before_source;

    AttendingBack(std::mt19937& random, const Csr& a, const AttentionShape& of)
        : shape(of),
          gradient(Owned(a.columns, of.columns, of.padding).fill(random, 3)),
          target(numbers(random, a.columns, of.heads, of.padding, of.score / 2)),
          log_total(numbers(random, a.columns, of.heads, 0, 2)),
          inner(numbers(random, a.columns, of.heads, 2 * of.padding, 9)),
          h(Owned(a.rows, of.columns, 2 * of.padding).fill(random, 3)),
          source(numbers(random, a.rows, of.heads, of.padding, of.score / 2)),
          scores(entries_of(a), of.heads, of.padding),
          stored(random() % 2 == 0),
          to_h(Owned(a.rows, of.columns, of.padding).fill(random, 2)),
          to_source(Owned(a.rows, of.heads, of.padding).fill(random, 2)),
          before_h(to_h),
          before_source(to_source) {
        for (std::int64_t i = 0; i < a.columns; ++i) {  // no score is greater
            for (std::int64_t k = 0; k < of.heads; ++k) log_total.at(i, k) += static_cast<float>(of.score + 2);
        }
        for (std::int64_t i = 0; of.score > 100 && i < a.columns; ++i) {
            for (std::int64_t k = 0; k < of.heads; ++k)
                log_total.at(i, k) = static_cast<float>(of.score / 2) + std::abs(target.at(i, k));
        }
        for (std::int64_t u = 0; u < a.rows; ++u) {
            reference::for_entries(a, u, [&](std::int64_t e, std::int32_t v) {
                for (std::int64_t k = 0; k < of.heads; ++k)
                    scores.at(e, k) = stored_score(source.at(u, k) + target.at(v, k), of.drops && random() % 3 == 0);
            });
        }
    }

    AttendBackOperands in() const {
        if (stored) return {gradient.view(), {}, log_total.view(), inner.view(), h.view(), {}, scores.view()};
        return {gradient.view(), target.view(), log_total.view(), inner.view(), h.view(), source.view()};
    }
    AttendBackResults to() { return {to_h.view(), to_source.view()}; }

    // Empty if the results are those of all entries of a, added to what was there with `accumulate`.
    std::string wrong(const Csr& a, const Attention& how, bool accumulate) const {
        const BasicCsr<double> b = in_double(a);
        const Doubles t(target), logs(log_total), s(source), g(gradient), w(inner), x(h);
        const Doubles most_g(gradient, true), most_x(h, true);
        Doubles least_w(inner, true);
        for (std::int64_t i = 0; i < a.columns; ++i) {
            for (std::int64_t k = 0; k < shape.heads; ++k) least_w.at(i, k) *= -1;
        }
        Doubles kept(scores);
        for (std::int64_t e = 0; e < entries_of(a); ++e) {
            for (std::int64_t k = 0; k < shape.heads; ++k)
                kept.at(e, k) = stored_score(kept.at(e, k), is_dropped(scores.at(e, k)));
        }
        const Dense<const double> none{}, read = stored ? std::as_const(kept).view() : none;
        Doubles want_h(before_h), want_source(before_source), most_h(before_h, true), most_source(before_source, true);
        reference::attend_back<double>(b, {g.view(), t.view(), logs.view(), w.view(), x.view(), s.view(), read},
                                       {want_h.view(), want_source.view()}, how, accumulate);
        reference::attend_back<double>(
            b, {most_g.view(), t.view(), logs.view(), least_w.view(), most_x.view(), s.view(), read},
            {most_h.view(), most_source.view()}, how, accumulate);
        std::vector<double> roundings = roundings_of(a, shape.score);
        const std::string message = difference(to_h, want_h, most_h, roundings);
        for (double& each : roundings) each += static_cast<double>(shape.head_columns);
        return message.empty() ? difference(to_source, want_source, most_source, roundings) : message;
    }
};

// Rows of so many entries each, in any columns.
inline OwnedCsr csr_of_lengths(std::mt19937& random, const std::vector<std::int64_t>& lengths, std::int64_t columns) {
    OwnedCsr csr;
    csr.columns = columns;
    for (const std::int64_t length : lengths) {
        for (std::int64_t k = 0; k < length; ++k)
            csr.column.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(columns)));
        csr.row_start.push_back(static_cast<std::int64_t>(csr.column.size()));
    }
    return csr;
}

}  // namespace gnnplan::kernels::testing
