// The arguments of kernels of attention. Additive attention (Velickovic et al. 2018, eq. 1 to 6) has K heads: head k of
// a matrix H W is some of its columns, and one number for each vertex says how much it weighs as the source of an edge,
// s, and one as its target, t. For the edge u -> v head k has the score e = leaky(s_u + t_v), with leaky(x) = x > 0 ? x
// : slope * x, and the weight alpha, the softmax of e over the in-neighbours u of v.
#pragma once

#include "kernels/pass_values.hpp"
#include "kernels/views.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace gnnplan::kernels {

// Heads says which head each column of a wide matrix belongs to. Matrices by heads have one column for each head.
struct Heads {
    std::int64_t columns = 1;  // of a head, in a wide matrix that has all of it
    std::int64_t first =
        0;  // column j of wide matrices is of the head in column (first + j) / columns of those by heads

    std::int64_t of(std::int64_t column) const { return (first + column) / columns; }
};

// Dropout of the weights alpha: the draw for head k of the edge u -> v is that of row v and column u * ceil(all_heads /
// 8) * 8 + k of the stream (epoch, layer), as those of elements are (kernels/stream.hpp).
struct AttentionDropout {
    std::uint64_t seed = 0;
    const PassValues* pass = nullptr;  // whose epoch counts; may be null where nothing is dropped
    std::uint32_t layer = 0;
    float probability = 0;        // of dropping, 0 <= p < 1; weights that survive are scaled by 1 / (1 - p)
    std::int64_t first_head = 0;  // the head in column 0 of matrices by heads
    std::int64_t all_heads = 1;
    // The vertices that rows and columns of the sparse matrix stand for; unread where nothing is dropped.
    const std::int32_t* row_ids = nullptr;
    const std::int32_t* column_ids = nullptr;
};

struct Attention {
    Heads heads{};
    float slope = 0.2F;
    AttentionDropout dropout{};
};

// A score of an edge as it is stored for the backward pass: s + t, of which the last bit says whether dropout drops the
// weight, and the sign whether it is not positive. So it is off by no more than one unit in the last place.
template <class T>
T stored_score(T x, bool dropped) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
    const Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const Bits bits = (std::bit_cast<Bits>(x) & ~Bits{1}) | (x > 0 ? Bits{0} : sign);
    return std::bit_cast<T>(static_cast<Bits>(bits | (dropped ? Bits{1} : Bits{0})));
}
template <class T>
bool is_dropped(T stored) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
    return (std::bit_cast<Bits>(stored) & 1U) != 0;
}

// Operands of Table::attend, for the rows v of a matrix m x k whose entry (v, u) is the edge u -> v.
template <class T>
struct BasicAttendOperands {
    Dense<const T> h;       // k x n: rows of column operands
    Dense<const T> source;  // k x heads: s
    Dense<const T> target;  // m x heads: t
};
template <class T>
struct BasicAttendResults {
    Dense<T> sum;        // m x n: Z_v, the sum of alpha h_u, in which dropout takes part
    Dense<T> log_total;  // m x heads: log of the sum of exp(e); 0 in rows without entries
    Dense<T> total;      // m x heads, for the call itself
    // Both null, unless a backward pass follows.
    Dense<T> by_target{};       // m x n: dZ_v / dt_v, of each column by the target number of its own head
    Dense<T> negative_share{};  // m x heads, for the call itself
    Dense<T> scores{};          // entries x heads: stored_score() of each entry; null where nobody wants them
};

// Operands of Table::attend_back, for the rows u of a matrix m x k whose entry (u, v) is the edge u -> v.
template <class T>
struct BasicAttendBackOperands {
    Dense<const T> gradient;   // k x n: G_v = dL / dZ_v
    Dense<const T> target{};   // k x heads: t
    Dense<const T> log_total;  // k x heads
    Dense<const T> inner;      // k x heads: <G_v, Z_v> of the columns that are here
    Dense<const T> h;          // m x n
    Dense<const T> source{};   // m x heads: s
    // Entries x heads: what attend has stored of each. Then target, source, and the numbers of vertices of dropout are
    // not read; null where scores and draws are made again.
    Dense<const T> scores{};
};
template <class T>
struct BasicAttendBackResults {
    Dense<T> h;       // m x n: the sum of alpha G_v, in which dropout takes part: dL / dh_u for given weights
    Dense<T> source;  // m x heads: dL / ds_u, of the columns that are here
};

using AttendOperands = BasicAttendOperands<float>;
using AttendResults = BasicAttendResults<float>;
using AttendBackOperands = BasicAttendBackOperands<float>;
using AttendBackResults = BasicAttendBackResults<float>;

}  // namespace gnnplan::kernels
