// Fits what sweeps over nonzeros by other programs than a sum (maxima, attention, products of rows) cost beyond the
// sum.
#include "planner/calibrate/curves.hpp"
#include "planner/calibrate/named.hpp"
#include "planner/calibrate/quantile.hpp"
#include "planner/cost/rates.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace gnnplan::calibrate {
namespace {

using MeasuredProgram = std::pair<Program, bool>;  // and whether it drops weights
constexpr std::array<std::pair<std::string_view, MeasuredProgram>, 7> programs{
    {{"program.max", {Program::max, false}},
     {"program.max_back", {Program::max_back, false}},
     {"program.attend", {Program::attend, false}},
     {"program.attend_back", {Program::attend_back, false}},
     {"program.attend.dropout", {Program::attend, true}},
     {"program.attend_back.dropout", {Program::attend_back, true}},
     {"program.dot", {Program::dot, false}}}};

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

// The cost of a row shows between matrices of long and of short rows, the cost of waiting where more is gathered than
// fits into caches, and the cost of a nonzero in the rest. Leaves alone what no sample says; false if that is all.
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

std::vector<ProgramCost> fit_programs(std::span<const Sample> samples, const Calibration& gathered) {
    if (gathered.gather.empty()) return {};
    std::map<std::tuple<Program, bool, std::int64_t>, ProgramSamples> measured;  // by heads, too
    for (const Sample& sample : samples) {
        const auto program = named(programs, sample.what);
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

}  // namespace gnnplan::calibrate
