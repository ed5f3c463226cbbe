#include "planner/cost/product_time.hpp"

#include "planner/cost/compute.hpp"
#include "planner/cost/rates.hpp"

#include <algorithm>

namespace gnnplan::cost {

double seconds_of_reuse(const Schedule& schedule, const SpmmStep& product, const SpmmReuse& reuse,
                        const Machine& machine, int rank, std::int64_t multiplied, bool dropout) {
    const Calibration& calibration = *machine.calibration;
    const std::int64_t width = product.travelling_columns(schedule, rank);
    const SparseSeconds sum = sparse_seconds(reuse, width, machine);
    if (multiplied == 0 || width == 0) return sum.total();
    const auto nonzeros = static_cast<double>(multiplied);
    const std::int64_t wide = block_of(schedule, product.column_operands.front(), rank).columns.size();
    const ProgramSeconds program =
        program_seconds(calibration, product.program, product.local_heads(schedule, rank), wide, dropout);
    if (program.working_set_bytes <= 0) return sum.total();
    const double near = gather_seconds(calibration, width, 0, program.working_set_bytes);
    const double waiting = program.waiting * std::max(0.0, sum.gathering / nonzeros - near);
    const double visits = std::max(reuse.rows, reuse.share * reuse.histogram.row_visits);
    constexpr double least = 0.1;  // of the sum: a program gathers all of it
    return std::max(least * sum.total(), sum.total() + nonzeros * (program.nonzero + waiting) + visits * program.row);
}

double product_seconds(const Schedule& schedule, const SpmmStep& product, const GraphStats& graph,
                       const Machine& machine, int rank, std::int64_t multiplied, bool dropout) {
    if (!machine.calibration || machine.calibration->gather.empty()) return 0;
    const SpmmReuse reuse = reuse_of(schedule, product, graph, rank, multiplied);
    return seconds_of_reuse(schedule, product, reuse, machine, rank, multiplied, dropout);
}

}  // namespace gnnplan::cost
