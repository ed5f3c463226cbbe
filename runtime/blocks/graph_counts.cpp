#include "runtime/blocks/graph_counts.hpp"

#include "runtime/blocks/block.hpp"
#include "runtime/blocks/count_cache.hpp"
#include "runtime/blocks/row_tally.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace gnnplan::data {

// Where matrices have their nonzeros, whatever the numbering; each is looked through once.
class GraphCounts::Matrices {
public:
    const OffDiagonal& off_diagonal(const Graph& graph, MatrixId which) {
        const std::lock_guard lock(mutex_);
        const auto known = known_.find(which);
        return known != known_.end() ? known->second : known_.try_emplace(which, graph.matrix(which)).first->second;
    }

private:
    std::mutex mutex_;
    std::map<MatrixId, OffDiagonal> known_;
};

// Clones, and what is counted of their graphs.
struct GraphCounts::Groups {
    Clones clones;
    GraphCounts counts;
    std::shared_ptr<const sample::Pool> pool;  // of batches; null: clones are of a cut
    Groups(Clones made, const std::vector<std::uint8_t>& subset, std::shared_ptr<const sample::Pool> from = nullptr)
        : clones(std::move(made)), counts(clones.graph, clones.subsets(subset)), pool(std::move(from)) {}
};

// Drawing and counting a pool takes about as many looks at the graph as it covers it, so each is made once.
class GraphCounts::Pools {
public:
    std::shared_ptr<const sample::Pool> find(const Graph& graph, const std::vector<std::uint8_t>& subset,
                                             const Sampling& sampling) {
        const std::lock_guard lock(mutex_);
        for (const auto& [known, pool] : known_) {
            if (known == sampling) return pool;
        }
        const auto pool = std::make_shared<sample::Pool>(graph, subset, sampling);
        pool->draw();
        pool->refuse_idle();
        return known_.emplace_back(sampling, pool).second;
    }
    void add(std::shared_ptr<const sample::Pool> pool) { known_.emplace_back(pool->sampling(), std::move(pool)); }

private:
    std::mutex mutex_;
    std::vector<std::pair<Sampling, std::shared_ptr<const sample::Pool>>> known_;
};

class GraphCounts::Kept {
public:
    template <class Make>
    std::shared_ptr<const GraphStats> find(const Numbering& numbering, Make make) {
        constexpr std::size_t most = 4;  // permuted or not, with rows of the loss first or not
        const std::lock_guard lock(mutex_);
        for (const auto& [known, counts] : kept_) {
            if (known == numbering) return counts;
        }
        if (kept_.size() == most) kept_.pop_front();
        kept_.emplace_back(numbering, make());
        return kept_.back().second;
    }

private:
    std::mutex mutex_;
    std::deque<std::pair<Numbering, std::shared_ptr<const GraphStats>>> kept_;
};

GraphCounts::GraphCounts(const Graph& graph, std::vector<std::uint8_t> subset, std::shared_ptr<const sample::Pool> pool)
    : graph_(graph),
      subset_(std::make_shared<const std::vector<std::uint8_t>>(std::move(subset))),
      matrices_(std::make_shared<Matrices>()),
      training_vertices_(loss_row_counts(graph, *subset_, 0).front()),
      order_(std::make_shared<const VertexOrder>()),
      cache_(std::make_shared<Cache>(graph, *order_)),
      pools_(std::make_shared<Pools>()) {
    if (pool != nullptr) pools_->add(std::move(pool));
}

GraphCounts::GraphCounts(const GraphCounts& other, const Numbering& numbering)
    : graph_(other.graph_),
      subset_(other.subset_),
      matrices_(other.matrices_),
      training_vertices_(other.training_vertices_),
      numbering_(numbering),
      order_(std::make_shared<const VertexOrder>(make_order(graph_, *subset_, numbering))),
      cache_(std::make_shared<Cache>(graph_, *order_)),
      pools_(other.pools_) {
    if (numbering.clones != CloneLoss::none)
        groups_ = std::make_shared<const Groups>(clones_of(graph_, numbering), *subset_);
    if (!numbering.batches) return;
    const auto pool = pools_->find(graph_, *subset_, numbering.batches->sampling);
    groups_ =
        std::make_shared<const Groups>(pool->largest(numbering.batches->per_update, numbering.parts), *subset_, pool);
}

const sample::Pool* GraphCounts::pool() const { return groups_ != nullptr ? groups_->pool.get() : nullptr; }

std::shared_ptr<const NumberedCounts> GraphCounts::with_clones(Clones&& clones) const {
    ensure(pool() != nullptr, "batches are of a pool");
    auto counts = std::make_shared<GraphCounts>(*this);
    counts->groups_ = std::make_shared<const Groups>(std::move(clones), *subset_, groups_->pool);
    return counts;
}

const Clones* GraphCounts::clones() const { return groups_ != nullptr ? &groups_->clones : nullptr; }

const NumberedCounts& GraphCounts::of_groups() const {
    if (groups_ == nullptr) return *this;
    return groups_->counts;
}

std::vector<std::int64_t> GraphCounts::groups() const {
    return groups_ != nullptr ? groups_->clones.first : std::vector<std::int64_t>{};
}

void GraphCounts::keep_numbered() { kept_ = std::make_shared<Kept>(); }

// One matrix serves both directions of a symmetric graph. Here the graph is that of all groups.
MatrixId GraphCounts::stored(MatrixId which) const {
    if (!which.is_part()) which.part = MatrixId::all_parts;
    if (which.sample == 0) which.transposed = which.transposed && !graph_.symmetric;
    return which;
}

// Returns those of the rows whose diagonal elements are in the matrix, where its diagonal is full: of a part, the rows
// that it owns.
Range GraphCounts::diagonal_of(MatrixId which, Range rows) const {
    if (!which.is_part()) return rows;
    return intersect(rows, balanced_block({0, vertices()}, which.part, numbering_.parts));
}

std::shared_ptr<const ColumnProfile> GraphCounts::profile(MatrixId which, Range rows) const {
    which = stored(which);
    return cache_->find(which, rows, [&](ColumnTally& counted) { return tally(which, rows, counted); });
}

// Adds the columns of rows, and returns those that hold one more.
Range GraphCounts::tally(MatrixId which, Range rows, ColumnTally& tally) const {
    if (which.sample != MatrixId::any_sample) {
        const OffDiagonal& off = matrices_->off_diagonal(graph_, part_of(which, MatrixId::all_parts));
        tally_rows(graph_, which, off, rows, *order_, tally);
        return off.full_diagonal ? diagonal_of(which, rows) : Range{};
    }
    for (int layer = 1; layer <= samples(); ++layer)
        tally_rows(graph_, MatrixId(which.transposed, layer), {}, rows, *order_, tally);
    return {};
}

std::vector<std::int64_t> GraphCounts::columns_by_next(MatrixId which, const std::vector<Range>& rows,
                                                       Range columns) const {
    if (rows.size() > ColumnUsers::most_ranges) return GraphStats::columns_by_next(which, rows, columns);
    which = stored(which);
    return cache_->find_next(which, rows, columns,
                             [&](Range of, ColumnTally& counted) { return tally(which, of, counted); });
}

std::int64_t GraphCounts::row_nonzeros(MatrixId which, Range rows) const {
    if (asks_clones(which)) return groups_->counts.row_nonzeros(which, rows);
    if (rows.empty()) return 0;
    const Range all{0, vertices()};
    // All rows have the same nonzeros in every order.
    const bool whole = !which.is_part();
    if (whole && (order_->identity() || rows == all)) return data::block_nonzeros(graph_, which, rows, all);
    return profile(which, rows)->nonzeros();
}

std::int64_t GraphCounts::block_nonzeros(MatrixId which, Range rows, Range columns) const {
    if (asks_clones(which)) return groups_->counts.block_nonzeros(which, rows, columns);
    if (rows.empty() || columns.empty()) return 0;
    if (columns == Range{0, vertices()}) return row_nonzeros(which, rows);
    return profile(which, rows)->nonzeros(columns);
}

std::int64_t GraphCounts::columns_met(bool transposed, Range rows, Range columns) const {
    return distinct_columns(MatrixId(transposed, samples() > 0 ? MatrixId::any_sample : 0), rows, columns);
}

std::int64_t GraphCounts::distinct_columns(MatrixId which, Range rows, Range columns) const {
    if (asks_clones(which)) return groups_->counts.distinct_columns(which, rows, columns);
    if (rows.empty() || columns.empty()) return 0;
    return profile(which, rows)->distinct(columns);
}

std::vector<std::int64_t> GraphCounts::block_nonzeros_of(MatrixId which, Range rows,
                                                         const std::vector<Range>& columns) const {
    if (asks_clones(which)) return groups_->counts.block_nonzeros_of(which, rows, columns);
    if (rows.empty()) return std::vector<std::int64_t>(columns.size(), 0);
    return profile(which, rows)->nonzeros(columns);
}

std::vector<std::int64_t> GraphCounts::distinct_columns_of(MatrixId which, Range rows,
                                                           const std::vector<Range>& columns) const {
    if (asks_clones(which)) return groups_->counts.distinct_columns_of(which, rows, columns);
    if (rows.empty()) return std::vector<std::int64_t>(columns.size(), 0);
    return profile(which, rows)->distinct(columns);
}

ReuseHistogram GraphCounts::reuse(MatrixId which, Range rows, Range columns, std::int64_t panel_columns) const {
    if (asks_clones(which)) return groups_->counts.reuse(which, rows, columns, panel_columns);
    which = stored(which);
    return cache_->find_reuse(which, rows, columns, panel_columns,
                              [&](ReuseScan& scan) { return scan.of(which, rows, columns, panel_columns); });
}

std::vector<std::int64_t> GraphCounts::loss_rows(int layers) const { return loss_row_counts(graph_, *subset_, layers); }

std::shared_ptr<const GraphStats> GraphCounts::numbered(const Numbering& numbering) const {
    if (numbering == numbering_) return std::make_shared<GraphCounts>(*this);
    const auto make = [&] { return std::shared_ptr<const GraphStats>(new GraphCounts(*this, numbering)); };
    return kept_ != nullptr ? kept_->find(numbering, make) : make();
}

}  // namespace gnnplan::data
