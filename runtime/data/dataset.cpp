#include "runtime/data/dataset.hpp"

#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::data {

void Dataset::read_features(Range rows, Range columns, float* out, std::int64_t stride,
                            const VertexOrder* order) const {
    if (order != nullptr && order->identity()) order = nullptr;
    const std::int64_t all = order != nullptr ? std::ssize(order->vertex) : vertices();
    ensure(rows.begin >= 0 && rows.end <= all && columns.begin >= 0 && columns.end <= features(), "features in range");
    if (rows.empty() || columns.empty()) return;
    if (cache_.empty()) return stream_features(rows, columns, out, stride, order);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t v = order != nullptr ? order->vertex[static_cast<std::size_t>(i)] : i;
        const float* row = cache_.data() + v * features() + columns.begin;
        std::copy_n(row, columns.size(), out + (i - rows.begin) * stride);
    }
}

namespace {

// Writes some values of a row, divided by the sum of all of them.
void divide_by_sum(std::span<const float> row, std::span<const float> values, float* out) {
    double sum = 0;
    for (const float value : row) sum += std::abs(static_cast<double>(value));
    const double exact = sum > 0 ? 1.0 / sum : 1.0;
    const auto scale = static_cast<float>(exact);
    const bool tiny = std::isinf(scale);
    for (std::size_t j = 0; j < values.size(); ++j)
        out[j] = tiny ? static_cast<float>(values[j] * exact) : values[j] * scale;
}

}  // namespace

void Dataset::normalise(std::span<float> row) const {
    if (feature_norm_ == FeatureNorm::row) divide_by_sum(row, row, row.data());
}

// With an order, all rows of the file pass by and the wanted ones are taken. Among the rows of a group, clones ascend.
void Dataset::stream_features(Range rows, Range columns, float* out, std::int64_t stride,
                              const VertexOrder* order) const {
    const bool normalised = feature_norm_ == FeatureNorm::row;
    // The sum of a row needs all of it, whichever columns are wanted.
    const Range read = normalised ? Range{0, features()} : columns;
    const auto position = [&](std::int64_t v) -> std::int64_t {
        if (order == nullptr) return v;
        return order->has_clones() ? order->clone_of(v, rows) : order->position_of(v);
    };
    const auto copy = [&](std::int64_t v, const float* values) {
        const std::span all(values, static_cast<std::size_t>(read.size()));
        const auto wanted =
            all.subspan(static_cast<std::size_t>(columns.begin - read.begin), static_cast<std::size_t>(columns.size()));
        float* target = out + (position(v) - rows.begin) * stride;
        if (normalised) {
            divide_by_sum(all, wanted, target);
        } else {
            std::ranges::copy(wanted, target);
        }
    };
    FeatureSource::Wanted taken;
    if (order != nullptr) taken = [&](std::int64_t v) { return position(v) >= rows.begin && position(v) < rows.end; };
    const Range visited = order == nullptr ? rows : Range{0, vertices()};
    const std::vector<Range> parts =
        features_->divisible() ? even_parts(visited, rows.size() * read.size()) : std::vector<Range>{visited};
    for_parts(std::ssize(parts),
              [&](std::int64_t i) { features_->visit_rows(parts[static_cast<std::size_t>(i)], read, copy, taken); });
}

std::uint64_t Dataset::feature_hash(Range rows) const {
    std::uint64_t sum = 0;
    if (!features_ || rows.empty()) return sum;
    const auto width = static_cast<std::size_t>(features());
    features_->visit_rows(rows, {0, features()}, [&](std::int64_t v, const float* values) {
        sum += row_hash(v, {values, width});
    });
    return sum;
}

void Dataset::cache_features() {
    if (!features_ || !cache_.empty()) return;
    std::vector<float> all(static_cast<std::size_t>(checked_multiply(vertices(), features())));
    stream_features({0, vertices()}, {0, features()}, all.data(), features(), nullptr);
    cache_ = std::move(all);
}

void Dataset::release_features() { cache_ = {}; }

Loss Dataset::loss() const {
    if (label_bits_.empty()) return Loss::softmax;
    return label_bits_.all_known() ? Loss::sigmoid : Loss::masked_sigmoid;
}

std::string Dataset::label_fingerprint() const {
    if (!has_labels()) return {};
    return label_bits_.empty() ? data::fingerprint(labels_) : data::fingerprint(label_bits_);
}

Fingerprints fingerprints_of(const Dataset& dataset) {
    Fingerprints of;
    of.graph = dataset.fingerprint();
    if (dataset.features() > 0 && !dataset.report().features_generated) {
        of.features = feature_fingerprint(dataset.feature_hash({0, dataset.vertices()}));
    }
    of.labels = dataset.label_fingerprint();
    if (!dataset.subset().empty()) of.split = fingerprint(dataset.subset());
    return of;
}

void check_training_set(const Dataset& dataset) {
    if (dataset.subset_size(train) > 0) return;
    throw Error(ErrorCode::data, "the split has no training vertices", dataset.report().path,
                "a loss needs at least one");
}

}  // namespace gnnplan::data
