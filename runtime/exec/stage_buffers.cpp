#include "runtime/exec/stage_buffers.hpp"

namespace gnnplan::exec {

StageBuffers::StageBuffers(const SpmmStep& step, const StepContext& context)
    : step_(step),
      context_(context),
      part_(context.store.part(step.matrix)),
      buffers_(context.store.buffers(context.step)) {
    for (const TensorId operand : step.column_operands) columns_.push_back(context.store.block(operand).columns.size());
}

std::byte* StageBuffers::pack(std::size_t k) const {
    return staging() + static_cast<std::int64_t>(k % packs()) * buffers_.pack;
}

std::byte* StageBuffers::dense(std::size_t k, std::size_t operand) const {
    const auto copy = static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.copies + buffers_.kept));
    std::byte* buffer = received() + copy * buffers_.dense;
    for (std::size_t i = 0; i < operand; ++i) buffer += row_bytes(i, part_.stages()[k].dense_rows);
    return buffer;
}

std::byte* StageBuffers::nonzeros(std::size_t k) const {
    const auto copy = static_cast<std::int64_t>(k % static_cast<std::size_t>(buffers_.copies));
    return received() + (buffers_.copies + buffers_.kept) * buffers_.dense + copy * buffers_.nonzeros;
}

kernels::PanelRoom StageBuffers::panel_room() const {
    return {{received() + buffers_.exchange_bytes(), static_cast<std::size_t>(buffers_.panel)},
            step_.bf16,
            buffers_.slice_columns};
}

}  // namespace gnnplan::exec
