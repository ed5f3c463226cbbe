#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_names.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::data {
namespace {

class NpzFeatures final : public FeatureSource {
public:
    NpzFeatures(std::filesystem::path path, std::string array, std::int64_t columns)
        : path_(std::move(path)), array_(std::move(array)), columns_(columns) {}

    std::int64_t columns() const override { return columns_; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        NpyReader reader = open_arrays(path_)->open(array_);
        if (reader.header().shape.size() != 2 || reader.header().shape[1] != columns_)
            reader.fail("changed while it was read");
        std::int64_t unread = rows.begin;  // rows before the next one; many of them are not even read
        std::vector<float> row(static_cast<std::size_t>(columns_));
        for (std::int64_t v = rows.begin; v < rows.end; ++v) {
            if (wanted && !wanted(v)) {
                ++unread;
                continue;
            }
            reader.skip(std::exchange(unread, 0) * columns_);
            reader.read_floats(row);
            const auto bad = std::find_if(row.begin(), row.end(), [](float value) { return !std::isfinite(value); });
            if (bad != row.end()) {
                reader.fail("feature " + std::to_string(bad - row.begin()) + " of vertex " + std::to_string(v) +
                            " is not finite (or beyond float32)");
            }
            visit(v, row.data() + columns.begin);
        }
        reader.skip(unread * columns_);
        if (rows.end == reader.header().shape[0]) reader.finish();
    }

private:
    std::filesystem::path path_;
    std::string array_;
    std::int64_t columns_;
};

}  // namespace

std::unique_ptr<FeatureSource> open_npz_features(const std::filesystem::path& path, std::int64_t vertices) {
    const std::unique_ptr<ArrayArchive> archive = open_arrays(path);
    const std::string array = features_array(*archive);
    if (array.empty()) return nullptr;
    NpyReader reader = archive->open(array);
    reader.expect_dimensions(2);
    const NpyHeader& header = reader.header();
    if (!header.is_float())
        reader.fail("float16, bfloat16, float32 or float64 expected, found " + header.describe(),
                    "convert it with .astype(np.float32)");
    if (header.shape[0] != vertices) {
        reader.fail("the graph has " + std::to_string(vertices) + " vertices, but there are features for " +
                    std::to_string(header.shape[0]));
    }
    if (header.shape[1] == 0) reader.fail("has no columns");
    return std::make_unique<NpzFeatures>(path, array, header.shape[1]);
}

}  // namespace gnnplan::data
