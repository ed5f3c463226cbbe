// The cache keeps what GraphCounts has counted in one numbering.
#pragma once

#include "runtime/blocks/column_profile.hpp"
#include "runtime/blocks/column_users.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/blocks/reuse.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace gnnplan::data {

class GraphCounts::Cache {
public:
    // Both outlive the object.
    Cache(const Graph& graph, const VertexOrder& order)
        : scan_(graph, &order),
          most_bytes_(std::max(least_bytes, bytes_per_nonzero * graph.nonzeros())),
          tally_(graph.vertices()) {}

    // `walk` adds the columns of the rows' nonzeros to a tally, and returns those that hold one besides.
    template <class Walk>
    std::shared_ptr<const ColumnProfile> find(MatrixId which, Range rows, Walk walk) {
        const std::lock_guard lock(mutex_);
        const Key key{which, rows.begin, rows.end};
        if (last_ != nullptr && last_key_ == key) return last_;
        std::shared_ptr<const ColumnProfile>& slot = profiles_[key];
        last_key_ = key;
        if (slot != nullptr) return last_ = slot;
        tally_.clear();
        const Range ones = walk(tally_);
        last_ = slot = std::make_shared<const ColumnProfile>(tally_, ones, most_bytes_ / few_share);
        bytes_ += last_->bytes();
        if (bytes_ > most_bytes_) {
            profiles_.clear();
            bytes_ = 0;
        }
        return last_;
    }

    // `walk` adds the columns of some of the rows, likewise.
    template <class Walk>
    std::vector<std::int64_t> find_next(MatrixId which, const std::vector<Range>& rows, Range columns, Walk walk) {
        const std::lock_guard lock(mutex_);
        std::vector<std::int64_t> key{which.transposed ? 1 : 0, which.sample, which.part};
        for (const Range& range : rows) key.insert(key.end(), {range.begin, range.end});
        const auto [entry, is_new] = users_.try_emplace(std::move(key), rows.size());
        ColumnUsers& users = entry->second;
        for (std::size_t i = 0; is_new && i < rows.size(); ++i) {
            tally_.clear();
            const Range ones = walk(rows[i], tally_);
            users.add(i, tally_, ones);
        }
        if (is_new) users.finish(), users_bytes_ += users.bytes();
        std::vector<std::int64_t> found = users.by_next(columns);
        if (users_bytes_ > most_bytes_) users_.clear(), users_bytes_ = 0;
        return found;
    }

    template <class Make>
    ReuseHistogram find_reuse(MatrixId which, Range rows, Range columns, std::int64_t panel_columns, Make make) {
        const std::lock_guard lock(mutex_);
        const std::array<std::int64_t, 7> key = {2 * which.sample + (which.transposed ? 1 : 0),
                                                 which.part,
                                                 rows.begin,
                                                 rows.end,
                                                 columns.begin,
                                                 columns.end,
                                                 panel_columns};
        const auto known = reuses_.find(key);
        return known != reuses_.end() ? known->second : reuses_.emplace(key, make(scan_)).first->second;
    }

private:
    // Several times the bytes of both directions of the matrix, and enough that small graphs keep every answer.
    static constexpr std::int64_t bytes_per_nonzero = 24;
    static constexpr std::int64_t least_bytes = std::int64_t{64} << 20;
    static constexpr std::int64_t few_share = 64;  // a profile of a 64th of it is small

    std::mutex mutex_;
    std::map<std::array<std::int64_t, 7>, ReuseHistogram> reuses_;  // of a few hundred bytes each
    ReuseScan scan_;
    using Key = std::tuple<MatrixId, std::int64_t, std::int64_t>;
    std::map<Key, std::shared_ptr<const ColumnProfile>> profiles_;
    Key last_key_{false, 0, 0};  // the last question, which is mostly the next one, too
    std::shared_ptr<const ColumnProfile> last_;
    std::map<std::vector<std::int64_t>, ColumnUsers> users_;  // by the matrix and the ranges of rows
    std::int64_t most_bytes_;
    std::int64_t bytes_ = 0, users_bytes_ = 0;
    ColumnTally tally_;
};

}  // namespace gnnplan::data
