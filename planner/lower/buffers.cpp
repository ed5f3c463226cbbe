#include "planner/lower/buffers.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/panel_relay.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::lower {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

// The adjacencies that have one cut, since one of them stores the nonzeros, and the products with them.
class Bounding {
public:
    Bounding(Schedule& schedule, const GraphStats& graph, TensorId stored) : schedule_(schedule), graph_(graph) {
        for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
            const Tensor& tensor = schedule.tensors[id];
            const auto matrix = static_cast<TensorId>(id);
            if (tensor.role == Role::adjacency && tensor.structure.value_or(matrix) == stored) ids_.push_back(matrix);
        }
        for (const TensorId id : ids_) add_products(id);
        by_size_ = std::none_of(products_.begin(), products_.end(),
                                [&](const SpmmStep* product) { return product->depends_on_graph(schedule); });
        longest_ = dense_rows(schedule.grid, matrix(), 0).size();
        const std::int64_t shortest = matrix().rows / schedule.grid.x;
        if (gathers_matrix(schedule.grid, matrix()))
            row_starts_ = row_start_bytes(schedule.blocking, 0) * (shortest + 1);
        whole_ = std::any_of(schedule.steps.begin(), schedule.steps.end(),
                             [](const Step& step) { return std::holds_alternative<EdgeGatherStep>(step.operation); });
    }

    // As bound_buffers.
    std::int64_t bound(std::int64_t bytes, KnownCuts& known) {
        if (products_.empty()) return 0;
        if (std::any_of(products_.begin(), products_.end(), by_relay)) return bound_relay(bytes);
        const bool overlaps =
            std::any_of(products_.begin(), products_.end(), [](const SpmmStep* product) { return product->overlap; });
        const std::int64_t copies = overlaps ? 2 : 1;
        const int least = matrix().storage.splits;
        const int most =
            whole_ ? least : std::max<int>(least, std::min<int>(most_splits(), static_cast<int>(longest_)));
        const std::int64_t enough = bytes / copies;
        const KnownCuts::Cut cut = known.cut(key_of(least, enough), [&] { return smallest(least, most, enough); });
        if (cut.piece_bytes > enough) return copies * cut.piece_bytes;
        const std::int64_t fitting = bytes / std::max<std::int64_t>(1, cut.piece_bytes) - 1;
        const bool fewer = overlaps && fitting < cut.splits;
        for (const TensorId id : ids_) {
            storage_of(id).splits = cut.splits;
            storage_of(id).ahead = fewer ? static_cast<int>(fitting) : 0;
        }
        return 0;
    }

private:
    static bool by_relay(const SpmmStep* product) { return by_nodes(*product); }

    // A rank keeps all pieces of a block until it has passed them on, so that smaller ones would not make buffers
    // smaller.
    std::int64_t bound_relay(std::int64_t bytes) {
        find_ranks();
        std::int64_t most = 0;
        for (const int rank : ranks_) {
            for (const SpmmStep* product : products_)
                most = std::max(most, spmm_buffers(schedule_, *product, graph_, rank).exchange_bytes());
        }
        return most > bytes ? most : 0;
    }

    const Tensor& matrix() const { return tensor_of(schedule_, ids_.front()); }
    Storage& storage_of(TensorId id) { return schedule_.tensors[static_cast<std::size_t>(id)].storage; }

    std::vector<std::int64_t> widths_of(const SpmmStep& product) const {
        std::vector<std::int64_t> widths;
        widths.reserve(static_cast<std::size_t>(schedule_.grid.y));
        for (int iy = 0; iy < schedule_.grid.y; ++iy)
            widths.push_back(product.travelling_columns(schedule_, schedule_.grid.rank_at(0, iy, 0)));
        return widths;
    }

    // Finds the products with a matrix whose rows are on some rank wider than those of each of the others.
    void add_products(TensorId id) {
        std::map<std::vector<std::int64_t>, const SpmmStep*> by_widths;
        for (const Step& step : schedule_.steps) {
            const SpmmStep* product = product_of(step.operation);
            if (product != nullptr && product->matrix == id) by_widths.try_emplace(widths_of(*product), product);
        }
        for (const auto& [widths, product] : by_widths) {
            const bool wider = std::none_of(by_widths.begin(), by_widths.end(), [&w = widths](const auto& other) {
                return other.first != w && std::equal(w.begin(), w.end(), other.first.begin(), std::less_equal<>());
            });
            if (wider) products_.push_back(product);
        }
    }

    // All that the smallest number of splits depends on.
    std::vector<std::int64_t> key_of(int least, std::int64_t enough) const {
        const Grid& grid = schedule_.grid;
        std::vector<std::int64_t> key{
            static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&graph_)), grid.x, grid.y, grid.z, least, enough};
        for (const SpmmStep* product : products_) {
            const Tensor& m = tensor_of(schedule_, product->matrix);
            const std::string split = m.layout.columns.text();
            key.insert(key.end(), {m.rows, m.columns, m.transposed ? 1 : 0, m.sample, m.storage.factored ? 1 : 0,
                                   m.storage.panel_columns, static_cast<std::int64_t>(product->exchange)});
            key.insert(key.end(), split.begin(), split.end());
            const std::vector<std::int64_t> widths = widths_of(*product);
            key.insert(key.end(), widths.begin(), widths.end());
        }
        return key;
    }

    // Each piece of sharded nonzeros comes with row starts, which are soon most of it.
    int most_splits() const {
        constexpr int most_with_row_starts = 256;
        const int most = gnnplan::most_splits(schedule_.grid);
        return row_starts_ > 0 ? std::min(most, most_with_row_starts) : most;
    }

    // Bytes of the largest piece of any rank, with its nonzeros; any number above `enough` if it is larger than that.
    std::int64_t piece_bytes(int splits, std::int64_t enough) {
        for (const TensorId id : ids_) storage_of(id).splits = splits;
        std::int64_t largest = 0;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            for (const SpmmStep* product : products_) {
                const SpmmBuffers buffers = spmm_buffers(schedule_, *product, graph_, ranks_[i]);
                largest = std::max(largest, buffers.dense + buffers.nonzeros);
            }
            if (largest <= enough) continue;
            std::swap(ranks_[0], ranks_[i]);  // which is asked first the next time
            break;
        }
        return largest;
    }

    // Statistics expect the same of ranks of equal sizes, but for rounding.
    void find_ranks() {
        if (by_size_ || !graph_.exact()) {
            ranks_ = rank_classes(schedule_).representative;
            return;
        }
        for (int rank = 0; rank < schedule_.grid.size(); ++rank) ranks_.push_back(rank);
    }

    // The smallest number of splits for which no piece takes more than `enough`; if there is none, the largest number
    // that is allowed, whose pieces take more.
    KnownCuts::Cut smallest(int least, int most, std::int64_t enough) {
        find_ranks();
        // Row starts come with each piece, and the splits share the rest, so the largest share is no less than the
        // mean.
        const std::int64_t room = enough - row_starts_;
        if (room <= 0) return {most, piece_bytes(most, any)};
        const std::int64_t begin = parts(piece_bytes(1, any), room);
        const int first = static_cast<int>(std::clamp<std::int64_t>(begin, least, most));
        const bool ordered = by_size_ || !graph_.exact();
        const int found = ordered ? first_by_halves(first, most, enough) : first_of_all(first, most, enough);
        return {found, piece_bytes(found, any)};
    }

    // How many times `room` a piece takes at least, without its row starts and what it is aligned by.
    std::int64_t parts(std::int64_t piece, std::int64_t room) const {
        return (piece - row_starts_ - 3 * arena_alignment) / room;
    }

    // Where more splits never make the largest piece larger.
    int first_by_halves(int first, int most, std::int64_t enough) {
        int above = first;
        for (int step = 1; above < most && piece_bytes(above, enough) > enough; step *= 2) {
            first = above + 1;
            above = std::min(most, above + step);
        }
        while (first < above) {
            const int middle = first + (above - first) / 2;
            if (piece_bytes(middle, enough) <= enough) {
                above = middle;
            } else {
                first = middle + 1;
            }
        }
        return above;
    }

    // Where rows are counted, more splits may make the largest piece larger: it may lie across two that were smaller.
    int first_of_all(int first, int most, std::int64_t enough) {
        constexpr int many = 32;
        int splits = first;
        for (int tried = 1; splits < most; ++tried) {
            const std::int64_t piece = piece_bytes(splits, enough);
            if (piece <= enough) return splits;
            if (tried == many && piece_bytes(most, enough) > enough) return most;
            splits = std::max(splits + 1, hopeless_below(splits, parts(piece, enough - row_starts_)));
        }
        return most;
    }

    // Where a piece is `times` too large, other cuts that would leave a part of it too large as well are passed over: m
    // times as many pieces, of at least 16 rows, have fewer than 1.1 m + 2.1 that lie in this one, or partly.
    int hopeless_below(int splits, std::int64_t times) const {
        constexpr std::int64_t rows = 16;
        return static_cast<int>(std::min(splits * (times / 2 - 1), longest_ / (rows + 1)));
    }

    Schedule& schedule_;
    const GraphStats& graph_;
    std::vector<TensorId> ids_;
    std::vector<const SpmmStep*> products_;  // the widest
    std::vector<int> ranks_;
    bool by_size_ = false;         // whether sizes alone say how large pieces are
    std::int64_t longest_ = 0;     // block of the dense operand
    std::int64_t row_starts_ = 0;  // of every piece whose nonzeros are sent
    bool whole_ = false;           // whether values of edges are gathered, in whole blocks
};

}  // namespace

std::int64_t bound_buffers(Schedule& schedule, const GraphStats& graph, std::int64_t bytes, KnownCuts& known) {
    std::int64_t needed = 0;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        if (tensor.role != Role::adjacency || tensor.structure) continue;
        if (!gathers_rows(schedule.grid, tensor) && !gathers_matrix(schedule.grid, tensor)) continue;
        needed = std::max(needed, Bounding(schedule, graph, static_cast<TensorId>(id)).bound(bytes, known));
    }
    return needed;
}

}  // namespace gnnplan::lower
