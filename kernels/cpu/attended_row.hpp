// The weights of a row of attention. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/attend_scores.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <class Vector>
Vector leaky(const Vector& x, float slope) {
    return x > 0.0F ? x : slope * x;
}

// Whether any lane of a comparison holds.
template <int width>
bool any(const typename IntegerVectorOf<width>::type& lanes) {
    std::uint64_t words[(width + 1) / 2];
    __builtin_memcpy(words, &lanes, sizeof lanes);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
}

// The state of a row of Table::attend while its edges are walked. Totals and shares are sums over the lanes of a
// head.
template <int width>
class AttendedRow {
public:
    using Vector = GemmVector<width>;

    AttendedRow(const AttendBlock& block, const EdgeLayout<width>& layout) : layout_(layout), block_(block) {}

    Scores numbers, weight, negative, kept;
    HeadLanes rescale;  // what earlier sums are multiplied with
    HeadLanes inverse;  // of totals
    HeadLanes share;

    EdgeOperands<2> operands() const {
        EdgeOperands<2> all;
        all.set(0, block_.in.source.data, block_.in.source.stride);
        all.set(1, block_.dropout.column_ids, 1);
        return all;
    }

    void begin(std::int64_t v) {
        layout_.spread(block_.in.target.data + v * block_.in.target.stride, target_);
        layout_.fill(-__builtin_inff(), largest_);
        layout_.fill(0, total_);
        layout_.fill(0, share);
        empty_ = !block_.accumulate;
        if (empty_) return;
        const float* total = block_.to.total.data + v * block_.to.total.stride;
        const float* largest = block_.to.log_total.data + v * block_.to.log_total.stride;
        for (std::int64_t k = 0; k < layout_.heads; ++k) {
            total_.of[k] = total[k];
            logs_.of[k] = total[k] > 0 ? largest[k] : -__builtin_inff();
            if (block_.to.negative_share.data != nullptr)
                share.of[k] = block_.to.negative_share.data[v * block_.to.negative_share.stride + k];
        }
        layout_.spread(logs_.of, largest_);
    }

    // The weights of a batch. Returns whether earlier sums have to be rescaled, if there are any.
    bool weigh(const std::int32_t* column, std::int64_t count, std::int64_t v) {
        gather_numbers(layout_, block_.in.source, column, count, numbers);
        const WeightDropout& dropout = block_.dropout;
        if (dropout.scale > 0) {
            const std::int32_t target = dropout.row_ids[v];
            weights_kept(
                layout_, dropout, count, [&](std::int64_t e) { return std::int64_t{dropout.column_ids[column[e]]}; },
                [&](std::int64_t) { return target; }, counters_, kept);
        }
        bool grows = false;
        layout_.for_parts([&](std::int64_t part) {
            const Vector before = load<width>(largest_.of + part);
            const Vector largest = largest_score(part, count, before);
            const Vector factor = empty_ ? Vector{} : exponential<width>(before - largest);
            __builtin_memcpy(rescale.of + part, &factor, sizeof factor);
            __builtin_memcpy(largest_.of + part, &largest, sizeof largest);
            grows = grows || any<width>(before != largest);
            if (dropout.scale > 0) {
                exponentials<true>(part, count, largest, factor);
            } else {
                exponentials<false>(part, count, largest, factor);
            }
        });
        empty_ = false;
        return grows;
    }

    // Keeps the scores of the batch, whose first entry is `first`, for the backward pass; their numbers are gone then.
    void store(std::int64_t first, std::int64_t count) {
        const Vector ones = 1.0F - Vector{};
        const bool drops = block_.dropout.scale > 0;
        layout_.for_parts([&](std::int64_t part) {
            layout_.for_scores(part, count, [&](std::int64_t j, auto, const auto&) {
                const Vector scale = drops ? load<width>(kept.of + j) : ones;
                const Vector stored = stored_scores<width>(load<width>(numbers.of + j), scale);
                __builtin_memcpy(numbers.of + j, &stored, sizeof stored);
            });
        });
        store_scores(layout_, numbers, first, count, block_.to.scores);
    }

    void finish(std::int64_t v) {
        layout_.for_parts([&](std::int64_t part) {
            const Vector zero = {};
            const Vector total = sum_of_lanes<width>(load<width>(total_.of + part), layout_.period);
            const Vector not_positive = sum_of_lanes<width>(load<width>(share.of + part), layout_.period);
            const Vector one_by = 1.0F / total;
            const Vector inverse_total = total == 0.0F ? zero : one_by;
            const Vector share_of_total = block_.last ? not_positive * inverse_total : not_positive;
            Vector log_total = load<width>(largest_.of + part);
            if (block_.last) log_total += logarithm<width>(total);
            log_total = total == 0.0F ? zero : log_total;
            __builtin_memcpy(total_.of + part, &total, sizeof total);
            __builtin_memcpy(inverse.of + part, &inverse_total, sizeof total);
            __builtin_memcpy(share.of + part, &share_of_total, sizeof total);
            __builtin_memcpy(logs_.of + part, &log_total, sizeof total);
        });
        const AttendResults& to = block_.to;
        layout_.copy(logs_.of, to.log_total.data + v * to.log_total.stride);
        layout_.copy(total_.of, to.total.data + v * to.total.stride);
        if (to.negative_share.data != nullptr)
            layout_.copy(share.of, to.negative_share.data + v * to.negative_share.stride);
    }

private:
    // Adds the row's number to those of its edges, and returns the largest score of each head from lane `part` on, in
    // all lanes of that head.
    Vector largest_score(std::int64_t part, std::int64_t count, const Vector& before) {
        const Vector target = load<width>(target_.of + part);
        const Vector lowest = Vector{} - __builtin_inff();
        Vector most = before;
        layout_.for_scores(part, count, [&](std::int64_t j, auto whole, const auto& lanes) {
            const Vector x = load<width>(numbers.of + j) + target;
            __builtin_memcpy(numbers.of + j, &x, sizeof x);
            Vector score = leaky(x, block_.slope);
            if constexpr (!whole) score = lanes != 0 ? score : lowest;
            most = score > most ? score : most;
        });
        const auto greater = [](const Vector& a, const Vector& b) { return a > b ? a : b; };
        return combined<width, width / 2>(most, layout_.period, greater);
    }

    template <bool drops>
    void exponentials(std::int64_t part, std::int64_t count, const Vector& largest, const Vector& factor) {
        const Vector zero = {};
        Vector total = load<width>(total_.of + part) * factor;
        Vector negative_total = load<width>(share.of + part) * factor;
        layout_.for_scores(part, count, [&](std::int64_t j, auto whole, const auto& lanes) {
            const Vector x = load<width>(numbers.of + j);
            Vector w = exponential<width>(leaky(x, block_.slope) - largest);
            if constexpr (!whole) w = lanes != 0 ? w : zero;
            Vector n = x > 0.0F ? zero : w;
            total += w;
            negative_total += n;
            if constexpr (drops) {
                const Vector scale = load<width>(kept.of + j);
                w *= scale;
                n *= scale;
            }
            __builtin_memcpy(weight.of + j, &w, sizeof w);
            __builtin_memcpy(negative.of + j, &n, sizeof n);
        });
        __builtin_memcpy(total_.of + part, &total, sizeof total);
        __builtin_memcpy(share.of + part, &negative_total, sizeof total);
    }

    HeadLanes target_, largest_, total_, logs_;
    EdgeLayout<width> layout_;
    const AttendBlock& block_;
    Counters counters_;
    bool empty_ = true;  // no edge has been weighed
};

}  // namespace
}  // namespace gnnplan::kernels::cpu
