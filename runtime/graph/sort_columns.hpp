// Sorting the columns of a row, most of whose time is spent on rows of some ten to some hundred entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::data {

class ColumnSorter {
public:
    // Columns are below `columns`.
    explicit ColumnSorter(std::int64_t columns);

    // Ascending.
    void sort(std::span<std::int32_t> row);

private:
    int bits_;  // of the largest column
    std::vector<std::int32_t> other_;
};

}  // namespace gnnplan::data
