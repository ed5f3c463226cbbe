// Attention and what is done head by head, as plain loops for any element type: see reference.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/reference/edges.hpp"
#include "kernels/reference/reference.hpp"

namespace gnnplan::kernels::reference {

inline double scale_of_kept(const AttentionDropout& dropout) {
    return 1 / (1 - static_cast<double>(dropout.probability));
}

// The factor of dropout for the weight of an edge, for the head in column k of matrices by heads.
inline double weight_kept(const AttentionDropout& dropout, std::int32_t source, std::int32_t target, std::int64_t k) {
    if (dropout.probability == 0) return 1;
    const StreamKey stream = stream_key(dropout.seed, StreamUse::attention, dropout.pass->epoch, dropout.layer);
    const std::int64_t head = dropout.first_head + k;
    const std::int64_t groups = (dropout.all_heads + dropout_group - 1) / dropout_group;
    const auto group = static_cast<std::uint64_t>(source * groups + head / dropout_group);
    const auto words = stream_words(stream, static_cast<std::uint64_t>(target), group);
    const auto lane = static_cast<std::uint32_t>(head % dropout_group);
    const std::uint32_t draw = words[lane / 2] >> (16U * (lane % 2)) & 0xffffU;
    return draw >= dropout_threshold(dropout.probability) ? scale_of_kept(dropout) : 0;
}

template <class T>
T leaky(T x, float slope) {
    return x > 0 ? x : static_cast<T>(slope) * x;
}

// The columns of a wide matrix of n columns that are of head k.
struct HeadColumns {
    std::int64_t begin, end;
};
inline HeadColumns columns_of_head(const Heads& heads, std::int64_t k, std::int64_t n) {
    const std::int64_t begin = k * heads.columns - heads.first;
    return {std::clamp<std::int64_t>(begin, 0, n), std::clamp<std::int64_t>(begin + heads.columns, 0, n)};
}

// Head k of row v.
template <class T>
void attend_row(const BasicCsr<T>& a, const BasicAttendOperands<T>& in, const BasicAttendResults<T>& to,
                const Attention& how, bool accumulate, bool last, std::int64_t v, std::int64_t k) {
    const HeadColumns columns = columns_of_head(how.heads, k, to.sum.columns);
    const bool keeps = to.by_target.data != nullptr;
    const T t = in.target.row(v)[k];
    T total = accumulate ? to.total.row(v)[k] : T{0};
    const T before = total > 0 ? to.log_total.row(v)[k] : -std::numeric_limits<T>::infinity();
    T largest = before;
    for_neighbours(a, v,
                   [&](std::int64_t u) { largest = std::max(largest, leaky(in.source.row(u)[k] + t, how.slope)); });
    const T rescaled = total > 0 ? std::exp(before - largest) : T{0};
    total *= rescaled;
    T share = keeps && accumulate ? to.negative_share.row(v)[k] * rescaled : T{0};
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        T& sum = to.sum.row(v)[j];
        sum = accumulate ? sum * rescaled : T{0};
        if (keeps) to.by_target.row(v)[j] = accumulate ? to.by_target.row(v)[j] * rescaled : T{0};
    }
    for_entries(a, v, [&](std::int64_t e, std::int64_t u) {
        const T x = in.source.row(u)[k] + t;
        const T weight = std::exp(leaky(x, how.slope) - largest);
        const bool drops = how.dropout.probability > 0;
        const auto kept =
            static_cast<T>(drops ? weight_kept(how.dropout, how.dropout.column_ids[u], how.dropout.row_ids[v], k) : 1);
        if (to.scores.data != nullptr) to.scores.row(e)[k] = stored_score(x, kept == 0);
        total += weight;
        if (!(x > 0)) share += weight;
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            to.sum.row(v)[j] += kept * weight * in.h.row(u)[j];
            if (keeps && !(x > 0)) to.by_target.row(v)[j] += kept * weight * in.h.row(u)[j];
        }
    });
    const bool any = total != 0;
    for (std::int64_t j = columns.begin; last && any && j < columns.end; ++j) {
        T& sum = to.sum.row(v)[j];
        sum /= total;
        if (keeps) {
            T& by_target = to.by_target.row(v)[j];
            by_target = (static_cast<T>(how.slope) - 1) * (by_target / total - share / total * sum);
        }
    }
    to.total.row(v)[k] = total;
    to.log_total.row(v)[k] = !any ? T{0} : last ? largest + std::log(total) : largest;
    if (keeps) to.negative_share.row(v)[k] = share;
}

template <class T>
void attend(const BasicCsr<T>& a, const BasicAttendOperands<T>& in, const BasicAttendResults<T>& to,
            const Attention& how, bool accumulate, bool last) {
    for (std::int64_t v = 0; v < a.rows; ++v) {
        for (std::int64_t k = 0; k < in.target.columns; ++k) attend_row(a, in, to, how, accumulate, last, v, k);
    }
}

template <class T>
void attend_back(const BasicCsr<T>& a, const BasicAttendBackOperands<T>& in, const BasicAttendBackResults<T>& to,
                 const Attention& how, bool accumulate) {
    const bool stored = in.scores.data != nullptr;
    for (std::int64_t u = 0; u < a.rows; ++u) {
        for (std::int64_t k = 0; k < to.source.columns; ++k) {
            const HeadColumns columns = columns_of_head(how.heads, k, to.h.columns);
            T of_source = accumulate ? to.source.row(u)[k] : T{0};
            for (std::int64_t j = columns.begin; !accumulate && j < columns.end; ++j) to.h.row(u)[j] = 0;
            for_entries(a, u, [&](std::int64_t e, std::int64_t v) {
                const T x = stored ? in.scores.row(e)[k] : in.source.row(u)[k] + in.target.row(v)[k];
                const T weight = std::exp(leaky(x, how.slope) - in.log_total.row(v)[k]);
                double kept = 1;
                if (how.dropout.probability > 0 && stored) kept = is_dropped(x) ? 0 : scale_of_kept(how.dropout);
                if (how.dropout.probability > 0 && !stored)
                    kept = weight_kept(how.dropout, how.dropout.row_ids[u], how.dropout.column_ids[v], k);
                T of_weight = 0;
                for (std::int64_t j = columns.begin; j < columns.end; ++j) {
                    of_weight += in.gradient.row(v)[j] * in.h.row(u)[j];
                    to.h.row(u)[j] += static_cast<T>(kept) * weight * in.gradient.row(v)[j];
                }
                const T slope = x > 0 ? T{1} : static_cast<T>(how.slope);
                of_source += weight * slope * (static_cast<T>(kept) * of_weight - in.inner.row(v)[k]);
            });
            to.source.row(u)[k] = of_source;
        }
    }
}

template <class T>
void head_dot(Input<T> x, Input<T> y, Heads heads, Dense<T> out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t k = 0; k < out.columns; ++k) {
            const HeadColumns columns = columns_of_head(heads, k, x.columns);
            T sum = 0;
            for (std::int64_t j = columns.begin; j < columns.end; ++j) sum += x.row(i)[j] * y.row(i)[j];
            out.row(i)[k] = sum;
        }
    }
}

template <class T>
void head_spread(Input<T> by, Input<T> y, Heads heads, Dense<T> x) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
        for (std::int64_t j = 0; j < x.columns; ++j) x.row(i)[j] += by.row(i)[heads.of(j)] * y.row(i)[j];
    }
}

template <class T>
void head_fold(Input<T> x, Input<T> by, Heads heads, T* out) {
    for (std::int64_t j = 0; j < x.columns; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < x.rows; ++i)
            sum += static_cast<double>(x.row(i)[j]) * static_cast<double>(by.row(i)[heads.of(j)]);
        out[j] = static_cast<T>(sum);
    }
}

template <class T>
void head_mean(Input<T> x, Dense<T> out) {
    const std::int64_t heads = out.columns == 0 ? 0 : x.columns / out.columns;
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) {
            T sum = 0;
            for (std::int64_t k = 0; k < heads; ++k) sum += x.row(i)[k * out.columns + j];
            out.row(i)[j] = sum / static_cast<T>(heads);
        }
    }
}

template <class T>
void head_share(Input<T> g, Dense<T> out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j)
            out.row(i)[j] = g.row(i)[j % g.columns] * static_cast<T>(g.columns) / static_cast<T>(out.columns);
    }
}

}  // namespace gnnplan::kernels::reference
