// Reading guide: a search asks for the largest peak of every configuration that it looks at, so the peaks of many ranks
// are put together from what they have in common.
#include "planner/ir/arena.hpp"
#include "planner/ir/memory_parts.hpp"
#include "planner/ir/needed_rows.hpp"
#include "planner/ir/sharded.hpp"

#include <gnnplan/ir/classes.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace gnnplan {
namespace {

// The peaks of one rank after the other. Figures that depend on sizes alone are looked up once for ranks of the same
// sizes, buffers of products that gather nonzeros are counted for all ranks of a slice at once, and buffers of the same
// sizes are placed once.
class Peaks {
public:
    Peaks(const Schedule& schedule, const GraphStats& graph)
        : schedule_(schedule),
          graph_(graph),
          arena_(schedule),
          slices_(schedule, graph),
          classes_(size_classes(schedule, false)),
          reordered_(all_reordered_edges(schedule)),
          bytes_(classes_.representative.size()) {
        for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
            const auto matrix = static_cast<TensorId>(id);
            if (has_counted_rows(schedule.tensors[id].role)) counted_.push_back(id);
            if (schedule.tensors[id].role != Role::adjacency) continue;
            matrices_.push_back({matrix, exchanges_needed_rows(schedule, matrix)});
        }
        std::unordered_map<std::string, std::size_t> known;
        for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
            const Operation& operation = schedule.steps[step].operation;
            first_equal_.push_back(known.try_emplace(signature_of(schedule, operation), step).first->second);
            if (depends_on_graph(schedule, operation)) by_graph_.push_back(step);
            if (std::holds_alternative<RowRequestStep>(operation)) requests_.push_back(&schedule.steps[step]);
        }
    }

    MemoryPlan of(int rank) {
        MemoryPlan plan;
        plan.arena_bytes = arena_bytes(rank);
        for (const auto& [matrix, needed_rows] : matrices_) {
            plan.adjacency_bytes += slices_.gathered(matrix) ? slices_.adjacency_bytes(matrix, needed_rows, rank)
                                                             : whole_adjacency_bytes(matrix, rank);
        }
        plan.adjacency_bytes += edge_order_bytes(schedule_, reordered_, graph_, rank);
        for (const Step* step : requests_) {
            const RankTraffic indices = slices_.traffic(*step, rank);
            const auto& request = std::get<RowRequestStep>(step->operation);
            plan.request_bytes += indices.sent_bytes + request.passed_bytes(schedule_, graph_, rank);
            plan.served_bytes += indices.received_bytes;
        }
        add_load_and_peak(schedule_, graph_, rank, plan);
        return plan;
    }

private:
    struct Matrix {
        TensorId id = 0;
        bool needed_rows = false;
    };

    // Ranks of a y-group have the same nonzeros, unless blocks or rows are dealt to them.
    std::int64_t whole_adjacency_bytes(TensorId matrix, int rank) {
        const Grid& grid = schedule_.grid;
        if (!has_whole_slices(grid, tensor_of(schedule_, matrix)))
            return adjacency_block_bytes(schedule_, matrix, graph_, rank);
        const auto [entry, is_new] = adjacency_.try_emplace({matrix, grid.neighbour(rank, Axis::y, 0)}, 0);
        if (is_new) entry->second = adjacency_block_bytes(schedule_, matrix, graph_, rank);
        return entry->second;
    }

    std::int64_t arena_bytes(int rank) {
        const int alike = classes_.class_of[static_cast<std::size_t>(rank)];
        BufferBytes& bytes = bytes_[static_cast<std::size_t>(alike)];
        if (bytes.tensors.empty()) bytes = bytes_by_size(rank);
        std::vector<std::int64_t> key{alike};
        for (const std::size_t step : by_graph_) key.push_back(bytes_by_graph(step, bytes.staging[step], rank));
        for (const std::size_t id : counted_)
            key.push_back(4 * elements_of(schedule_, static_cast<TensorId>(id), graph_, rank));
        const auto [entry, is_new] = arenas_.try_emplace(key, 0);
        if (!is_new) return entry->second;
        BufferBytes all = bytes;
        for (std::size_t i = 0; i < by_graph_.size(); ++i) all.staging[by_graph_[i]] = key[i + 1];
        for (std::size_t i = 0; i < counted_.size(); ++i) all.tensors[counted_[i]] = key[by_graph_.size() + 1 + i];
        return entry->second = arena_.bytes(all, packer_);
    }

    // Products that gather nonzeros stage their panels here, and other steps that the graph decides stage nothing.
    BufferBytes bytes_by_size(int rank) const {
        BufferBytes bytes{tensor_bytes(schedule_, graph_, rank), {}};
        for (std::size_t i = 0; i < first_equal_.size(); ++i) {
            if (first_equal_[i] < i) {
                bytes.staging.push_back(bytes.staging[first_equal_[i]]);
                continue;
            }
            const Step& step = schedule_.steps[i];
            const bool by_graph = depends_on_graph(schedule_, step.operation);
            const bool gathers = by_graph && slices_.counts(step);
            const SpmmStep* product = product_of(step.operation);
            std::int64_t staged = 0;
            if (gathers && product != nullptr) staged = aligned(packed_panel(schedule_, *product, rank).bytes());
            bytes.staging.push_back(by_graph ? staged : staged_bytes(schedule_, step, graph_, rank));
        }
        return bytes;
    }

    std::int64_t bytes_by_graph(std::size_t step, std::int64_t panel, int rank) {
        const Step& counted = schedule_.steps[step];
        if (!slices_.counts(counted)) return staged_bytes(schedule_, counted, graph_, rank);
        const SpmmStep* product = product_of(counted.operation);
        return product != nullptr ? panel + slices_.buffers(*product, rank).bytes() : 0;
    }

    const Schedule& schedule_;
    const GraphStats& graph_;
    const Arena arena_;
    Packer packer_;
    ShardedSlices slices_;
    const RankClasses classes_;
    const std::vector<std::pair<TensorId, TensorId>> reordered_;  // edges
    std::vector<BufferBytes> bytes_;                              // per class, as far as sizes decide
    std::vector<Matrix> matrices_;
    std::vector<std::size_t> first_equal_;  // per step: the first that is equal
    std::vector<std::size_t> by_graph_;     // steps whose staging the graph decides
    std::vector<std::size_t> counted_;      // tensors whose rows it decides
    std::vector<const Step*> requests_;
    std::map<std::pair<TensorId, int>, std::int64_t> adjacency_;  // by the first rank of the y-group
    std::map<std::vector<std::int64_t>, std::int64_t> arenas_;    // by class, staging and counted rows
};

}  // namespace

std::int64_t peak_bytes_per_rank(const Schedule& schedule, const GraphStats& graph, const TensorMemory& memory) {
    Peaks peaks(schedule, graph);
    std::int64_t peak = 0;
    const auto add = [&](int rank) { peak = std::max(peak, peaks.of(rank).peak(memory)); };
    if (graph.exact()) {
        for (int rank = 0; rank < schedule.grid.size(); ++rank) add(rank);
    } else {
        for (const int rank : rank_classes(schedule).representative) add(rank);
    }
    return peak;
}

}  // namespace gnnplan
