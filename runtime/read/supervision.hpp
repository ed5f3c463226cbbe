// Labels and split, checked value by value while they are read.
#pragma once

#include "runtime/graph/label_bits.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

// Where a value came from, to be thrown at: file and line, or array and position.
using Fail = std::function<void(const std::string& what, const std::string& hint)>;

struct Supervision {
    std::vector<std::int32_t> label;   // per vertex, -1 unlabelled; empty: no labels, or several for a vertex
    std::vector<std::uint8_t> subset;  // per vertex, Subset of runtime/graph/subset.hpp; empty: no split
    LabelBits bits = {};               // of vertices with several labels

    // The next vertex's: one number is its class, nan where it is unlabelled and else an integer in [0, 2^31); several
    // are its labels, each 0, 1 or nan. All vertices have as many.
    void add_labels(std::span<const double> values, const Fail& fail);
    bool has_labels() const { return !label.empty() || !bits.empty(); }
    // Whether a vertex has a label that is known.
    bool is_labelled(std::int64_t vertex) const;
    // Puts a vertex into subset 0, 1 or 2. Each vertex is in one at most.
    void assign(std::int64_t vertex, std::uint8_t subset_of_vertex, std::int64_t vertices, const Fail& fail);
    // That have labels.
    std::int64_t vertices() const { return bits.empty() ? std::ssize(label) : bits.vertices; }
};

// Throws ErrorCode::usage when a split is named: for forms that have none by name.
void refuse_split(const std::string& split, const std::filesystem::path& path);

// Number of classes: that of a vertex's labels, or the largest label + 1, or `declared` when that is not 0. Throws
// ErrorCode::data at `where` when none has a label, when a label does not fit the declared number, or when labels leave
// such gaps that they cannot be class indices.
std::int64_t check_classes(const Supervision& supervision, std::int64_t declared, const std::string& where);
// Throws Error{data} where a vertex of the train set has no class, or none of these a label that is known.
void check_train_set(const Supervision& supervision, const std::string& where);

// Returns a remark on classes below the largest label, or labels, that no vertex has, and on labels that might be
// classes; "" where there are none.
std::string doubtful_classes(const Supervision& supervision);

}  // namespace gnnplan::data
