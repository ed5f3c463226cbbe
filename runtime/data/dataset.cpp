#include "runtime/data/dataset.hpp"

#include "runtime/generate/generated.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/read/readers.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::data {
namespace {

// Sizes beyond these are slips of a finger, and would take all memory.
constexpr std::int64_t largest_width = std::int64_t{1} << 24;

void check_options(const DatasetOptions& options) {
    const auto check = [](std::int64_t width, const char* what) {
        if (width < 0 || width > largest_width) {
            throw Error(ErrorCode::usage,
                        std::to_string(width) + " " + what + " to generate: between 0 and 2^24 are possible");
        }
    };
    check(options.generate_features, "features");
    check(options.generate_classes, "classes");
}

Graph prepare(ParsedGraph parsed, const Preparation& preparation, LoadReport& report) {
    PreparationCounts counts;
    Graph graph;
    try {
        graph = build_graph(std::move(parsed.edges), parsed.vertices, preparation, counts);
    } catch (const Error& error) {
        throw Error(error.code(), error.what(), report.path);
    }
    report.directed = counts.directed;
    report.symmetrised = preparation.symmetrise && counts.directed;
    report.self_loops_added = preparation.add_self_loops;
    report.self_loops_dropped = counts.self_loops_dropped;
    report.duplicates_dropped = counts.duplicates_dropped;
    report.nonzeros = graph.nonzeros();
    if (counts.one_way && !preparation.symmetrise) {
        report.hints.emplace_back("no edge comes with its reverse; --symmetrise if undirected");
    }
    return graph;
}

// Features of the file, or generated ones; null when there are neither.
std::unique_ptr<FeatureSource> choose_features(std::unique_ptr<FeatureSource> own, const DatasetOptions& options,
                                               LoadReport& report) {
    const std::int64_t asked = options.generate_features;
    if (own != nullptr && asked > 0 && asked != own->columns()) {
        throw Error(ErrorCode::usage,
                    std::to_string(asked) + " features asked for, but the data has " + std::to_string(own->columns()) +
                        " of its own",
                    report.path);
    }
    if (own != nullptr || asked == 0) return own;
    report.features_generated = true;
    report.notes.push_back("No features in the data: " + std::to_string(asked) +
                           " generated, uniform in [-1, 1), from seed " + std::to_string(options.seed) + ".");
    return generate_features(options.seed, asked);
}

void complete_supervision(Supervision& supervision, const FeatureSource* features, const DatasetOptions& options,
                          LoadReport& report) {
    const std::string from_seed = " from seed " + std::to_string(options.seed) + ".";
    if (supervision.label.empty() && options.generate_classes > 0) {
        if (features == nullptr) {
            throw Error(ErrorCode::usage, "labels are generated from features, and there are none", report.path,
                        "ask for generated features as well");
        }
        supervision.label = generate_labels(options.seed, *features, report.vertices, options.generate_classes);
        report.labels_generated = true;
        report.notes.push_back("No labels in the data: " + std::to_string(options.generate_classes) +
                               " classes generated, a random linear map of the features," + from_seed);
    }
    if (supervision.subset.empty() && !supervision.label.empty()) {
        supervision.subset = generate_split(options.seed, supervision.label);
        report.notes.push_back("No split in the data: 60/20/20 at random" + from_seed);
    }
}

}  // namespace

Dataset open_dataset(const std::filesystem::path& path, const DatasetOptions& options) {
    check_options(options);
    const Reader& reader = find_reader(path);
    ParsedGraph parsed = read_graph(reader, path, options.index_base);

    Dataset dataset;
    LoadReport& report = dataset.report_;
    report.path = path.string();
    report.format = parsed.format;
    report.index_base = parsed.index_base;
    report.vertices = parsed.vertices;
    report.edges_read = parsed.edges_read;
    report.edge_values_ignored = parsed.edge_values_ignored;
    report.hints = std::move(parsed.hints);
    dataset.graph_ = prepare(std::move(parsed), options.preparation, report);
    dataset.fingerprint_ = fingerprint(dataset.graph_);
    if (options.check_graph) options.check_graph(dataset);
    if (options.graph_only) return dataset;

    dataset.feature_norm_ = options.feature_norm;
    dataset.features_ = choose_features(open_features(reader, path, report.vertices), options, report);
    Supervision supervision = read_supervision(reader, path, options.split, report.vertices);
    complete_supervision(supervision, dataset.features_.get(), options, report);
    if (!supervision.label.empty())
        dataset.classes_ = check_classes(supervision, options.generate_classes, report.path);
    for (const std::uint8_t s : supervision.subset) {
        if (s < 3) ++dataset.subset_size_[s];
    }
    dataset.labels_ = std::move(supervision.label);
    dataset.subset_ = std::move(supervision.subset);
    return dataset;
}

void Dataset::read_features(Range rows, Range columns, float* out, std::int64_t stride,
                            const VertexOrder* order) const {
    ensure(rows.begin >= 0 && rows.end <= vertices() && columns.begin >= 0 && columns.end <= features(),
           "features in range");
    if (rows.empty() || columns.empty()) return;
    if (order != nullptr && order->identity()) order = nullptr;
    if (cache_.empty()) return stream_features(rows, columns, out, stride, order);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t v = order != nullptr ? order->vertex[static_cast<std::size_t>(i)] : i;
        const float* row = cache_.data() + v * features() + columns.begin;
        std::copy_n(row, columns.size(), out + (i - rows.begin) * stride);
    }
}

// With an order, all rows of the file pass by and the wanted ones are taken.
void Dataset::stream_features(Range rows, Range columns, float* out, std::int64_t stride,
                              const VertexOrder* order) const {
    const bool normalise = feature_norm_ == FeatureNorm::row;
    // The sum of a row needs all of it, whichever columns are wanted.
    const Range read = normalise ? Range{0, features()} : columns;
    const auto position = [&](std::int64_t v) -> std::int64_t {
        return order != nullptr ? order->position[static_cast<std::size_t>(v)] : v;
    };
    const auto copy = [&](std::int64_t v, const float* values) {
        double sum = 0;
        if (normalise) {
            for (std::int64_t j = 0; j < read.size(); ++j) sum += std::abs(static_cast<double>(values[j]));
        }
        const double exact = sum > 0 ? 1.0 / sum : 1.0;
        const auto scale = static_cast<float>(exact);
        const float* wanted = values + (columns.begin - read.begin);
        float* target = out + (position(v) - rows.begin) * stride;
        if (std::isinf(scale)) {  // all of the row are tiny
            for (std::int64_t j = 0; j < columns.size(); ++j) target[j] = static_cast<float>(wanted[j] * exact);
        } else {
            for (std::int64_t j = 0; j < columns.size(); ++j) target[j] = wanted[j] * scale;
        }
    };
    if (order == nullptr) return features_->visit_rows(rows, read, copy);
    const auto taken = [&](std::int64_t v) { return position(v) >= rows.begin && position(v) < rows.end; };
    features_->visit_rows({0, vertices()}, read, copy, taken);
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

Fingerprints fingerprints_of(const Dataset& dataset) {
    Fingerprints of;
    of.graph = dataset.fingerprint();
    if (dataset.features() > 0 && !dataset.report().features_generated) {
        of.features = feature_fingerprint(dataset.feature_hash({0, dataset.vertices()}));
    }
    if (!dataset.labels().empty()) of.labels = fingerprint(dataset.labels());
    if (!dataset.subset().empty()) of.split = fingerprint(dataset.subset());
    return of;
}

void check_training_set(const Dataset& dataset) {
    if (dataset.subset_size(train) > 0) return;
    throw Error(ErrorCode::data, "the split has no training vertices", dataset.report().path,
                "a loss needs at least one");
}

}  // namespace gnnplan::data
