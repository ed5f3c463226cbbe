#include "bench/epoch/floor_steps.hpp"

#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/traffic.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan::bench {
namespace {

double read_seconds(const Access& read, const Peaks& peaks) {
    return read.bytes == 0 ? 0 : static_cast<double>(read.bytes) / peaks.read(read.distance);
}

double read_seconds(const std::vector<Access>& reads, const Peaks& peaks) {
    double seconds = 0;
    for (const Access& read : reads) seconds += read_seconds(read, peaks);
    return seconds;
}

double write_seconds(const std::vector<Access>& writes, const Peaks& peaks) {
    double seconds = 0;
    for (const Access& write : writes) {
        if (write.bytes > 0) seconds += static_cast<double>(write.bytes) / peaks.write(write.bytes);
    }
    return seconds;
}

// Gathers of a row in place of reading each row once: those that find the row in the second level cost nothing, others
// come from as far away as the rows in between are large, first uses from where the operand is. The rows are those that
// the kernel reads: packed ones, slice by slice, where it packs.
double gather_seconds(const SpmmReuse& reuse, std::int64_t width, std::int64_t operand_distance, const Peaks& peaks) {
    const bool packed = reuse.packed.rows > 0;
    const std::int64_t row_bytes = packed ? reuse.packed.row_bytes() : 4 * width;
    const std::int64_t slices = packed ? reuse.packed.slices : 1;
    const auto each = static_cast<double>(row_bytes * slices);
    const std::int64_t floats = std::max<std::int64_t>(1, row_bytes / 4);
    double seconds = reuse.histogram.first_uses * each / peaks.gather(floats, operand_distance);
    std::int64_t rows = 1;  // at least so many others in between
    for (const double count : reuse.histogram.reuses) {
        if (count > 0 && rows * row_bytes > peaks.second_level_bytes)
            seconds += count * each / peaks.gather(floats, rows * row_bytes);
        rows *= 2;
    }
    return seconds * reuse.share;
}

// Rows of the result that further panels load and store again, in bytes.
std::int64_t bytes_again(const SpmmReuse& reuse, std::int64_t result_bytes) {
    const double visits = std::max(0.0, reuse.share * reuse.histogram.row_visits - reuse.rows);
    return reuse.rows > 0 ? std::llround(visits / reuse.rows * static_cast<double>(result_bytes)) : 0;
}

double bytes_with_reuse(const Schedule& schedule, const SpmmStep& product, const StepAccesses& accesses,
                        const GraphStats& graph, int rank, const Peaks& peaks) {
    const SpmmReuse reuse =
        reuse_of(schedule, product, graph, rank, multiplied_nonzeros(schedule, product.matrix, graph, rank));
    const std::int64_t width = product.travelling_columns(schedule, rank);
    std::int64_t operand = 0, results = 0;
    double reading = 0;
    for (const Access& read : accesses.reads) {
        const bool gathered = std::ranges::count(product.column_operands, read.tensor) > 0;
        if (gathered) {
            operand = std::max(operand, read.distance);
        } else {
            reading += read_seconds(read, peaks);
        }
    }
    for (const Access& write : accesses.writes) results += write.bytes;
    double writing = write_seconds(accesses.writes, peaks);
    if (width > 0 && reuse.histogram.first_uses > 0) reading += gather_seconds(reuse, width, operand, peaks);
    if (const std::int64_t again = bytes_again(reuse, results); again > 0) {
        reading += static_cast<double>(again) / peaks.read(results);
        writing += static_cast<double>(again) / peaks.write(results);
    }
    if (reuse.packing_bytes > 0) {
        const std::int64_t elements = reuse.packing_bytes / (4 + reuse.packed.element_bytes);
        reading += static_cast<double>(4 * elements) / peaks.read(operand);
        writing += static_cast<double>(reuse.packed.element_bytes * elements) / peaks.write(reuse.packed.bytes());
    }
    return peaks.together(reading, writing);
}

}  // namespace

std::string_view text_of(Bound bound) {
    switch (bound) {
        case Bound::flops: return "flops";
        case Bound::link: return "link";
        case Bound::bytes: break;
    }
    return "bytes";
}

double StepFloor::seconds() const { return std::max({flops, bytes, link}); }
double StepFloor::seconds_with_reuse() const { return std::max({flops, bytes, bytes_with_reuse, link}); }
Bound StepFloor::bound() const {
    if (link > std::max(flops, bytes)) return Bound::link;
    return flops > bytes ? Bound::flops : Bound::bytes;
}

StepFloor floor_of(const Schedule& schedule, const Step& step, const StepAccesses& accesses, const GraphStats& graph,
                   int rank, const Peaks& peaks) {
    StepFloor floor;
    if (accesses.reads.empty() && accesses.writes.empty()) return floor;
    const auto* map = std::get_if<MapStep>(&step.operation);
    if (map != nullptr && map->done_before) return floor;  // a product does it to rows that are in cache
    const RankWork work = work_of(schedule, step, graph, rank);
    floor.flops = (work.dense_flops + work.sparse_flops) / peaks.flops_per_second;
    floor.bytes = peaks.together(read_seconds(accesses.reads, peaks), write_seconds(accesses.writes, peaks));
    floor.bytes_with_reuse = floor.bytes;
    if (const SpmmStep* product = product_of(step.operation))
        floor.bytes_with_reuse = bytes_with_reuse(schedule, *product, accesses, graph, rank, peaks);
    if (peaks.link_bytes_per_second) {
        const RankTraffic traffic = traffic_of(schedule, step, graph, rank);
        const std::int64_t most = std::max(traffic.sent_bytes, traffic.received_bytes);
        floor.link = static_cast<double>(most) / *peaks.link_bytes_per_second;
    }
    return floor;
}

}  // namespace gnnplan::bench
