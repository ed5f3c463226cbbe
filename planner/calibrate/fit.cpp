#include "planner/calibrate/fit.hpp"

#include "planner/calibrate/curves.hpp"
#include "planner/calibrate/line.hpp"
#include "planner/calibrate/overlap.hpp"
#include "planner/calibrate/quantile.hpp"
#include "planner/calibrate/segments.hpp"
#include "planner/calibrate/times.hpp"
#include "planner/cost/rates.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace gnnplan::calibrate {
namespace {

// Between hot and cold buffers: what a schedule sends was just packed, or has been in memory since another step. One
// time for each size, so that the difference does not hide where lines meet.
std::optional<Link> fit_messages(std::span<const Sample> samples, const std::string& what) {
    std::map<std::int64_t, std::vector<double>> logarithms;  // by size
    for (const Sample& sample : samples) {
        if (sample.what != what + ".hot" && sample.what != what + ".cold") continue;
        logarithms[sample.at[0]].push_back(std::log(median(sample.seconds)));
    }
    if (logarithms.size() < 2) return std::nullopt;
    std::vector<Timing> timings;
    for (const auto& [bytes, logs] : logarithms) {
        const double sum = std::accumulate(logs.begin(), logs.end(), 0.0);
        timings.push_back({static_cast<double>(bytes), std::exp(sum / static_cast<double>(logs.size()))});
    }
    return fit_link(timings);
}

// Fits T = sum + work + seconds + share * work, where T is the time of work and a small sum over the ranks right after
// it, and `sum` and `work` are the times of either alone. Waiting takes `seconds` and a share of the work besides.
std::optional<WaitingCost> fit_waiting(std::span<const Sample> samples) {
    const std::vector<double> both = times_of(samples, "waiting.both");
    const std::vector<double> work = times_of(samples, "waiting.work");
    if (both.size() < 2) return std::nullopt;
    std::vector<Timing> timings;
    for (std::size_t i = 0; i < both.size(); ++i) timings.push_back({work[i], both[i]});
    const AlphaBeta found = fit_alpha_beta(timings);
    return WaitingCost{std::max(0.0, found.alpha - median(times_of(samples, "waiting.sum"))),
                       std::max(0.0, found.beta - 1)};
}

// All cards of a node as one: as much as it sends at once where all of its ranks send their largest messages.
std::optional<NetworkCards> fit_cards(std::span<const Sample> samples) {
    std::int64_t largest = 0;  // bytes of a message
    for (const Sample& sample : samples) {
        if (sample.what.starts_with("cards.")) largest = std::max(largest, sample.at[0]);
    }
    std::vector<double> rates;
    for (const Sample& sample : samples) {
        if (!sample.what.starts_with("cards.") || sample.at[0] != largest) continue;
        rates.push_back(static_cast<double>(largest * sample.at[2]) / median(sample.seconds));
    }
    if (rates.empty()) return std::nullopt;
    return NetworkCards{1, median(std::move(rates))};
}

// The single rates that stand in where a curve does not reach.
void set_single_rates(Machine& machine, std::span<const Sample> samples) {
    const Calibration& calibration = *machine.calibration;
    if (!calibration.gather.empty()) machine.spmm = spmm_rates(samples);
    std::vector<double> gemm;
    for (const GemmRate& rate : calibration.gemm) gemm.push_back(rate.flops_per_second);
    if (!gemm.empty()) machine.gemm_flops_per_second = median(std::move(gemm));
    for (const StreamRate& rate : calibration.streams) {  // ascending: the last is of the largest working set
        if (rate.stream == ElementwiseKind::activate) machine.memory_bytes_per_second = rate.bytes_per_second;
    }
    const std::vector<double> steps = times_of(samples, "step");
    if (!steps.empty()) machine.step_seconds = median(steps);
}

}  // namespace

Machine fit_machine(const Machine& base, std::span<const Sample> samples) {
    Machine machine = base;
    Calibration calibration;
    calibration.gather = fit_gather(samples);
    calibration.programs = fit_programs(samples, calibration);
    calibration.gemm = fit_gemm(samples);
    calibration.gemm_lanes = gemm_lanes(samples);
    calibration.streams = fit_streams(samples);
    calibration.loss = fit_loss(samples);
    calibration.loading = fit_loading(samples);
    calibration.all_reduce = fit_messages(samples, "all_reduce");
    calibration.reduce_scatter = fit_messages(samples, "reduce_scatter");
    calibration.redistribution = fit_messages(samples, "redistribute");
    if (const std::vector<double> lent = times_of(samples, "lent_panel"); !lent.empty())
        calibration.lent_panel_seconds = median(lent);
    calibration.overlapping = fit_overlap(samples);
    calibration.waiting = fit_waiting(samples);
    machine.calibration = std::move(calibration);
    machine.intra_node = fit_messages(samples, "exchange").value_or(base.intra_node);
    if (const std::optional<Link> between = fit_messages(samples, "between")) {
        machine.inter_node = *between;
        machine.network_cards = fit_cards(samples);
    }
    set_single_rates(machine, samples);
    return machine;
}

double predicted_seconds(const Machine& machine, const Sample& sample) {
    const auto at = [&](std::size_t i) { return static_cast<double>(sample.at[i]); };
    const std::string_view what = sample.what;
    if (what == "spmm") {
        return at(2) * gather_seconds(*machine.calibration, sample.at[0], 0, at(1)) +
               at(3) * row_seconds(*machine.calibration, sample.at[0]);
    }
    if (const auto product = product_of(what)) {
        return 2 * at(0) * at(1) * at(2) / gemm_flops_per_second(machine, *product, sample.at[1], sample.at[2]);
    }
    if (const auto stream = elementwise_kind_of(what))
        return at(0) / elementwise_bytes_per_second(machine, *stream, sample.at[0]);
    if (what == "loss") {
        const LossCost& cost = *machine.calibration->loss;
        return at(0) * (cost.seconds_per_row + at(1) * cost.seconds_per_logit);
    }
    if (what.starts_with("exchange.")) return message_seconds(machine.intra_node, at(0));
    if (what.starts_with("between.")) return message_seconds(machine.inter_node, at(0));
    if (what.starts_with("reduce_scatter.")) return message_seconds(*machine.calibration->reduce_scatter, at(0));
    if (what.starts_with("redistribute.")) return message_seconds(*machine.calibration->redistribution, at(0));
    ensure(what.starts_with("all_reduce."), "no such sample");
    return message_seconds(*machine.calibration->all_reduce, at(0));
}

}  // namespace gnnplan::calibrate
