#include "runtime/data/origin.hpp"
#include "runtime/graph/subset.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

namespace gnnplan::data {
namespace {

class ArrayFeatures final : public FeatureSource {
public:
    ArrayFeatures(std::vector<float> owned, std::span<const float> borrowed, std::int64_t columns)
        : owned_(std::move(owned)),
          values_(owned_.empty() ? borrowed : std::span<const float>(owned_)),
          columns_(columns) {}
    ArrayFeatures(const ArrayFeatures&) = delete;
    ArrayFeatures& operator=(const ArrayFeatures&) = delete;

    std::int64_t columns() const override { return columns_; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        for (std::int64_t v = rows.begin; v < rows.end; ++v) {
            if (!wanted || wanted(v)) visit(v, values_.data() + v * columns_ + columns.begin);
        }
    }

private:
    std::vector<float> owned_;
    std::span<const float> values_;
    std::int64_t columns_;
};

void require(bool condition, const std::string& what, const std::string& where) {
    if (!condition) throw Error(ErrorCode::data, what, where);
}

void check_edges(const Arrays& arrays) {
    arrays.edges.for_each([&](Edge edge, float weight) {
        require(
            std::isfinite(weight),
            "the weight of the edge " + std::to_string(edge.from) + " -> " + std::to_string(edge.to) + " is not finite",
            arrays.name);
        for (const std::int32_t id : {edge.from, edge.to}) {
            require(id >= 0 && id < arrays.vertices,
                    "vertex id " + std::to_string(id) + " is out of range: the graph has " +
                        std::to_string(arrays.vertices) + " vertices",
                    arrays.name);
        }
    });
}

// An array of one entry for each of `count` things, or an empty one.
void check_length(std::size_t length, std::int64_t count, const char* what, const std::string& where) {
    require(length == 0 || static_cast<std::int64_t>(length) == count,
            std::to_string(count) + " " + what + " expected, found " + std::to_string(length), where);
}

void check_features(const Arrays& arrays) {
    require(arrays.feature.empty() || arrays.borrowed.empty(), "features are owned or borrowed, not both", arrays.name);
    const std::span<const float> values =
        arrays.feature.empty() ? arrays.borrowed : std::span<const float>(arrays.feature);
    require(arrays.features >= 0 && (arrays.features > 0 || values.empty()), "the features have no number of columns",
            arrays.name);
    const std::int64_t expected = checked_multiply(arrays.vertices, arrays.features);
    require(std::ssize(values) == expected,
            std::to_string(expected) + " features expected, found " + std::to_string(values.size()), arrays.name);
    const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
    if (bad == values.end()) return;
    const std::int64_t at = bad - values.begin();
    throw Error(ErrorCode::data,
                "feature " + std::to_string(at % arrays.features) + " of vertex " +
                    std::to_string(at / arrays.features) + " is not finite",
                arrays.name);
}

void check_supervision(const Arrays& arrays) {
    check_length(arrays.label.size(), arrays.vertices, "labels", arrays.name);
    check_length(arrays.subset.size(), arrays.vertices, "entries of the split", arrays.name);
    const LabelBits& bits = arrays.bits;
    require(bits.empty() || arrays.label.empty(), "vertices have a class or several labels, not both", arrays.name);
    require(bits.empty() || (bits.columns > 1 && bits.vertices == arrays.vertices),
            "several labels are two or more for each vertex", arrays.name);
    const auto bytes = bits.empty() ? 0 : (checked_multiply(bits.vertices, bits.columns) + 7) / 8;
    check_length(bits.value.size(), bytes, "bytes of labels", arrays.name);
    check_length(bits.known.size(), bytes, "bytes of known labels", arrays.name);
    for (const std::int32_t label : arrays.label)
        require(label >= -1, "label " + std::to_string(label) + " is negative", arrays.name);
    for (const std::uint8_t subset : arrays.subset)
        require(subset <= Subset::test || subset == Subset::unused, "no subset " + std::to_string(subset), arrays.name);
}

}  // namespace

Origin origin_of(Arrays arrays, bool edge_weights) {
    require(arrays.vertices >= 0 && arrays.vertices <= largest_vertices,
            "the number of vertices must be in [0, 2^31 - 1]", arrays.name);
    check_edges(arrays);
    check_features(arrays);
    check_supervision(arrays);
    Origin origin;
    origin.where = arrays.name;
    origin.graph.format = "arrays";
    origin.graph.vertices = arrays.vertices;
    origin.graph.edges_read = arrays.edges.size();
    if (arrays.edges.weighted() && !edge_weights) origin.graph.edge_values_ignored = arrays.edges.size();
    origin.graph.edges = std::move(arrays.edges);
    origin.open_features = [owned = std::move(arrays.feature), borrowed = arrays.borrowed,
                            columns = arrays.features](std::int64_t) mutable -> std::unique_ptr<FeatureSource> {
        return columns > 0 ? std::make_unique<ArrayFeatures>(std::move(owned), borrowed, columns) : nullptr;
    };
    origin.read_supervision =
        [supervision = Supervision{std::move(arrays.label), std::move(arrays.subset), std::move(arrays.bits)},
         where = arrays.name](const std::string& split, std::int64_t) mutable {
            refuse_split(split, where);
            return std::move(supervision);
        };
    return origin;
}

}  // namespace gnnplan::data
