#include "planner/cost/rescale.hpp"

#include "planner/cost/bracket.hpp"
#include "planner/cost/rates.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::cost {
namespace {

double ratio_of(const std::optional<double>& then, const std::optional<double>& now, double otherwise) {
    return then && now ? *now / *then : otherwise;
}

void rescale(Link& link, double ratio) {
    link.latency_seconds /= ratio;
    link.bytes_per_second *= ratio;
    for (LinkSegment& segment : link.segments) {
        segment.latency_seconds /= ratio;
        segment.bytes_per_second *= ratio;
    }
}

void rescale(std::optional<Link>& link, double ratio) {
    if (link) rescale(*link, ratio);
}

void rescale(ColumnCost& cost, double ratio) {
    cost.seconds /= ratio;
    cost.seconds_per_column /= ratio;
}

// A row of the result was measured where what is gathered is near.
void rescale(GatherCurve& curve, const RateRatios& ratios) {
    for (GatherCost& cost : curve.costs) {
        cost.seconds_per_nonzero /= ratios.gather(static_cast<double>(cost.working_set_bytes));
    }
    curve.seconds_per_row /= ratios.near;
    if (curve.seconds_per_row_again) *curve.seconds_per_row_again /= ratios.near;
    if (!curve.passing) return;
    curve.passing->seconds_per_row /= ratios.near;
    curve.passing->seconds_per_change /= ratios.near;
}

void rescale(GemmRate& rate, const RateRatios& ratios, double copy_bytes_per_second) {
    const auto inner = static_cast<double>(rate.inner), columns = static_cast<double>(rate.columns);
    const double flops = 2 * inner * columns, bytes = 4 * (inner + columns);  // of a row of the long side
    rate.flops_per_second = flops / ratios.gemm_seconds(flops / rate.flops_per_second, bytes / copy_bytes_per_second);
}

void rescale(Calibration& calibration, const RateRatios& ratios, double copy_bytes_per_second) {
    for (GatherCurve& curve : calibration.gather) rescale(curve, ratios);
    for (GemmRate& rate : calibration.gemm) rescale(rate, ratios, copy_bytes_per_second);
    for (StreamRate& rate : calibration.streams)
        rate.bytes_per_second *= ratios.stream(static_cast<double>(rate.working_set_bytes));
    for (ProgramCost& cost : calibration.programs) {
        const double ratio = ratios.gather(static_cast<double>(cost.working_set_bytes));
        rescale(cost.nonzero, ratio);
        rescale(cost.row, ratio);
    }
    if (calibration.loss) {
        calibration.loss->seconds_per_row /= ratios.gemm;
        calibration.loss->seconds_per_logit /= ratios.gemm;
    }
    if (calibration.loading) {
        for (const auto part : {&LoadingCost::parse_seconds_per_edge, &LoadingCost::deal_seconds_per_edge,
                                &LoadingCost::row_seconds_per_nonzero, &LoadingCost::cut_seconds_per_nonzero})
            *calibration.loading.*part /= ratios.copy;
    }
    for (auto* link : {&calibration.all_reduce, &calibration.reduce_scatter, &calibration.redistribution})
        rescale(*link, ratios.within_node);
    if (calibration.overlapping) calibration.overlapping->look_seconds /= ratios.gemm;
}

constexpr std::int64_t megabyte = 1 << 20;  // 2^20 bytes

// Linear in the logarithm of the bytes between two (bytes, ratio), constant outside.
double by_distance(std::pair<double, double> low, std::pair<double, double> high, double bytes) {
    if (low.first >= high.first) return high.second;
    const double share = std::log(bytes / low.first) / std::log(high.first / low.first);
    return between(low.second, high.second, std::clamp(share, 0.0, 1.0));
}

// Bytes a second of rows of 128 columns, 64 of which a row of the result gathers from so many bytes of them.
double gather_rate(const Machine& machine, std::int64_t bytes) {
    constexpr std::int64_t width = 128;
    constexpr double row_bytes = 4 * width, degree = 64;
    if (!machine.calibration || machine.calibration->gather.empty())
        return spmm_flops_per_second(machine, width) / (2 * width) * row_bytes;
    const Calibration& rates = *machine.calibration;
    return row_bytes /
           (gather_seconds(rates, width, 0, static_cast<double>(bytes)) + row_seconds(rates, width) / degree);
}

}  // namespace

double RateRatios::gather(double working_set_bytes) const {
    return by_distance({near_bytes, near}, {far_bytes, far}, working_set_bytes);
}

double RateRatios::stream(double bytes) const { return by_distance({near_bytes, near}, {copy_bytes, copy}, bytes); }

double RateRatios::gemm_seconds(double seconds, double copy_seconds) const {
    const double bound = std::clamp(5 * copy_seconds / seconds - 4, 0.0, 1.0);
    return std::max(seconds / (std::pow(gemm, 1 - bound) * std::pow(copy, bound)),
                    std::min(copy_seconds, seconds) / copy);
}

RateRatios rate_ratios(const ProbeFigures& then, const ProbeFigures& now) {
    const double copy = now.copy_bytes_per_second / then.copy_bytes_per_second;
    return {now.gemm_flops_per_second / then.gemm_flops_per_second,
            copy,
            now.near_bytes_per_second / then.near_bytes_per_second,
            now.far_bytes_per_second / then.far_bytes_per_second,
            ratio_of(then.exchange_bytes_per_second, now.exchange_bytes_per_second, copy),
            ratio_of(then.between_bytes_per_second, now.between_bytes_per_second, 1),
            static_cast<double>(then.near_bytes()),
            static_cast<double>(then.far_bytes()),
            static_cast<double>(std::min(64 * megabyte, then.largest_bytes))};
}

const ProbeFigures* probed_state(const Machine& machine) {
    if (machine.probe) return &*machine.probe;
    return machine.calibration && machine.calibration->probe ? &machine.calibration->probe->middle : nullptr;
}

ProbeFigures implied_figures(const Machine& machine, std::int64_t largest_bytes) {
    ProbeFigures figures;
    figures.largest_bytes = largest_bytes;
    figures.gemm_flops_per_second = gemm_flops_per_second(machine, GemmKind::forward, 128, 128);
    figures.copy_bytes_per_second =
        elementwise_bytes_per_second(machine, ElementwiseKind::copy, std::min(64 * megabyte, largest_bytes));
    figures.near_bytes_per_second = gather_rate(machine, figures.near_bytes());
    figures.far_bytes_per_second = gather_rate(machine, figures.far_bytes());
    const auto message = static_cast<double>(std::min(megabyte, largest_bytes));
    const auto message_rate = [&](const Link& link) { return message / message_seconds(link, message); };
    figures.exchange_bytes_per_second = message_rate(machine.intra_node);
    figures.between_bytes_per_second = message_rate(machine.inter_node);
    return figures;
}

Machine rescaled(const Machine& machine, const ProbeFigures& now) {
    const ProbeFigures* then = probed_state(machine);
    ensure(then != nullptr, "nobody knows which state the rates are of");
    const RateRatios ratios = rate_ratios(*then, now);
    Machine changed = machine;
    rescale(changed.intra_node, ratios.within_node);
    rescale(changed.inter_node, ratios.between_nodes);
    if (changed.network_cards) changed.network_cards->bytes_per_second *= ratios.between_nodes;
    rescale(changed.all_to_all, ratios.within_node);
    for (SpmmRate& rate : changed.spmm) rate.flops_per_second *= ratios.far;
    changed.gemm_flops_per_second *= ratios.gemm;
    changed.memory_bytes_per_second *= ratios.copy;
    changed.step_seconds /= ratios.gemm;
    if (changed.calibration) rescale(*changed.calibration, ratios, then->copy_bytes_per_second);
    changed.probe = now;
    return changed;
}

}  // namespace gnnplan::cost
