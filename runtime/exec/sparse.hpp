// One rank's part of an adjacency tensor: its nonzeros piece by piece, and who needs which rows of whom.
#pragma once

#include "kernels/device.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/exec/memory_tracker.hpp"

#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::exec {

// A service to one rank at one stage of a distributed product.
struct RowService {
    int rank = 0;
    Range rows;               // of the whole dense operand
    std::int64_t needed = 0;  // how many of them the rank needs
    // The needed rows (32-bit, from the begin of `rows`), on the device; known after the index exchange.
    std::unique_ptr<kernels::DeviceMemory> index;
};
// Rows that this rank has got at a stage before, and passes on to one that comes to their piece now.
struct RowPassing {
    int rank = 0;
    std::size_t got = 0;  // the stage
    std::int64_t rows = 0;
    std::unique_ptr<kernels::DeviceMemory> index;  // which of those that it got (32-bit), on the device
};
struct NonzeroService {
    int rank = 0;
    std::size_t block = 0;  // of SparsePart::blocks
};

// Stage k: the piece multiplied, if any, and the services to others.
struct SparseStage {
    std::optional<Piece> piece;
    std::optional<std::size_t> block;  // of SparsePart::blocks, when the nonzeros are stored here
    std::int64_t nonzeros = 0;         // of the piece
    std::int64_t first_edge = 0;       // those of the stages before: where its own begin in tensors of edges
    std::int64_t dense_rows = 0;  // rows of the dense operand that the piece meets: all of them, or the needed ones
    // The needed ones, from the begin of the piece, in the order in which they come; of rows that others hold. In the
    // host's memory, and on the device.
    std::vector<std::int32_t> request;
    // From whom how many of them come, in that order: the rank that holds them first.
    std::vector<std::pair<int, std::int64_t>> sources;
    std::unique_ptr<kernels::DeviceMemory> request_on_device;
    std::vector<RowService> rows;
    std::vector<RowPassing> passed;
    std::vector<NonzeroService> sent;
};

// Rows that a rank along x owns, where edges are parts of a cut: which of them this rank has summands of, and which of
// its own rows that rank has.
struct TargetRows {
    int rank = 0;
    Range stored;                                  // the rows of this rank's blocks that the other owns
    std::int64_t received = 0;                     // rows of this rank that the other has summands of
    std::unique_ptr<kernels::DeviceMemory> index;  // which (32-bit), on the device; known after the exchange
};

// A block on the device, as it is sent.
struct StoredBlock {
    std::unique_ptr<kernels::DeviceMemory> memory;
    kernels::Csr nonzeros;
    std::unique_ptr<kernels::Prepared> prepared;

    std::span<const std::byte> bytes() const { return {memory->data(), memory->size()}; }
};

class SparsePart {
public:
    // `matrix` is the adjacency that stores the nonzeros. Cuts the pieces stored on `rank` out of the graph. With a
    // request for rows, columns of pieces whose dense rows others hold are renumbered to the needed rows.
    SparsePart(const Schedule& schedule, const Tensor& matrix, int rank, const RowRequestStep* request,
               const data::Graph& graph, const data::DegreeScales& scales, const data::NumberedCounts& counts,
               kernels::Device& device, MemoryTracker& tracker);

    bool needed_rows() const { return needed_rows_; }
    // Bytes of the nonzeros multiplied at a stage, as they are sent.
    std::int64_t block_bytes(const SparseStage& stage) const;
    // The nonzeros multiplied at a stage: those stored here, or `received`. Where values are factored, it has none.
    kernels::Csr nonzeros(const SparseStage& stage, const std::byte* received) const;
    const std::vector<SparseStage>& stages() const { return stages_; }
    const StoredBlock& block(std::size_t i) const { return blocks_[i]; }

    // The rows of blocks, which are numbered as the graph's.
    data::BlockRows stored_rows() const { return cut_ ? data::BlockRows(std::span(stored_)) : data::BlockRows(rows_); }
    // By the coordinate along x, where edges are parts of a cut.
    const std::vector<TargetRows>& targets() const { return targets_; }
    // The rows of `rank` that this rank has summands of, on the device.
    const std::int32_t* stored_index(const TargetRows& of) const {
        return reinterpret_cast<const std::int32_t*>(stored_on_device_->data()) + of.stored.begin;
    }

    // Collective over the x-groups: every rank tells the others which of their rows it needs. Once.
    void exchange_indices(comm::Communicator& world, kernels::Device& device, MemoryTracker& tracker);
    // Likewise, and once: which of their rows it has summands of.
    void exchange_targets(comm::Communicator& world, kernels::Device& device, MemoryTracker& tracker);

private:
    void store_blocks(const data::Graph& graph, const data::DegreeScales& scales, const data::VertexOrder* order,
                      kernels::Device& device, MemoryTracker& tracker);
    void keep_block(const SparseStage& stage, data::LocalBlock& block, kernels::Device& device);
    void find_requests(int rank, const RowRelay* relay, const data::Graph& graph, const data::VertexOrder* order,
                       kernels::Device& device, MemoryTracker& tracker);
    void order_by_source(int rank, const RowRelay& relay, const data::Graph& graph, const data::VertexOrder* order);
    std::int64_t find_passed(int rank, const RowRelay& relay, const data::Graph& graph, const data::VertexOrder* order,
                             kernels::Device& device);
    std::vector<bool> needed_by(int rank, const data::Graph& graph, const data::VertexOrder* order) const;
    void find_targets(const Grid& grid, int rank, const data::Graph& graph, const data::VertexOrder* order,
                      const data::NumberedCounts& counts, kernels::Device& device, MemoryTracker& tracker);

    data::BlockFormat format() const {
        return {!matrix_.storage.factored, matrix_.storage.panel_columns, blocking_.row_start_bytes};
    }

    const Tensor& matrix_;
    const Grid& grid_;
    Blocking blocking_;
    MatrixId which_;
    Range rows_;
    bool needed_rows_ = false;
    bool cut_ = false;
    std::vector<std::int32_t> stored_;  // of a cut: the rows with nonzeros
    std::unique_ptr<kernels::DeviceMemory> stored_on_device_;
    std::vector<TargetRows> targets_;
    std::vector<SparseStage> stages_;
    std::vector<StoredBlock> blocks_;
    Charge blocks_charge_, requests_charge_, requests_on_device_charge_, services_charge_, stored_charge_,
        stored_on_device_charge_, targets_charge_;
};

// The scales of factored values on one rank: entry (i, j) of the piece of stage k is row[i] * column[k][j].
class ValueScales {
public:
    // `part` has the nonzeros of `matrix` or of the transpose that it shares them with.
    ValueScales(const Tensor& matrix, int rank, const SparsePart& part, const data::DegreeScales& scales,
                const data::VertexOrder* order, kernels::Device& device, MemoryTracker& tracker);

    void apply(std::size_t stage, kernels::Csr& nonzeros) const {
        nonzeros.row_scale = reinterpret_cast<const float*>(row_->data());
        nonzeros.column_scale = reinterpret_cast<const float*>(column_[stage]->data());
    }

private:
    std::unique_ptr<kernels::DeviceMemory> row_;
    std::vector<std::unique_ptr<kernels::DeviceMemory>> column_;  // per stage, of its dense rows
    Charge charge_;
};

}  // namespace gnnplan::exec
