#include "runtime/generate/generated.hpp"

#include "runtime/graph/streams.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <span>

namespace gnnplan::data {
namespace {

// 24 of the bits as a float in [-1, 1).
float symmetric_unit(std::uint32_t bits) { return static_cast<float>(bits >> 8U) * 0x1p-23F - 1.0F; }

// Element (i, j) of a matrix of a stream: two neighbouring columns share one draw.
float element(std::uint64_t draw_bits, std::int64_t column) {
    return symmetric_unit(static_cast<std::uint32_t>(column % 2 == 0 ? draw_bits : draw_bits >> 32U));
}

void fill_row(const kernels::RandomStream& stream, std::int64_t row, Range columns, float* out) {
    for (std::int64_t j = columns.begin; j < columns.end;) {
        const auto [bits, unused] = stream.at(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(j / 2));
        *out++ = element(bits, j++);
        if (j % 2 == 1 && j < columns.end) *out++ = element(bits, j++);
    }
}

class GeneratedFeatures final : public FeatureSource {
public:
    GeneratedFeatures(std::uint64_t seed, std::int64_t columns) : stream_(seed, feature_stream), columns_(columns) {}

    std::int64_t columns() const override { return columns_; }
    bool divisible() const override { return true; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        std::vector<float> row(static_cast<std::size_t>(columns.size()));
        for (std::int64_t v = rows.begin; v < rows.end; ++v) {
            if (wanted && !wanted(v)) continue;
            fill_row(stream_, v, columns, row.data());
            visit(v, row.data());
        }
    }

private:
    kernels::RandomStream stream_;
    std::int64_t columns_;
};

}  // namespace

std::unique_ptr<FeatureSource> generate_features(std::uint64_t seed, std::int64_t columns) {
    return std::make_unique<GeneratedFeatures>(seed, columns);
}

namespace {

// Calls take(v, scores) with a fixed random linear map of each vertex's features.
void visit_scores(std::uint64_t seed, const FeatureSource& features, std::int64_t vertices, std::int64_t classes,
                  const std::function<void(std::int64_t v, std::span<const float> scores)>& take) {
    const std::int64_t width = features.columns();
    const auto c = static_cast<std::size_t>(classes);
    std::vector<float> projection(static_cast<std::size_t>(width) * c);
    const kernels::RandomStream stream(seed, projection_stream);
    for (std::int64_t j = 0; j < width; ++j) {
        fill_row(stream, j, {0, classes}, projection.data() + static_cast<std::size_t>(j) * c);
    }
    std::vector<float> score(c);
    features.visit_rows({0, vertices}, {0, width}, [&](std::int64_t v, const float* row) {
        std::fill(score.begin(), score.end(), 0.0F);
        for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) {
            if (row[j] == 0.0F) continue;
            for (std::size_t k = 0; k < c; ++k) score[k] += row[j] * projection[j * c + k];
        }
        take(v, score);
    });
}

}  // namespace

std::vector<std::int32_t> generate_labels(std::uint64_t seed, const FeatureSource& features, std::int64_t vertices,
                                          std::int64_t classes) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(vertices));
    visit_scores(seed, features, vertices, classes, [&](std::int64_t v, std::span<const float> scores) {
        labels[static_cast<std::size_t>(v)] =
            static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
    });
    return labels;
}

LabelBits generate_label_bits(std::uint64_t seed, const FeatureSource& features, std::int64_t vertices,
                              std::int64_t classes) {
    LabelBits bits{vertices, classes};
    bits.value.resize(static_cast<std::size_t>((checked_multiply(vertices, classes) + 7) / 8));
    visit_scores(seed, features, vertices, classes, [&](std::int64_t v, std::span<const float> scores) {
        for (std::int64_t j = 0; j < classes; ++j) {
            const std::int64_t at = v * classes + j;
            const bool has = scores[static_cast<std::size_t>(j)] > 0;
            if (has) bits.value[static_cast<std::size_t>(at / 8)] |= static_cast<std::uint8_t>(1U << (at % 8));
        }
    });
    return bits;
}

std::vector<std::uint8_t> generate_split(std::uint64_t seed, std::int64_t vertices,
                                         const std::function<bool(std::int64_t v)>& labelled) {
    std::vector<std::uint8_t> subset(static_cast<std::size_t>(vertices), 255);
    for (std::int64_t v = 0; v < vertices; ++v) {
        if (!labelled(v)) continue;
        const double u = draw_unit(seed, split_stream, v, 0);
        subset[static_cast<std::size_t>(v)] = u < 0.6 ? 0 : u < 0.8 ? 1 : 2;
    }
    if (std::find(subset.begin(), subset.end(), 0) == subset.end()) {
        const auto first = std::find_if(subset.begin(), subset.end(), [](std::uint8_t s) { return s != 255; });
        if (first != subset.end()) *first = 0;
    }
    return subset;
}

std::vector<std::uint8_t> generate_split(std::uint64_t seed, const std::vector<std::int32_t>& labels) {
    return generate_split(seed, std::ssize(labels),
                          [&](std::int64_t v) { return labels[static_cast<std::size_t>(v)] >= 0; });
}

}  // namespace gnnplan::data
