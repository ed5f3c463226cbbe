#include "planner/cost/compute.hpp"
#include "planner/cost/rates.hpp"

#include <algorithm>
#include <numeric>

namespace gnnplan::cost {
namespace {

double elementwise_seconds(std::int64_t bytes, ElementwiseKind stream, const Machine& machine) {
    return static_cast<double>(bytes) / elementwise_bytes_per_second(machine, stream, bytes);
}

double streamed_seconds(const RankWork& work, const Machine& machine) {
    if (!work.in_cache) return elementwise_seconds(work.streamed_bytes, work.stream, machine);
    return static_cast<double>(work.streamed_bytes) /
           cached_bytes_per_second(machine, work.stream, work.streamed_bytes);
}

// Uniformly random columns among R rows are used with R / 2 to R other rows in between: 3/4 R of them on average, and
// R (1 + ln 2) nonzeros.
constexpr double usual_nonzeros_per_row = 2.26;

// The bytes that go through the caches with each nonzero besides the row it gathers: its column and value, its share of
// a row of the result.
double passing_bytes(const ReuseHistogram& histogram, double row_bytes) {
    constexpr double column_and_value = 8;
    const double nonzeros = std::accumulate(histogram.reuses.begin(), histogram.reuses.end(), histogram.first_uses);
    return column_and_value + row_bytes * histogram.row_visits / nonzeros;
}

// The first panel stores all rows, those without nonzeros too. Each further one loads the rows for which it has
// nonzeros and stores them again, and passes the others. Panels are taken to be alike.
double result_seconds(const SpmmReuse& reuse, std::int64_t width, double row_bytes, const Machine& machine) {
    const double sweeps = std::max(reuse.rows, reuse.share * reuse.histogram.row_sweeps);
    const double further = sweeps > 0 ? reuse.share * (1 - reuse.rows / sweeps) : 0;  // of the histogram's panels
    const double again = further * reuse.histogram.row_visits;
    const double passed = further * reuse.histogram.row_sweeps - again;
    const PassingCost passing = passing_cost(*machine.calibration, width);
    const auto both_ways = static_cast<std::int64_t>(2 * reuse.rows * row_bytes);
    const double reload =
        row_again_seconds(*machine.calibration, width)
            .value_or(2 * row_bytes / elementwise_bytes_per_second(machine, ElementwiseKind::copy, both_ways));
    return (reuse.rows + again) * row_seconds(*machine.calibration, width) + again * reload +
           passed * passing.seconds_per_row + further * reuse.histogram.row_changes * passing.seconds_per_change;
}

// The rows that do not train are written once.
double loss_seconds(const RankWork& work, const LossCost& cost, const Machine& machine) {
    const auto columns = static_cast<double>(work.columns);
    const double row = cost.seconds_per_row + cost.seconds_per_logit * columns;
    const double cleared = 4 * columns * (work.loss_rows - work.training_rows);
    return work.training_rows * row +
           elementwise_seconds(static_cast<std::int64_t>(cleared), ElementwiseKind::copy, machine);
}

}  // namespace

double compute_seconds(const RankWork& work, const Machine& machine) {
    double seconds = 0;
    if (work.dense_flops > 0) {
        seconds += work.dense_flops / gemm_flops_per_second(machine, work.product, work.inner, work.columns);
    }
    if (machine.calibration) {
        const auto& loss = machine.calibration->loss;
        seconds += work.loss_rows > 0 && loss ? loss_seconds(work, *loss, machine) : streamed_seconds(work, machine);
        seconds += elementwise_seconds(work.staged_bytes, ElementwiseKind::copy, machine) +
                   elementwise_seconds(work.narrowed_bytes, ElementwiseKind::narrow, machine) +
                   elementwise_seconds(work.widened_bytes, ElementwiseKind::widen, machine);
    } else {
        const std::int64_t bytes = work.streamed_bytes + work.staged_bytes + work.narrowed_bytes + work.widened_bytes;
        seconds += static_cast<double>(bytes) / machine.memory_bytes_per_second;
    }
    if (work.sparse_flops > 0) seconds += work.sparse_flops / spmm_flops_per_second(machine, work.sparse_width);
    return seconds;
}

SparseSeconds sparse_seconds(const SpmmReuse& reuse, std::int64_t width, const Machine& machine) {
    const ReuseHistogram& histogram = reuse.histogram;
    const Calibration& calibration = machine.calibration.value();
    const double row_bytes = 4 * static_cast<double>(width);
    const double result = result_seconds(reuse, width, row_bytes, machine);
    if (width == 0 || histogram.first_uses <= 0) return {0, result};
    const bool packed = reuse.packed.rows > 0;
    const double gathered = packed ? static_cast<double>(reuse.packed.row_bytes()) : row_bytes;  // at a time
    const auto gather = [&](double from, double to) {
        return packed ? packed_gather_seconds(machine, reuse.packed, from, to)
                      : gather_seconds(calibration, width, from, to);
    };
    const double passing = passing_bytes(histogram, gathered);
    double seconds = 0;
    double from = 0;
    for (std::size_t b = 0; b < histogram.reuses.size(); ++b) {
        const double count = histogram.reuses[b];
        // Nothing is further away than all rows of a panel.
        const double end = b == 0 ? 2 : 2 * from;
        const double to = histogram.most_distinct > from ? std::min(end, histogram.most_distinct) : end;
        if (count > 0) {
            const double usual = usual_nonzeros_per_row * (from + to) / 2;
            const double more = std::max(0.0, histogram.between[b] / count - usual) * passing;
            seconds += count * gather(from * gathered + more, to * gathered + more);
        }
        from = end;
    }
    const double used = std::max(1.0, histogram.first_uses / reuse.pieces);
    seconds += histogram.first_uses * gather(used / 2 * gathered, used * gathered);
    return {seconds * reuse.share, result + elementwise_seconds(reuse.packing_bytes, ElementwiseKind::copy, machine)};
}

}  // namespace gnnplan::cost
