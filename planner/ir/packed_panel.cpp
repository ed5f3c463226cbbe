#include <gnnplan/ir/packed_panel.hpp>

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan {

PackedPanel packed_panel(const Blocking& blocking, std::int64_t columns, std::int64_t panel_columns, std::int64_t width,
                         bool bf16) {
    const std::int64_t panels = panel_count(columns, panel_columns);
    const std::int64_t rows = (columns + panels - 1) / panels;
    const std::int64_t element_bytes = bf16 ? 2 : 4;
    const ColumnSlices slices = column_slices(blocking, rows, width, element_bytes);
    const std::int64_t unit = blocking.unit_bytes / element_bytes;
    const bool begin_units = width % unit == 0;
    const bool in_one_unit = width > 0 && unit % width == 0;
    const bool use_all_sets = begin_units && (slices.count == 1 || width / unit % 2 == 1);
    const bool of_several = panels > 1 && width > unit && !use_all_sets;
    const bool bounded = blocking.cache_bytes > 0;
    const bool stays = !bounded || rows * slices.columns * element_bytes <= blocking.cache_bytes;
    const bool of_one = panels == 1 && blocking.packs_single_panels && stays && !begin_units && !in_one_unit;
    return {of_several || of_one || bf16 ? rows : 0, slices.count, slices.columns, element_bytes};
}

PackedPanel packed_panel(const Schedule& schedule, const SpmmStep& step, int rank) {
    PackedPanel largest;
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    if (!packs_panels(step.exchange, step.overlap) || step.column_operands.size() > 1) return largest;
    const std::int64_t width = step.travelling_columns(schedule, rank);
    const std::int64_t panel_columns = matrix.storage.panel_columns;
    Blocking blocking = schedule.blocking;
    blocking.packs_single_panels = blocking.packs_single_panels && step.program == Program::sum;
    for (const EqualPieces& pieces : equal_pieces(schedule.grid, matrix, rank)) {
        const PackedPanel packed = packed_panel(blocking, pieces.columns, panel_columns, width, step.bf16);
        if (packed.rows > largest.rows) largest = packed;
    }
    return largest;
}

}  // namespace gnnplan
