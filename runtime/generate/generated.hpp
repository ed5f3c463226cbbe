// Features, labels and splits for graphs that come without them: functions of the seed and the position alone, so that
// every process generates the same.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/graph/label_bits.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gnnplan::data {

// Uniform in [-1, 1).
std::unique_ptr<FeatureSource> generate_features(std::uint64_t seed, std::int64_t columns);

// The class of a vertex is the arg max of a fixed random linear map of its features: a task that can be learnt.
std::vector<std::int32_t> generate_labels(std::uint64_t seed, const FeatureSource& features, std::int64_t vertices,
                                          std::int64_t classes);

// The same of each label: a vertex has those of which the map is positive.
LabelBits generate_label_bits(std::uint64_t seed, const FeatureSource& features, std::int64_t vertices,
                              std::int64_t classes);

// Subset per vertex: each labelled one trains with probability 0.6, validates with 0.2, tests with 0.2; at least one
// trains.
std::vector<std::uint8_t> generate_split(std::uint64_t seed, std::int64_t vertices,
                                         const std::function<bool(std::int64_t v)>& labelled);
std::vector<std::uint8_t> generate_split(std::uint64_t seed, const std::vector<std::int32_t>& labels);

}  // namespace gnnplan::data
