// Where the feature matrix comes from: read in rows, never held as a whole.
#pragma once

#include <gnnplan/base/range.hpp>

#include <cstdint>
#include <functional>

namespace gnnplan::data {

class FeatureSource {
public:
    // visit(row, values): the wanted columns of one row; the pointer holds for the call only.
    using Visit = std::function<void(std::int64_t row, const float* values)>;
    // Whether a row is visited at all; null: every one.
    using Wanted = std::function<bool(std::int64_t row)>;

    virtual ~FeatureSource() = default;
    virtual std::int64_t columns() const = 0;
    // Whether rows are found without those before them, so that threads gain by visiting some each.
    virtual bool divisible() const { return false; }
    // Calls visit for each wanted row of `rows`, ascending. Values are finite. Safe to call from several threads.
    virtual void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted = nullptr) const = 0;
};

}  // namespace gnnplan::data
