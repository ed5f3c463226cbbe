#include "planner/calibrate/curves.hpp"

#include "planner/calibrate/line.hpp"
#include "planner/calibrate/quantile.hpp"
#include "planner/cost/rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace gnnplan::calibrate {
namespace {

constexpr std::array<std::pair<std::string_view, GemmKind>, 3> products{
    {{"gemm.forward", GemmKind::forward},
     {"gemm.input_gradient", GemmKind::input_gradient},
     {"gemm.weight_gradient", GemmKind::weight_gradient}}};

constexpr std::array<std::pair<std::string_view, ElementwiseKind>, 17> streams{
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
     {"stream.head_unit_back", ElementwiseKind::head_unit_back}}};

using MeasuredProgram = std::pair<Program, bool>;  // and whether it drops weights
constexpr std::array<std::pair<std::string_view, MeasuredProgram>, 7> programs{
    {{"program.max", {Program::max, false}},
     {"program.max_back", {Program::max_back, false}},
     {"program.attend", {Program::attend, false}},
     {"program.attend_back", {Program::attend_back, false}},
     {"program.attend.dropout", {Program::attend, true}},
     {"program.attend_back.dropout", {Program::attend_back, true}},
     {"program.dot", {Program::dot, false}}}};

template <class Names>
auto find(const Names& names, std::string_view what) -> std::optional<decltype(names[0].second)> {
    const auto* known = std::ranges::find(names, what, [](const auto& name) { return name.first; });
    if (known == names.end()) return std::nullopt;
    return known->second;
}

// One "spmm" sample, per nonzero.
struct Spmm {
    std::int64_t nonzeros = 0;
    double seconds = 0;
    double rows = 0;
};
using Windows = std::map<std::int64_t, std::vector<Spmm>>;  // by working set

std::map<std::int64_t, Windows> spmm_by_width(std::span<const Sample> samples) {
    std::map<std::int64_t, Windows> widths;
    for (const Sample& sample : samples) {
        if (sample.what != "spmm") continue;
        const auto nonzeros = static_cast<double>(sample.at[2]);
        widths[sample.at[0]][sample.at[1]].push_back(
            {sample.at[2], median(sample.seconds) / nonzeros, static_cast<double>(sample.at[3]) / nonzeros});
    }
    // Longest rows first.
    for (auto& [width, windows] : widths) {
        for (auto& [bytes, list] : windows) std::ranges::sort(list, {}, &Spmm::rows);
    }
    return widths;
}

double seconds_per_row(const Windows& windows) {
    std::vector<double> estimates;
    for (const auto& [bytes, list] : windows) {
        const double rows = list.back().rows - list.front().rows;
        if (rows > 0) estimates.push_back((list.back().seconds - list.front().seconds) / rows);
    }
    return std::max(0.0, median(std::move(estimates)));
}

// What a row takes longer that adds to a result, against the same matrix multiplied without.
std::optional<double> seconds_per_row_again(std::span<const Sample> samples, std::int64_t width) {
    for (const Sample& adding : samples) {
        if (adding.what != "spmm.add" || adding.at[0] != width) continue;
        const auto plain = std::ranges::find_if(
            samples, [&](const Sample& sample) { return sample.what == "spmm" && sample.at == adding.at; });
        if (plain == samples.end()) continue;
        const double more = median(adding.seconds) - median(plain->seconds);
        return std::max(0.0, more) / static_cast<double>(adding.at[3]);
    }
    return std::nullopt;
}

// A product that adds to a result in which some rows have no nonzeros.
struct Passing {
    double passed = 0;   // rows
    double changes = 0;  // as ReuseHistogram::row_changes: the matrix is random
    double seconds = 0;  // more than its other rows take by themselves
    double share() const { return changes / passed; }
};

// Where hardly any row has nonzeros, next to nothing is guessed wrong; where half of them have, a guess is as good as
// any. What a row takes that has some is that of the product in which all have.
std::optional<PassingCost> fit_passing(std::span<const Sample> samples, std::int64_t width) {
    const auto all = std::ranges::find_if(
        samples, [&](const Sample& sample) { return sample.what == "spmm.add" && sample.at[0] == width; });
    if (all == samples.end()) return std::nullopt;
    const double row = median(all->seconds) / static_cast<double>(all->at[3]);
    std::vector<Passing> sparse;
    for (const Sample& sample : samples) {
        if (sample.what != "spmm.pass" || sample.at[0] != width) continue;
        const auto rows = static_cast<double>(sample.at[3]);
        const auto visited = static_cast<double>(sample.at[4]);
        sparse.push_back({rows - visited, std::min(visited, rows - visited), median(sample.seconds) - visited * row});
    }
    std::erase_if(sparse, [](const Passing& product) { return product.changes <= 0; });
    if (sparse.empty()) return std::nullopt;
    const auto [rare, often] = std::ranges::minmax_element(sparse, {}, &Passing::share);
    if (rare->share() >= often->share()) return std::nullopt;
    // Both products satisfy passed * p + changes * c = seconds: two equations for p and c.
    const double of_both = rare->passed * often->changes - often->passed * rare->changes;
    const double each = (rare->seconds * often->changes - often->seconds * rare->changes) / of_both;
    const double passed = std::max(0.0, each);
    return PassingCost{passed, std::max(0.0, (often->seconds - often->passed * passed) / often->changes)};
}

// A "program." sample, per nonzero, and what the curves say of a sum of as many columns.
struct ProgramSample {
    double width = 0;
    std::int64_t bytes = 0;  // gathered
    double rows = 0;
    double gathering = 0;
    double seconds = 0;
    double more = 0;  // than the sum
};
using ProgramSamples = std::vector<ProgramSample>;

ProgramSample program_sample(const Sample& sample, const Calibration& gathered) {
    const auto nonzeros = static_cast<double>(sample.at[4]);
    const double rows = static_cast<double>(sample.at[5]) / nonzeros;
    const double gathering = gather_seconds(gathered, sample.at[2], 0, static_cast<double>(sample.at[3]));
    const double seconds = median(sample.seconds) / nonzeros;
    return {static_cast<double>(sample.at[0]),
            sample.at[3],
            rows,
            gathering,
            seconds,
            seconds - gathering - rows * row_seconds(gathered, sample.at[2])};
}

// A line through what was measured at some widths, each weighted by 1 / `scale`; level through those of one width.
struct AtWidth {
    double width = 0;
    double seconds = 0;
    double scale = 1;
};
ColumnCost fit_columns(const std::vector<AtWidth>& points) {
    double weights = 0, widths = 0, seconds = 0;
    for (const AtWidth& point : points) {
        const double weight = 1 / (point.scale * point.scale);
        weights += weight;
        widths += weight * point.width;
        seconds += weight * point.seconds;
    }
    if (weights == 0) return {};
    double covariance = 0, variance = 0;
    for (const AtWidth& point : points) {
        const double away = (point.width - widths / weights) / (point.scale * point.scale);
        covariance += away * (point.seconds - seconds / weights);
        variance += away * (point.width - widths / weights);
    }
    const double slope = variance > 0 ? covariance / variance : 0;
    return {(seconds - slope * widths) / weights, slope};
}

// What a row takes shows between matrices of long and of short rows, what waiting takes where more is gathered than fits
// into caches, and what a nonzero takes in the rest. Leaves alone what no sample says; false if that is all.
bool fit_program(const ProgramSamples& samples, ProgramCost& cost) {
    const auto by_bytes = [](const ProgramSample& sample) { return sample.bytes; };
    const auto by_rows = [](const ProgramSample& sample) { return sample.rows; };
    const std::int64_t least = std::ranges::min(samples, {}, by_bytes).bytes;
    const double longest = std::ranges::min(samples, {}, by_rows).rows;
    const auto near = [&](const ProgramSample& sample) { return sample.bytes < 2 * least; };
    const auto dense = [&](const ProgramSample& sample) { return sample.rows < 2 * longest; };
    std::vector<AtWidth> rows, nonzeros;
    std::vector<double> waiting;
    for (const ProgramSample& base : samples) {
        if (!near(base) || !dense(base)) continue;
        cost.working_set_bytes = std::max(cost.working_set_bytes, base.bytes);
        for (const ProgramSample& other : samples) {
            if (other.width != base.width) continue;
            const double more = other.more - base.more;
            if (near(other) && !dense(other)) {
                rows.push_back({base.width, more / (other.rows - base.rows), other.seconds});
            }
            if (!near(other) && dense(other) && other.gathering > 1.1 * base.gathering) {
                waiting.push_back(more / (other.gathering - base.gathering));
            }
        }
    }
    if (!rows.empty()) cost.row = fit_columns(rows);
    if (!waiting.empty()) cost.waiting = std::max(-0.5, median(std::move(waiting)));
    for (const ProgramSample& base : samples) {
        if (!near(base) || !dense(base)) continue;
        const double row = cost.row.seconds + base.width * cost.row.seconds_per_column;
        nonzeros.push_back({base.width, base.more - base.rows * row, base.seconds});
    }
    cost.nonzero = fit_columns(nonzeros);
    const auto [narrowest, widest] = std::ranges::minmax(nonzeros, {}, &AtWidth::width);
    return narrowest.width < widest.width;  // one width says nothing of others
}

}  // namespace

std::optional<GemmKind> product_of(std::string_view what) { return find(products, what); }
std::optional<ElementwiseKind> elementwise_kind_of(std::string_view what) { return find(streams, what); }

std::vector<GatherCurve> fit_gather(std::span<const Sample> samples) {
    constexpr double least_share = 0.1;  // of the time: rows cannot be nearly all of it where they are long
    std::vector<GatherCurve> curves;
    for (const auto& [width, windows] : spmm_by_width(samples)) {
        GatherCurve& curve = curves.emplace_back();
        curve.width = width;
        curve.seconds_per_row = seconds_per_row(windows);
        curve.seconds_per_row_again = seconds_per_row_again(samples, width);
        curve.passing = fit_passing(samples, width);
        for (const auto& [bytes, list] : windows) {
            const Spmm& longest = list.front();
            const double gather = longest.seconds - longest.rows * curve.seconds_per_row;
            curve.costs.push_back({bytes, std::max(gather, least_share * longest.seconds)});
        }
    }
    return curves;
}

std::vector<SpmmRate> spmm_rates(std::span<const Sample> samples) {
    constexpr double typical_bytes = 1 << 24;
    std::vector<SpmmRate> rates;
    for (const auto& [width, windows] : spmm_by_width(samples)) {
        const auto distance = [](const auto& window) {
            return std::abs(std::log(static_cast<double>(window.first) / typical_bytes));
        };
        const auto nearest = std::ranges::min_element(windows, {}, distance);
        rates.push_back({width, 2.0 * static_cast<double>(width) / nearest->second.front().seconds});
    }
    return rates;
}

std::vector<ProgramCost> fit_programs(std::span<const Sample> samples, const Calibration& gathered) {
    if (gathered.gather.empty()) return {};
    std::map<std::tuple<Program, bool, std::int64_t>, ProgramSamples> measured;  // by heads, too
    for (const Sample& sample : samples) {
        const auto program = find(programs, sample.what);
        if (!program) continue;
        measured[{program->first, program->second, sample.at[1]}].push_back(program_sample(sample, gathered));
    }
    std::vector<ProgramCost> costs;
    for (const auto& [which, of_program] : measured) {
        const auto [program, dropout, heads] = which;
        const ProgramCost* whole = nullptr;  // of the same program, without dropout
        for (const ProgramCost& cost : costs) {
            if (cost.program == program && !cost.dropout && cost.heads == heads) whole = &cost;
        }
        ProgramCost cost{program, static_cast<int>(heads), dropout};
        if (whole != nullptr) cost.row = whole->row, cost.waiting = whole->waiting;
        if (fit_program(of_program, cost)) costs.push_back(cost);
    }
    return costs;
}

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
