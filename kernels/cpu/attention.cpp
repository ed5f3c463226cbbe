// Reading guide: heads do not depend on each other, so they are taken in groups, whose columns are a slice as other
// products have them, and panel after panel like these. Earlier panels of a row are to later ones what earlier calls
// are.
#include <algorithm>
#include <array>
#include <vector>

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/range.hpp>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_chunks.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// A result this large is out of cache before anybody reads it again.
constexpr std::int64_t streamed_bytes = std::int64_t{32} << 20;

// Heads that are taken at a time, and their columns of a wide matrix.
struct HeadGroup {
    Range heads;
    Range columns;
    Heads layout;
    std::vector<std::int32_t> head_of;

    HeadGroup(Range of, const Heads& all, std::int64_t n) : heads(of) {
        const auto column = [&](std::int64_t k) { return std::clamp<std::int64_t>(k * all.columns - all.first, 0, n); };
        columns = {column(of.begin), column(of.end)};
        layout = {all.columns, std::max<std::int64_t>(0, all.first + columns.begin - of.begin * all.columns)};
        for (std::int64_t j = 0; j < columns.size(); ++j) head_of.push_back(static_cast<std::int32_t>(layout.of(j)));
    }
};

template <class T>
Dense<T> columns_of(Dense<T> whole, Range columns) {
    if (whole.data == nullptr) return whole;
    return {whole.data + columns.begin, whole.rows, columns.size(), whole.stride};
}

template <class Body>
void for_groups(std::int64_t heads, std::int64_t columns, const Attention& how, const Body& body) {
    constexpr Blocking blocking;  // of CPUs
    const std::int64_t fitting = blocking.slice_columns / how.heads.columns;
    const std::int64_t most = std::clamp<std::int64_t>(fitting, 1, attend_heads);
    const std::int64_t groups = (heads + most - 1) / most;
    for (std::int64_t g = 0; g < groups; ++g)
        body(HeadGroup(balanced_block({0, heads}, g, groups), how.heads, columns));
}

WeightDropout weight_dropout(const AttentionDropout& dropout, std::int64_t first_head) {
    if (dropout.probability == 0) return {};
    return {.key = stream_key(dropout.seed, StreamUse::attention, dropout.pass->epoch, dropout.layer),
            .threshold = dropout_threshold(dropout.probability),
            .scale = static_cast<float>(1 / (1 - static_cast<double>(dropout.probability))),
            .groups = (dropout.all_heads + dropout_group - 1) / dropout_group,
            .first_head = dropout.first_head + first_head,
            .row_ids = dropout.row_ids,
            .column_ids = dropout.column_ids};
}

// Operations for each entry of a row, about.
std::int64_t work_of(const HeadGroup& group) { return 2 * group.columns.size() + 16 * group.heads.size(); }

}  // namespace

void attend(const Csr& a, const AttendOperands& in, const AttendResults& to, const Attention& how, bool accumulate,
            bool last) {
    for_groups(in.target.columns, to.sum.columns, how, [&](const HeadGroup& group) {
        const auto heads_of = [&](auto matrix) { return columns_of(matrix, group.heads); };
        AttendBlock block{
            .in = {columns_of(in.h, group.columns), heads_of(in.source), heads_of(in.target)},
            .to = {columns_of(to.sum, group.columns), heads_of(to.log_total), heads_of(to.total),
                   columns_of(to.by_target, group.columns), heads_of(to.negative_share), heads_of(to.scores)},
            .head_of = group.head_of.data(),
            .slope = how.slope,
            .dropout = weight_dropout(how.dropout, group.heads.begin),
            .streams = to.sum.rows * to.sum.columns * std::int64_t{sizeof(float)} >= streamed_bytes,
        };
        for (std::int64_t p = 0; p < a.panels; ++p) {
            block.a = a.panel(p);
            block.accumulate = accumulate || p > 0;
            block.last = last && p + 1 == a.panels;
            in_chunks(block.a, work_of(group),
                      [&](Range rows) { best_kernels().attend_rows(block, rows.begin, rows.end); });
        }
    });
}

void attend_back(const Csr& a, const AttendBackOperands& in, const AttendBackResults& to, const Attention& how,
                 bool accumulate) {
    for_groups(to.source.columns, to.h.columns, how, [&](const HeadGroup& group) {
        const auto heads_of = [&](auto matrix) { return columns_of(matrix, group.heads); };
        AttendBackBlock block{
            .in = {columns_of(in.gradient, group.columns), heads_of(in.target), heads_of(in.log_total),
                   heads_of(in.inner), columns_of(in.h, group.columns), heads_of(in.source), heads_of(in.scores)},
            .to = {columns_of(to.h, group.columns), heads_of(to.source)},
            .heads = group.layout,
            .head_of = group.head_of.data(),
            .slope = how.slope,
            .dropout = weight_dropout(how.dropout, group.heads.begin),
        };
        for (std::int64_t p = 0; p < a.panels; ++p) {
            block.a = a.panel(p);
            block.accumulate = accumulate || p > 0;
            in_chunks(block.a, work_of(group),
                      [&](Range rows) { best_kernels().attend_back_rows(block, rows.begin, rows.end); });
        }
    });
}

void head_dot(ConstMatrix x, ConstMatrix y, Heads heads, Matrix out) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(out.rows, rows_per_chunk(x.columns), x.rows * x.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i)
                            kernels.head_dot_row(x.row(i), y.row(i), x.columns, heads, out.columns, out.row(i));
                    });
}

void head_squares(ConstMatrix x, Heads heads, Matrix out) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(out.rows, rows_per_chunk(x.columns), x.rows * x.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i)
                            kernels.head_squares_row(x.row(i), x.columns, heads, out.columns, out.row(i));
                    });
}

void head_spread(ConstMatrix by, ConstMatrix y, Heads heads, Matrix x) {
    const VectorKernels& kernels = best_kernels();
    parallel_chunks(x.rows, rows_per_chunk(x.columns), x.rows * x.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            kernels.head_spread_row(by.row(i), y.row(i), x.columns, heads, x.row(i));
    });
}

void head_fold(ConstMatrix x, ConstMatrix by, Heads heads, float* out) {
    constexpr std::int64_t blocks = 64;  // of rows, however many threads there are
    constexpr std::int64_t strip = 256;
    const VectorKernels& kernels = best_kernels();
    std::array<std::array<double, strip>, blocks> partial;
    for (std::int64_t column = 0; column < x.columns; column += strip) {
        const std::int64_t width = std::min(strip, x.columns - column);
        const Heads cut{heads.columns, heads.first + column};
        parallel_for(blocks, x.rows * width, LoopSchedule::fixed, [&](std::int64_t block) {
            std::array<double, strip> sum{};
            const Range rows = balanced_block({0, x.rows}, block, blocks);
            for (std::int64_t i = rows.begin; i < rows.end; ++i)
                kernels.head_fold_row(x.row(i) + column, by.row(i), width, cut, sum.data());
            partial[static_cast<std::size_t>(block)] = sum;
        });
        for (std::int64_t j = 0; j < width; ++j) {
            double total = 0;
            for (const auto& sum : partial) total += sum[static_cast<std::size_t>(j)];
            out[column + j] = static_cast<float>(total);
        }
    }
}

void head_mean(ConstMatrix x, Matrix out) {
    if (out.columns == 0) return;
    const std::int64_t heads = x.columns / out.columns;
    parallel_chunks(out.rows, rows_per_chunk(x.columns), x.rows * x.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i) {
                            float* mean = out.row(i);
                            std::fill_n(mean, out.columns, 0.0F);
                            for (std::int64_t k = 0; k < heads; ++k) {
                                const float* head = x.row(i) + k * out.columns;
                                for (std::int64_t j = 0; j < out.columns; ++j) mean[j] += head[j];
                            }
                            for (std::int64_t j = 0; j < out.columns; ++j) mean[j] /= static_cast<float>(heads);
                        }
                    });
}

void head_share(ConstMatrix g, Matrix out) {
    if (g.columns == 0) return;
    const std::int64_t heads = out.columns / g.columns;
    parallel_chunks(out.rows, rows_per_chunk(out.columns), out.rows * out.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i) {
                            for (std::int64_t k = 0; k < heads; ++k) {
                                const float* from = g.row(i);
                                float* head = out.row(i) + k * g.columns;
                                for (std::int64_t j = 0; j < g.columns; ++j)
                                    head[j] = from[j] / static_cast<float>(heads);
                            }
                        }
                    });
}

}  // namespace gnnplan::kernels::cpu
