#include "planner/calibrate/curves.hpp"

#include "planner/calibrate/line.hpp"
#include "planner/calibrate/named.hpp"
#include "planner/calibrate/quantile.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gnnplan::calibrate {
namespace {

constexpr std::array<std::pair<std::string_view, GemmKind>, 3> products{
    {{"gemm.forward", GemmKind::forward},
     {"gemm.input_gradient", GemmKind::input_gradient},
     {"gemm.weight_gradient", GemmKind::weight_gradient}}};

constexpr std::array<std::pair<std::string_view, ElementwiseKind>, 25> streams{
    {{"stream.copy", ElementwiseKind::copy},
     {"stream.activate", ElementwiseKind::activate},
     {"stream.activate_dropout", ElementwiseKind::activate_dropout},
     {"stream.dropout", ElementwiseKind::dropout},
     {"stream.positive_mask", ElementwiseKind::positive_mask},
     {"stream.apply_mask", ElementwiseKind::apply_mask},
     {"stream.column_sum", ElementwiseKind::column_sum},
     {"stream.score", ElementwiseKind::score},
     {"stream.update", ElementwiseKind::update},
     {"stream.edge_softmax", ElementwiseKind::edge_softmax},
     {"stream.edge_softmax_back", ElementwiseKind::edge_softmax_back},
     {"stream.edge_transpose", ElementwiseKind::edge_transpose},
     {"stream.head_dot", ElementwiseKind::head_dot},
     {"stream.head_spread", ElementwiseKind::head_spread},
     {"stream.head_fold", ElementwiseKind::head_fold},
     {"stream.head_unit", ElementwiseKind::head_unit},
     {"stream.head_unit_back", ElementwiseKind::head_unit_back},
     {"stream.norm_rows", ElementwiseKind::norm_rows},
     {"stream.norm_rows_back", ElementwiseKind::norm_rows_back},
     {"stream.norm_moments", ElementwiseKind::norm_moments},
     {"stream.norm_scale", ElementwiseKind::norm_scale},
     {"stream.norm_sums", ElementwiseKind::norm_sums},
     {"stream.norm_back", ElementwiseKind::norm_back},
     {"stream.narrow", ElementwiseKind::narrow},
     {"stream.widen", ElementwiseKind::widen}}};

}  // namespace

std::optional<GemmKind> product_of(std::string_view what) { return named(products, what); }
std::optional<ElementwiseKind> elementwise_kind_of(std::string_view what) { return named(streams, what); }

std::vector<GemmRate> fit_gemm(std::span<const Sample> samples) {
    std::vector<GemmRate> rates;
    for (const Sample& sample : samples) {
        const auto product = product_of(sample.what);
        if (!product) continue;
        const auto at = [&](std::size_t i) { return static_cast<double>(sample.at[i]); };
        rates.push_back({*product, sample.at[1], sample.at[2], 2 * at(0) * at(1) * at(2) / median(sample.seconds)});
    }
    return rates;
}

std::optional<int> gemm_lanes(std::span<const Sample> samples) {
    for (const Sample& sample : samples) {
        if (product_of(sample.what) && sample.at.size() > 3) return static_cast<int>(sample.at[3]);
    }
    return std::nullopt;
}

std::optional<LossCost> fit_loss(std::span<const Sample> samples) {
    std::vector<Timing> rows;  // by length
    for (const Sample& sample : samples) {
        if (sample.what != "loss") continue;
        rows.push_back({static_cast<double>(sample.at[1]), median(sample.seconds) / static_cast<double>(sample.at[0])});
    }
    const auto other = [&](const Timing& timing) { return timing.bytes != rows.front().bytes; };
    if (std::ranges::none_of(rows, other)) return std::nullopt;
    const AlphaBeta line = fit_alpha_beta(rows);
    return LossCost{line.alpha, std::max(line.beta, 1e-15)};
}

std::optional<LoadingCost> fit_loading(std::span<const Sample> samples) {
    const auto seconds_of = [&](const char* what) -> std::optional<double> {
        const auto found = std::ranges::find(samples, what, &Sample::what);
        if (found == samples.end() || found->at[0] == 0) return std::nullopt;
        return median(found->seconds) / static_cast<double>(found->at[0]);
    };
    const auto parse = seconds_of("load.parse"), deal = seconds_of("load.deal"), rows = seconds_of("load.rows"),
               cut = seconds_of("load.cut");
    if (!parse || !deal || !rows || !cut) return std::nullopt;
    return LoadingCost{*parse, *deal, std::max(0.0, *rows - *deal), *cut};
}

std::vector<StreamRate> fit_streams(std::span<const Sample> samples) {
    std::vector<StreamRate> rates;
    for (const Sample& sample : samples) {
        const auto stream = elementwise_kind_of(sample.what);
        if (!stream) continue;
        rates.push_back({*stream, sample.at[0], static_cast<double>(sample.at[0]) / median(sample.seconds)});
    }
    std::ranges::sort(rates, {}, [](const StreamRate& rate) { return std::pair(rate.stream, rate.working_set_bytes); });
    return rates;
}

}  // namespace gnnplan::calibrate
