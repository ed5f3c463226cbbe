#include "runtime/blocks/graph_counts.hpp"

#include "runtime/blocks/block.hpp"
#include "runtime/blocks/reuse.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace gnnplan::data {

// The columns that hold something in a range of rows.
struct GraphCounts::RowProfile {
    std::vector<std::int32_t> column;  // ascending
    std::vector<std::int64_t> before;  // nonzeros before each of them, and all in the end

    explicit RowProfile(const std::vector<std::int32_t>& nonzeros_of_column) {
        const auto empty = std::count(nonzeros_of_column.begin(), nonzeros_of_column.end(), 0);
        column.reserve(nonzeros_of_column.size() - static_cast<std::size_t>(empty));
        before.reserve(column.capacity() + 1);
        before.push_back(0);
        for (std::size_t c = 0; c < nonzeros_of_column.size(); ++c) {
            if (nonzeros_of_column[c] == 0) continue;
            column.push_back(static_cast<std::int32_t>(c));
            before.push_back(before.back() + nonzeros_of_column[c]);
        }
    }

    // Indices into `column` of those within a range.
    std::pair<std::size_t, std::size_t> within(Range columns) const {
        const auto low = std::lower_bound(column.begin(), column.end(), columns.begin);
        const auto high = std::lower_bound(low, column.end(), columns.end);
        return {static_cast<std::size_t>(low - column.begin()), static_cast<std::size_t>(high - column.begin())};
    }
};

class GraphCounts::Cache {
public:
    explicit Cache(std::int64_t entries) : most_entries_(static_cast<std::size_t>(entries)) {}

    template <class Make>
    std::shared_ptr<const RowProfile> find(MatrixId which, Range rows, Make make) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<const RowProfile>& slot = profiles_[{which, rows.begin, rows.end}];
        if (slot != nullptr) return slot;
        auto made = std::make_shared<const RowProfile>(make());
        slot = made;
        entries_ += made->column.size();
        if (entries_ > most_entries_) {
            profiles_.clear();
            entries_ = 0;
        }
        return made;
    }

    template <class Make>
    ReuseHistogram find_reuse(MatrixId which, Range rows, Range columns, std::int64_t panel_columns, Make make) {
        const std::lock_guard lock(mutex_);
        const std::array<std::int64_t, 6> key = {2 * which.sample + (which.transposed ? 1 : 0),
                                                 rows.begin,
                                                 rows.end,
                                                 columns.begin,
                                                 columns.end,
                                                 panel_columns};
        const auto known = reuses_.find(key);
        return known != reuses_.end() ? known->second : reuses_.emplace(key, make()).first->second;
    }

private:
    std::mutex mutex_;
    std::map<std::array<std::int64_t, 6>, ReuseHistogram> reuses_;  // of a few hundred bytes each
    std::map<std::tuple<MatrixId, std::int64_t, std::int64_t>, std::shared_ptr<const RowProfile>> profiles_;
    std::size_t most_entries_;
    std::size_t entries_ = 0;
};

// The profiles of both directions, cut into rows once, fit: 12 bytes for each of at most 2 nnz entries.
GraphCounts::GraphCounts(const Graph& graph, std::shared_ptr<const std::vector<std::uint8_t>> subset,
                         const Numbering& numbering)
    : graph_(graph),
      subset_(std::move(subset)),
      training_vertices_(loss_row_counts(graph, *subset_, 0).front()),
      numbering_(numbering),
      order_(std::make_shared<const VertexOrder>(make_order(graph, *subset_, numbering))),
      cache_(std::make_shared<Cache>(2 * graph.nonzeros())) {}

GraphCounts::GraphCounts(const Graph& graph, std::vector<std::uint8_t> subset)
    : GraphCounts(graph, std::make_shared<const std::vector<std::uint8_t>>(std::move(subset)), {}) {}

// One matrix serves both directions of a symmetric graph.
MatrixId GraphCounts::stored(MatrixId which) const {
    if (which.sample == 0) which.transposed = which.transposed && !graph_.symmetric;
    return which;
}

std::shared_ptr<const GraphCounts::RowProfile> GraphCounts::profile(MatrixId which, Range rows) const {
    which = stored(which);
    return cache_->find(which, rows, [&] {
        const Range all{0, vertices()};
        if (which.sample != MatrixId::any_sample)
            return RowProfile(column_nonzeros(graph_, which, rows, all, order_.get()));
        std::vector<std::int32_t> sum(static_cast<std::size_t>(all.size()), 0);
        for (int layer = 1; layer <= samples(); ++layer) {
            const auto drawn = column_nonzeros(graph_, {which.transposed, layer}, rows, all, order_.get());
            std::transform(sum.begin(), sum.end(), drawn.begin(), sum.begin(), std::plus<>());
        }
        return RowProfile(sum);
    });
}

std::int64_t GraphCounts::row_nonzeros(MatrixId which, Range rows) const {
    if (rows.empty()) return 0;
    if (order_->identity()) return data::block_nonzeros(graph_, which, rows, {0, vertices()});
    return profile(which, rows)->before.back();
}

std::int64_t GraphCounts::block_nonzeros(MatrixId which, Range rows, Range columns) const {
    if (rows.empty() || columns.empty()) return 0;
    if (columns == Range{0, vertices()}) return row_nonzeros(which, rows);
    const auto found = profile(which, rows);
    const auto [low, high] = found->within(columns);
    return found->before[high] - found->before[low];
}

std::int64_t GraphCounts::columns_met(bool transposed, Range rows, Range columns) const {
    return distinct_columns({transposed, samples() > 0 ? MatrixId::any_sample : 0}, rows, columns);
}

std::int64_t GraphCounts::distinct_columns(MatrixId which, Range rows, Range columns) const {
    if (rows.empty() || columns.empty()) return 0;
    const auto [low, high] = profile(which, rows)->within(columns);
    return static_cast<std::int64_t>(high - low);
}

ReuseHistogram GraphCounts::reuse(MatrixId which, Range rows, Range columns, std::int64_t panel_columns) const {
    which = stored(which);
    return cache_->find_reuse(which, rows, columns, panel_columns, [&] {
        return reuse_histogram(graph_, which, rows, columns, panel_columns, order_.get());
    });
}

std::vector<std::int64_t> GraphCounts::loss_rows(int layers) const { return loss_row_counts(graph_, *subset_, layers); }

std::shared_ptr<const GraphStats> GraphCounts::numbered(const Numbering& numbering) const {
    if (numbering == numbering_) return std::make_shared<GraphCounts>(*this);
    return std::shared_ptr<const GraphStats>(new GraphCounts(graph_, subset_, numbering));
}

}  // namespace gnnplan::data
