#include "runtime/exec/sparse.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::exec {

SparsePart::SparsePart(const Schedule& schedule, const Tensor& matrix, int rank, const RowRequestStep* request,
                       const data::Graph& graph, const data::DegreeScales& scales, const data::NumberedCounts& counts,
                       kernels::Device& device, MemoryTracker& tracker)
    : matrix_(matrix),
      grid_(schedule.grid),
      blocking_(schedule.blocking),
      which_(matrix.matrix_on(schedule.grid, rank)),
      rows_(matrix_rows(schedule.grid, matrix, rank)),
      needed_rows_(request != nullptr),
      cut_(matrix.cut()) {
    const Grid& grid = schedule.grid;
    const Range rows = rows_;
    const std::optional<RowRelay> relay = request != nullptr && request->relayed
                                              ? std::optional<RowRelay>(std::in_place, schedule, matrix)
                                              : std::nullopt;
    const std::vector<Stage> stages = stages_of(grid, matrix, rank);
    std::int64_t edges = 0;
    for (const Stage& from : stages) {
        SparseStage stage;
        stage.piece = from.piece;
        stage.first_edge = edges;
        for (const Stage::Service& service : from.rows) {
            const Piece piece{service.columns, rank, service.rank};
            const Range theirs = matrix_rows(grid, matrix, service.rank);
            const MatrixId of_theirs = matrix.matrix_on(grid, service.rank);
            std::int64_t needed = service.columns.size();
            if (needed_rows_) needed = counts.distinct_columns(of_theirs, theirs, service.columns);
            if (relay) needed = relay->straight(counts, service.rank, piece);
            stage.rows.push_back({service.rank, service.columns, needed, nullptr});
        }
        if (from.piece) {
            stage.nonzeros = counts.block_nonzeros(which_, rows, from.piece->columns);
            stage.dense_rows = from.piece->columns.size();
            edges += stage.nonzeros;
        }
        stages_.push_back(std::move(stage));
    }
    const data::VertexOrder* order = data::cutting_order(graph, counts);
    if (needed_rows_) find_requests(rank, relay ? &*relay : nullptr, graph, order, device, tracker);
    if (cut_) find_targets(grid, rank, graph, order, counts, device, tracker);
    for (SparseStage& stage : stages_) {
        if (!stage.piece || stage.piece->matrix_root != rank) continue;
        stage.block = blocks_.size();
        blocks_.emplace_back();
    }
    store_blocks(graph, scales, order, device, tracker);
    // The nonzeros that a rank of the y-group lacks are of one of the pieces stored here.
    for (std::size_t k = 0; k < stages.size(); ++k) {
        for (const Stage::Service& service : stages[k].nonzeros) {
            const auto owner = std::find_if(stages_.begin(), stages_.end(), [&](const SparseStage& s) {
                return s.block && s.piece->columns == service.columns;
            });
            ensure(owner != stages_.end(), "a rank asks for nonzeros that are stored elsewhere");
            stages_[k].sent.push_back({service.rank, *owner->block});
        }
    }
}

std::int64_t SparsePart::block_bytes(const SparseStage& stage) const {
    return sparse_bytes(blocking_, matrix_, rows_, stage.piece->columns, stage.nonzeros);
}

kernels::Csr SparsePart::nonzeros(const SparseStage& stage, const std::byte* received) const {
    if (stage.block) return block(*stage.block).nonzeros;
    const std::span bytes(received, static_cast<std::size_t>(block_bytes(stage)));
    const std::int64_t panels = panel_count(stage.piece->columns.size(), matrix_.storage.panel_columns);
    return data::view_of(bytes, rows_.size(), stage.dense_rows, stage.nonzeros, panels, !matrix_.storage.factored,
                         row_start_bytes(blocking_, stage.nonzeros));
}

void SparsePart::store_blocks(const data::Graph& graph, const data::DegreeScales& scales,
                              const data::VertexOrder* order, kernels::Device& device, MemoryTracker& tracker) {
    std::vector<SparseStage*> stored;
    for (SparseStage& stage : stages_) {
        if (stage.block) stored.push_back(&stage);
    }
    std::sort(stored.begin(), stored.end(), [](const SparseStage* a, const SparseStage* b) {
        return std::pair(a->piece->columns.begin, a->piece->columns.end) <
               std::pair(b->piece->columns.begin, b->piece->columns.end);  // empty ranges before those they touch
    });
    std::int64_t bytes = 0;
    const auto store = [&](std::span<SparseStage* const> some) {
        std::vector<Range> columns;
        for (const SparseStage* stage : some) columns.push_back(stage->piece->columns);
        std::vector<data::LocalBlock> built =
            data::build_blocks(graph, which_, stored_rows(), columns, scales, order, format());
        std::int64_t cut = 0;
        for (const data::LocalBlock& block : built) cut += block.bytes();
        const Charge on_host = charge_until_uploaded(tracker, cut);
        for (std::size_t i = 0; i < some.size(); ++i) keep_block(*some[i], built[i], device);
        bytes += cut;
    };
    // A processor keeps what it cuts, all of it in one scan of the rows; a device's host cuts what it uploads next.
    const std::size_t at_once = device.memory().accelerator ? 1 : stored.size();
    for (std::size_t first = 0; first < stored.size(); first += at_once)
        store(std::span(stored).subspan(first, at_once));
    blocks_charge_ = Charge(tracker, bytes, Holder::tensors);
}

void SparsePart::keep_block(const SparseStage& stage, data::LocalBlock& block, kernels::Device& device) {
    if (!stage.sources.empty()) data::number_columns(block, stage.request);
    StoredBlock& kept = blocks_[*stage.block];
    kept.memory = kernels::take(device, block.release());
    kept.nonzeros = data::view_of(kept.bytes(), block.rows, block.columns, block.nonzeros(), block.panels(),
                                  !matrix_.storage.factored, row_start_bytes(blocking_, block.nonzeros()));
    kept.prepared = device.prepare(kept.nonzeros);
    kept.nonzeros.prepared = kept.prepared.get();
}

ValueScales::ValueScales(const Tensor& matrix, int rank, const SparsePart& part, const data::DegreeScales& scales,
                         const data::VertexOrder* order, kernels::Device& device, MemoryTracker& tracker) {
    const auto cut = [&](bool of_rows, const data::BlockRows& some) {
        return data::block_scales(scales, matrix.transposed, of_rows, some, order);
    };
    {
        const data::BlockRows rows = part.stored_rows();
        const Charge on_host = charge_until_uploaded(tracker, 4 * rows.size());
        row_ = kernels::take(device, cut(true, rows));
    }
    auto bytes = static_cast<std::int64_t>(row_->size());
    for (const SparseStage& stage : part.stages()) {
        const Range columns = stage.piece ? stage.piece->columns : Range{};
        const Charge on_host = charge_until_uploaded(tracker, 4 * columns.size());
        std::vector<float> column;
        if (stage.piece) column = cut(false, columns);
        if (stage.piece && part.needed_rows() && stage.piece->dense_root != rank) {
            std::vector<float> needed;
            needed.reserve(stage.request.size());
            for (const std::int32_t row : stage.request) needed.push_back(column[static_cast<std::size_t>(row)]);
            column = std::move(needed);
        }
        column_.push_back(kernels::take(device, std::move(column)));
        bytes += static_cast<std::int64_t>(column_.back()->size());
    }
    charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
