// Where the feature matrix comes from: read in rows, never held as a whole.
#pragma once

#include "runtime/graph/file_share.hpp"

#include <gnnplan/base/range.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace gnnplan::data {

// Rows of features, one after the other as they lie in files.
class FeatureRows {
public:
    virtual ~FeatureRows() = default;
    // Goes to the next row. Returns its vertex; -1: there are no more.
    virtual std::int64_t next() = 0;
    // All columns of that row, which are finite. Called once for a row at most.
    virtual void read(std::span<float> values) = 0;
};

// Files in which a row is not found without reading those before it. Ranks read a share of them each, and the shares
// have all rows between them. Safe to use from several threads.
class FeatureFiles {
public:
    virtual ~FeatureFiles() = default;
    // So many ranks can read a share at most; 0: any number.
    virtual int most_readers() const = 0;
    // Whether rows are numbers in words.
    virtual bool text() const = 0;
    // Reads a share, and returns how many rows it has, where their vertices follow from that; else 0, unread.
    virtual std::int64_t count_rows(const FileShare& share) const = 0;
    // The rows of a share; null where it has none. `first`: how many rows all earlier shares have, as count_rows()
    // counts them.
    virtual std::unique_ptr<FeatureRows> rows_of(const FileShare& share, std::int64_t first) const = 0;
    // Throws ErrorCode::data: `missing` vertices have no row, this one and later ones.
    [[noreturn]] virtual void refuse_missing(std::int64_t vertex, std::int64_t missing) const = 0;
    // Throws ErrorCode::data: a vertex has two rows.
    [[noreturn]] virtual void refuse_twice(std::int64_t vertex) const = 0;
};

class FeatureSource {
public:
    // visit(row, values): the wanted columns of one row; the pointer holds for the call only.
    using Visit = std::function<void(std::int64_t row, const float* values)>;
    // Whether a row is visited at all; null: every one.
    using Wanted = std::function<bool(std::int64_t row)>;

    virtual ~FeatureSource() = default;
    virtual std::int64_t columns() const = 0;
    // Whether threads gain by visiting some rows each.
    virtual bool divisible() const { return false; }
    // Null where rows are found in place, without reading those before them.
    virtual const FeatureFiles* files() const { return nullptr; }
    // Calls visit once for each wanted row of `rows`, in the order in which they lie. Values are finite. Safe to call
    // from several threads.
    virtual void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted = nullptr) const = 0;
};

}  // namespace gnnplan::data
