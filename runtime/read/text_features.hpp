// Features in text.
#pragma once

#include "runtime/graph/features.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace gnnplan::data {

// A file with a line of numbers for each vertex, in their order.
std::unique_ptr<FeatureSource> open_text_features(const std::filesystem::path& file, std::int64_t vertices);

// The files of a folder, whatever their names, but for those that begin with . or _, as Spark names those that hold no
// data. Each line is the id of a vertex and its numbers; lines come in any order, and a vertex has one. A first line of
// a file that does not begin with a digit is a header. Files may be gzipped.
std::unique_ptr<FeatureSource> open_text_features_by_id(const std::filesystem::path& folder, std::int64_t vertices);

}  // namespace gnnplan::data
