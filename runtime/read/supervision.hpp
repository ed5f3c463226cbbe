// Labels and split, checked value by value while they are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gnnplan::data {

// Where a value came from, to be thrown at: file and line, or array and position.
using Fail = std::function<void(const std::string& what, const std::string& hint)>;

struct Supervision {
    std::vector<std::int32_t> label;   // per vertex, -1 unlabelled; empty: no labels
    std::vector<std::uint8_t> subset;  // per vertex, Subset of runtime/graph/subset.hpp; empty: no split

    // Appends a label: nan is unlabelled, otherwise an integer in [0, 2^31).
    void add_label(double value, const Fail& fail);
    // Puts a vertex into subset 0, 1 or 2. Each vertex is in one at most.
    void assign(std::int64_t vertex, std::uint8_t subset_of_vertex, std::int64_t vertices, const Fail& fail);
};

// Throws ErrorCode::usage when a split is named: for forms that have none by name.
void refuse_split(const std::string& split, const std::filesystem::path& path);

// Number of classes: the largest label + 1, or `declared` when that is not 0. Throws ErrorCode::data at `where` when a
// training vertex has no label, when a label does not fit the declared number, or when labels leave such gaps that they
// cannot be class indices.
std::int64_t check_classes(const Supervision& supervision, std::int64_t declared, const std::string& where);

// Returns a remark on classes below the largest label that no vertex has; "" where there are none.
std::string unused_classes(const Supervision& supervision);

}  // namespace gnnplan::data
