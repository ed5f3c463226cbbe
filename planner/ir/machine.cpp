#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/machine.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace gnnplan {

double spmm_flops_per_second(const Machine& machine, std::int64_t width) {
    const auto& rates = machine.spmm;
    const auto above = std::lower_bound(rates.begin(), rates.end(), width,
                                        [](const SpmmRate& rate, std::int64_t w) { return rate.width < w; });
    if (above == rates.begin()) return rates.front().flops_per_second;
    if (above == rates.end()) return rates.back().flops_per_second;
    const SpmmRate& low = *(above - 1);
    const double share = static_cast<double>(width - low.width) / static_cast<double>(above->width - low.width);
    return low.flops_per_second + share * (above->flops_per_second - low.flops_per_second);
}

namespace {

// Beyond these, times of epochs leave the range of numbers.
constexpr double smallest_number = 1e-30;
constexpr double largest_number = 1e30;

void require(bool condition, const Machine& machine, const std::string& field, const std::string& what) {
    if (!condition) throw Error(ErrorCode::data, field + " " + what, "machine " + machine.name);
}

void require_positive(double value, const Machine& machine, const std::string& field) {
    require(std::isfinite(value) && value > 0, machine, field, "must be positive and finite");
    require(value >= smallest_number && value <= largest_number, machine, field, "must be from 1e-30 to 1e30");
}

void require_not_negative(double value, const Machine& machine, const std::string& field) {
    require(std::isfinite(value) && value >= 0, machine, field, "must be finite and not negative");
    require(value <= largest_number, machine, field, "must be at most 1e30");
}

std::string element(const std::string& array, std::size_t i) { return array + "[" + std::to_string(i) + "]"; }

// That `member` of the elements, each from `least`, ascends.
template <class T>
void require_increasing(const std::vector<T>& array, std::int64_t T::*member, std::int64_t least,
                        const Machine& machine, const std::string& field, const std::string& name) {
    for (std::size_t i = 0; i < array.size(); ++i) {
        require(array[i].*member >= (i == 0 ? least : array[i - 1].*member + 1), machine,
                element(field, i) + "." + name, least > 0 ? "must be positive and increasing" : "must be increasing");
    }
}

void validate(const Link& link, const Machine& machine, const std::string& field) {
    require_not_negative(link.latency_seconds, machine, field + ".latency_seconds");
    require_positive(link.bytes_per_second, machine, field + ".bytes_per_second");
    for (std::size_t i = 0; i < link.segments.size(); ++i) {
        const std::string segment = element(field + ".segments", i);
        require_not_negative(link.segments[i].latency_seconds, machine, segment + ".latency_seconds");
        require_positive(link.segments[i].bytes_per_second, machine, segment + ".bytes_per_second");
    }
    require_increasing(link.segments, &LinkSegment::from_bytes, 0, machine, field + ".segments", "from_bytes");
    require(link.segments.empty() || link.segments.front().from_bytes == 0, machine, field + ".segments[0].from_bytes",
            "must be 0");
}

void validate(const GatherCurve& curve, const Machine& machine, const std::string& field) {
    require(!curve.costs.empty(), machine, field + ".costs", "needs at least one working set");
    require_increasing(curve.costs, &GatherCost::working_set_bytes, 1, machine, field + ".costs", "working_set_bytes");
    for (std::size_t i = 0; i < curve.costs.size(); ++i) {
        require_positive(curve.costs[i].seconds_per_nonzero, machine,
                         element(field + ".costs", i) + ".seconds_per_nonzero");
    }
    require_not_negative(curve.seconds_per_row, machine, field + ".seconds_per_row");
    require_not_negative(curve.seconds_per_row_again.value_or(0), machine, field + ".seconds_per_row_again");
    const PassingCost passing = curve.passing.value_or(PassingCost{});
    require_not_negative(passing.seconds_per_row, machine, field + ".passing.seconds_per_row");
    require_not_negative(passing.seconds_per_change, machine, field + ".passing.seconds_per_change");
}

void validate(const std::vector<GemmRate>& rates, const Machine& machine) {
    std::set<std::tuple<GemmKind, std::int64_t, std::int64_t>> seen;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::string field = element("calibration.gemm", i);
        const GemmRate& rate = rates[i];
        require(rate.inner >= 1, machine, field + ".inner", "must be at least 1");
        require(rate.columns >= 1, machine, field + ".columns", "must be at least 1");
        require_positive(rate.flops_per_second, machine, field + ".flops_per_second");
        require(seen.emplace(rate.product, rate.inner, rate.columns).second, machine, field,
                "repeats a product, inner and columns");
    }
}

void validate(const std::vector<StreamRate>& rates, const Machine& machine) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::string field = element("calibration.streams", i);
        require(rates[i].working_set_bytes >= 1, machine, field + ".working_set_bytes", "must be at least 1");
        require_positive(rates[i].bytes_per_second, machine, field + ".bytes_per_second");
        const auto key = [&](std::size_t j) { return std::pair(rates[j].stream, rates[j].working_set_bytes); };
        require(i == 0 || key(i - 1) < key(i), machine, field, "must follow by stream, then by working_set_bytes");
    }
}

void validate(const ColumnCost& cost, const Machine& machine, const std::string& field) {
    require(std::isfinite(cost.seconds), machine, field + ".seconds", "must be finite");
    require(std::isfinite(cost.seconds_per_column), machine, field + ".seconds_per_column", "must be finite");
}

// Each comes once, in the order of programs, dropout and heads.
void validate(const std::vector<ProgramCost>& programs, const Machine& machine) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const ProgramCost& cost = programs[i];
        const std::string field = element("calibration.programs", i);
        validate(cost.nonzero, machine, field + ".nonzero");
        validate(cost.row, machine, field + ".row");
        require(cost.working_set_bytes >= 1, machine, field + ".working_set_bytes", "must be at least 1");
        require(std::isfinite(cost.waiting) && cost.waiting > -1, machine, field + ".waiting",
                "must be finite and above -1");
        require(cost.heads >= 0, machine, field + ".heads", "must not be negative");
        const ProgramCost* before = i > 0 ? &programs[i - 1] : nullptr;
        const auto place = [](const ProgramCost& of) { return std::tuple(of.program, of.dropout, of.heads); };
        require(before == nullptr || place(*before) < place(cost), machine, field,
                "must come in the order of programs, dropout and heads");
    }
}

void validate(const LoadingCost& cost, const Machine& machine) {
    require_not_negative(cost.parse_seconds_per_edge, machine, "calibration.loading.parse_seconds_per_edge");
    require_not_negative(cost.deal_seconds_per_edge, machine, "calibration.loading.deal_seconds_per_edge");
    require_not_negative(cost.row_seconds_per_nonzero, machine, "calibration.loading.row_seconds_per_nonzero");
    require_not_negative(cost.cut_seconds_per_nonzero, machine, "calibration.loading.cut_seconds_per_nonzero");
}

void validate(const std::vector<StepCorrection>& corrections, const Machine& machine) {
    for (std::size_t i = 0; i < corrections.size(); ++i) {
        const std::string field = element("calibration.corrections", i);
        require_positive(corrections[i].factor, machine, field + ".factor");
        require(std::isfinite(corrections[i].slope) && corrections[i].slope > -1, machine, field + ".slope",
                "must be finite and above -1");
        require_not_negative(corrections[i].spread, machine, field + ".spread");
        require(i == 0 || corrections[i - 1].part < corrections[i].part, machine, field,
                "must come in the order of parts");
    }
}

void validate(const ProbeFigures& figures, const Machine& machine, const std::string& field) {
    require(figures.largest_bytes >= 1, machine, field + ".largest_bytes", "must be at least 1");
    require_positive(figures.gemm_flops_per_second, machine, field + ".gemm_flops_per_second");
    require_positive(figures.copy_bytes_per_second, machine, field + ".copy_bytes_per_second");
    require_positive(figures.near_bytes_per_second, machine, field + ".near_bytes_per_second");
    require_positive(figures.far_bytes_per_second, machine, field + ".far_bytes_per_second");
    require_positive(figures.exchange_bytes_per_second.value_or(1), machine, field + ".exchange_bytes_per_second");
    require_positive(figures.between_bytes_per_second.value_or(1), machine, field + ".between_bytes_per_second");
}

void validate(const Calibration& calibration, const Machine& machine) {
    require_increasing(calibration.gather, &GatherCurve::width, 1, machine, "calibration.gather", "width");
    for (std::size_t i = 0; i < calibration.gather.size(); ++i) {
        validate(calibration.gather[i], machine, element("calibration.gather", i));
    }
    validate(calibration.gemm, machine);
    require(calibration.gemm_lanes.value_or(1) >= 1, machine, "calibration.gemm_lanes", "must be at least 1");
    validate(calibration.streams, machine);
    validate(calibration.programs, machine);
    if (calibration.loss) {
        require_not_negative(calibration.loss->seconds_per_row, machine, "calibration.loss.seconds_per_row");
        require_positive(calibration.loss->seconds_per_logit, machine, "calibration.loss.seconds_per_logit");
    }
    if (calibration.loading) validate(*calibration.loading, machine);
    if (calibration.all_reduce) validate(*calibration.all_reduce, machine, "calibration.all_reduce");
    if (calibration.reduce_scatter) validate(*calibration.reduce_scatter, machine, "calibration.reduce_scatter");
    if (calibration.redistribution) validate(*calibration.redistribution, machine, "calibration.redistribution");
    if (calibration.lent_panel_seconds)
        require_not_negative(*calibration.lent_panel_seconds, machine, "calibration.lent_panel_seconds");
    require(calibration.threads.value_or(1) > 0, machine, "calibration.threads", "must be positive");
    require(std::isfinite(calibration.overlap_slowdown) && calibration.overlap_slowdown >= 1, machine,
            "calibration.overlap_slowdown", "must be finite and at least 1");
    require(calibration.overlap_exposed >= 0 && calibration.overlap_exposed <= 1, machine,
            "calibration.overlap_exposed", "must be between 0 and 1");
    if (calibration.overlapping) {
        require_positive(calibration.overlapping->portions, machine, "calibration.overlapping.portions");
        require_not_negative(calibration.overlapping->look_seconds, machine, "calibration.overlapping.look_seconds");
        require(calibration.overlapping->exposed >= 0 && calibration.overlapping->exposed <= 1, machine,
                "calibration.overlapping.exposed", "must be between 0 and 1");
    }
    if (calibration.waiting) {
        require_not_negative(calibration.waiting->seconds, machine, "calibration.waiting.seconds");
        require_not_negative(calibration.waiting->share, machine, "calibration.waiting.share");
    }
    validate(calibration.corrections, machine);
    if (calibration.probe) {
        require(calibration.probe->cores >= 1, machine, "calibration.probe.cores", "must be at least 1");
        validate(calibration.probe->middle, machine, "calibration.probe.middle");
        validate(calibration.probe->least, machine, "calibration.probe.least");
        validate(calibration.probe->most, machine, "calibration.probe.most");
    }
    require_not_negative(calibration.error_median, machine, "calibration.error_median");
    require_not_negative(calibration.error_p90, machine, "calibration.error_p90");
    require_not_negative(calibration.busy, machine, "calibration.busy");
}

void validate(const Blocking& blocking, const Machine& machine) {
    require(blocking.unit_bytes == 32 || blocking.unit_bytes == 64, machine, "blocking.unit_bytes",
            "must be 32, a sector of a GPU's memory, or 64, a cache line of a CPU");
    require(blocking.slice_columns >= 1, machine, "blocking.slice_columns", "must be at least 1");
    require(blocking.cache_bytes >= 0, machine, "blocking.cache_bytes", "must not be negative");
    require(blocking.least_slice_columns >= 1, machine, "blocking.least_slice_columns", "must be at least 1");
    require(blocking.row_start_bytes == 4 || blocking.row_start_bytes == 8, machine, "blocking.row_start_bytes",
            "must be 4 or 8");
}

}  // namespace

void validate(const Machine& machine) {
    require(machine.ranks_per_node >= 1, machine, "ranks_per_node", "must be at least 1");
    require(machine.memory_per_rank >= 1, machine, "memory_per_rank_bytes", "must be at least 1");
    require(machine.workspace_bytes >= 0, machine, "workspace_bytes", "must not be negative");
    validate(machine.blocking, machine);
    require(machine.reserved_bytes >= 0 && machine.reserved_bytes < machine.memory_per_rank, machine, "reserved_bytes",
            "must not be negative, and less than memory_per_rank_bytes");
    validate(machine.intra_node, machine, "intra_node");
    validate(machine.inter_node, machine, "inter_node");
    if (machine.network_cards) {
        require(machine.network_cards->per_node >= 1, machine, "network_cards.per_node", "must be at least 1");
        require_positive(machine.network_cards->bytes_per_second, machine, "network_cards.bytes_per_second");
    }
    require(machine.threads_per_rank.value_or(1) >= 1, machine, "threads_per_rank", "must be at least 1");
    if (machine.all_to_all) validate(*machine.all_to_all, machine, "all_to_all");
    require(!machine.spmm.empty(), machine, "spmm", "needs at least one measured width");
    require_increasing(machine.spmm, &SpmmRate::width, 1, machine, "spmm", "width");
    for (std::size_t i = 0; i < machine.spmm.size(); ++i) {
        require_positive(machine.spmm[i].flops_per_second, machine, element("spmm", i) + ".flops_per_second");
    }
    require_positive(machine.gemm_flops_per_second, machine, "gemm_flops_per_second");
    require_positive(machine.memory_bytes_per_second, machine, "memory_bytes_per_second");
    require_not_negative(machine.step_seconds, machine, "step_seconds");
    if (machine.calibration) validate(*machine.calibration, machine);
    if (machine.probe) validate(*machine.probe, machine, "probe");
}

}  // namespace gnnplan
