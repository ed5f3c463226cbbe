// Ranks find out which rows they need of each other: they ask, or, where rows are relayed, look at the graph.
#include "runtime/exec/sparse.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::exec {
namespace {

std::vector<std::int32_t> columns_with_nonzeros(const data::Graph& graph, MatrixId which, Range rows, Range columns,
                                                const data::VertexOrder* order) {
    const std::vector<std::int32_t> nonzeros = data::column_nonzeros(graph, which, rows, columns, order);
    std::vector<std::int32_t> needed;
    for (std::size_t column = 0; column < nonzeros.size(); ++column) {
        if (nonzeros[column] > 0) needed.push_back(static_cast<std::int32_t>(column));
    }
    return needed;
}

}  // namespace

void SparsePart::find_requests(int rank, const RowRelay* relay, const data::Graph& graph,
                               const data::VertexOrder* order, kernels::Device& device, MemoryTracker& tracker) {
    for (SparseStage& stage : stages_) {
        if (!stage.piece || stage.piece->dense_root == rank) continue;
        stage.request = columns_with_nonzeros(graph, which_, rows_, stage.piece->columns, order);
        stage.dense_rows = static_cast<std::int64_t>(stage.request.size());
        stage.sources = {{stage.piece->dense_root, stage.dense_rows}};
    }
    if (relay != nullptr) order_by_source(rank, *relay, graph, order);
    std::int64_t bytes = relay != nullptr ? find_passed(rank, *relay, graph, order, device) : 0;
    for (SparseStage& stage : stages_) {
        if (stage.sources.empty()) continue;
        // It stays: nobody owns what is only looked at.
        stage.request_on_device = device.take(nullptr, std::as_bytes(std::span(stage.request)));
        bytes += 4 * stage.dense_rows;
    }
    requests_charge_ = charge_until_uploaded(tracker, bytes);
    requests_on_device_charge_ = Charge(tracker, bytes, Holder::tensors);
}

// Returns, for each column of the matrix, whether the rows of a rank have a nonzero in it.
std::vector<bool> SparsePart::needed_by(int rank, const data::Graph& graph, const data::VertexOrder* order) const {
    const Range rows = matrix_rows(grid_, matrix_, rank);
    std::vector<bool> needed(static_cast<std::size_t>(matrix_.columns), false);
    for (const std::int32_t column : columns_with_nonzeros(graph, which_, rows, {0, matrix_.columns}, order))
        needed[static_cast<std::size_t>(column)] = true;
    return needed;
}

// Rows that are passed on go behind those that come straight, those of the nearest rank first.
void SparsePart::order_by_source(int rank, const RowRelay& relay, const data::Graph& graph,
                                 const data::VertexOrder* order) {
    for (const int source : relay.from(rank)) {
        const std::vector<bool> needed = needed_by(source, graph, order);
        for (SparseStage& stage : stages_) {
            if (stage.sources.empty() || !relay.is_passed_on(rank, *stage.piece)) continue;
            // So far all that nearer ranks do not pass on are first.
            std::int64_t& straight = stage.sources.front().second;
            const auto begin = stage.request.begin();
            const auto passed = std::stable_partition(begin, begin + straight, [&](std::int32_t row) {
                return !needed[static_cast<std::size_t>(stage.piece->columns.begin + row)];
            });
            const std::int64_t count = begin + straight - passed;
            straight -= count;
            std::rotate(passed, passed + count, stage.request.end());
            stage.sources.emplace_back(source, count);
        }
    }
}

// Returns the bytes of their numbers.
std::int64_t SparsePart::find_passed(int rank, const RowRelay& relay, const data::Graph& graph,
                                     const data::VertexOrder* order, kernels::Device& device) {
    std::vector<bool> nearer(static_cast<std::size_t>(matrix_.columns), false);  // what ranks in between need
    std::int64_t bytes = 0;
    for (const int peer : relay.to(rank)) {
        const std::vector<bool> needed = needed_by(peer, graph, order);
        for (std::size_t got = 0; got < stages_.size(); ++got) {
            const SparseStage& stage = stages_[got];
            if (stage.sources.empty() || !relay.is_passed_on(peer, *stage.piece)) continue;
            std::vector<std::pair<std::int32_t, std::int32_t>> passed;  // rows of the piece, and which they are here
            for (std::size_t i = 0; i < stage.request.size(); ++i) {
                const auto column = static_cast<std::size_t>(stage.piece->columns.begin + stage.request[i]);
                if (needed[column] && !nearer[column])
                    passed.emplace_back(stage.request[i], static_cast<std::int32_t>(i));
            }
            if (passed.empty()) continue;
            std::sort(passed.begin(), passed.end());
            std::vector<std::int32_t> index;
            index.reserve(passed.size());
            for (const auto& [row, at] : passed) index.push_back(at);
            const auto count = std::ssize(index);
            bytes += 4 * count;
            stages_[got + relay.behind(rank, peer)].passed.push_back(
                {peer, got, count, kernels::take(device, std::move(index))});
        }
        for (std::size_t i = 0; i < needed.size(); ++i) nearer[i] = nearer[i] || needed[i];
    }
    return bytes;
}

// Rows with nonzeros are columns with some of the transpose. They ascend, so those of one owner follow each other.
void SparsePart::find_targets(const Grid& grid, int rank, const data::Graph& graph, const data::VertexOrder* order,
                              const data::NumberedCounts& counts, kernels::Device& device, MemoryTracker& tracker) {
    const Range all{0, matrix_.columns};
    stored_ = columns_with_nonzeros(graph, transpose_of(which_), all, rows_, order);
    const Range own = dense_rows(grid, matrix_, rank);
    const auto place_of = [&](std::int64_t row) {
        return std::lower_bound(stored_.begin(), stored_.end(), row) - stored_.begin();
    };
    for (int ix = 0; ix < grid.x; ++ix) {
        TargetRows of;
        of.rank = grid.neighbour(rank, Axis::x, ix);
        const Range theirs = dense_rows(grid, matrix_, of.rank);
        of.stored = {place_of(theirs.begin), place_of(theirs.end)};
        of.received = counts.distinct_columns(transpose_of(matrix_.matrix_on(grid, of.rank)), all, own);
        targets_.push_back(std::move(of));
    }
    stored_on_device_ = device.take(nullptr, std::as_bytes(std::span(stored_)));
    const auto bytes = static_cast<std::int64_t>(stored_on_device_->size());
    stored_charge_ = charge_until_uploaded(tracker, bytes);
    stored_on_device_charge_ = Charge(tracker, bytes, Holder::tensors);
}

// Stage by stage, since a rank may ask another one at several.
void SparsePart::exchange_indices(comm::Communicator& world, kernels::Device& device, MemoryTracker& tracker) {
    std::int64_t bytes = 0;
    for (SparseStage& stage : stages_) {
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        if (!stage.sources.empty() && stage.sources.front().second > 0) {
            const auto [holder, straight] = stage.sources.front();
            sends.push_back({holder, {stage.request_on_device->data(), 4 * static_cast<std::size_t>(straight)}});
        }
        for (RowService& service : stage.rows) {
            service.index = device.allocate(4 * static_cast<std::size_t>(service.needed));
            bytes += 4 * service.needed;
            if (service.needed == 0) continue;
            receives.push_back({service.rank, {service.index->data(), service.index->size()}});
        }
        world.exchange(sends, receives);
    }
    services_charge_ = Charge(tracker, bytes, Holder::tensors);
}

void SparsePart::exchange_targets(comm::Communicator& world, kernels::Device& device, MemoryTracker& tracker) {
    std::int64_t bytes = 0;
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    for (TargetRows& of : targets_) {
        if (of.rank == world.rank()) continue;
        if (!of.stored.empty()) {
            const auto* index = reinterpret_cast<const std::byte*>(stored_index(of));
            sends.push_back({of.rank, {index, 4 * static_cast<std::size_t>(of.stored.size())}});
        }
        of.index = device.allocate(4 * static_cast<std::size_t>(of.received));
        bytes += 4 * of.received;
        if (of.received > 0) receives.push_back({of.rank, {of.index->data(), of.index->size()}});
    }
    world.exchange(sends, receives);
    targets_charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
