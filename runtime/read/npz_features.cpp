#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_names.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnnplan::data {
namespace {

class NpzRows final : public FeatureRows {
public:
    // Those from `first` to before `end`.
    NpzRows(NpyReader reader, std::int64_t first, std::int64_t end)
        : reader_(std::move(reader)), columns_(reader_.header().shape[1]), next_(first), end_(end), unread_(first) {}

    std::int64_t next() override {
        if (next_ < end_) {
            ++unread_;
            return next_++;
        }
        reader_.skip(std::exchange(unread_, 0) * columns_);
        if (end_ == reader_.header().shape[0]) reader_.finish();
        return -1;
    }

    void read(std::span<float> values) override {
        reader_.skip((std::exchange(unread_, 0) - 1) * columns_);
        reader_.read_floats(values);
        const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
        if (bad != values.end()) {
            reader_.fail("feature " + std::to_string(bad - values.begin()) + " of vertex " + std::to_string(next_ - 1) +
                         " is not finite (or beyond float32)");
        }
    }

private:
    NpyReader reader_;
    std::int64_t columns_;
    std::int64_t next_;
    std::int64_t end_;
    std::int64_t unread_;  // rows before the next one that is read; many of them are not even looked at
};

class NpzFeatures final : public FeatureSource, public FeatureFiles {
public:
    NpzFeatures(std::filesystem::path path, std::string array, const NpyReader& reader)
        : path_(std::move(path)),
          array_(std::move(array)),
          columns_(reader.header().shape[1]),
          in_place_(reader.seekable()) {}

    std::int64_t columns() const override { return columns_; }
    const FeatureFiles* files() const override { return in_place_ ? nullptr : this; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        NpzRows some(open(), rows.begin, rows.end);
        std::vector<float> row(static_cast<std::size_t>(columns_));
        for (std::int64_t v = some.next(); v >= 0; v = some.next()) {
            if (wanted && !wanted(v)) continue;
            some.read(row);
            visit(v, row.data() + columns.begin);
        }
    }

    // One reads all of what is compressed. That there are as many rows as vertices is known from the header.
    int most_readers() const override { return 1; }
    bool text() const override { return false; }
    std::int64_t count_rows(const FileShare&) const override { return 0; }
    std::unique_ptr<FeatureRows> rows_of(const FileShare& share, std::int64_t) const override {
        if (!share.first()) return nullptr;
        NpyReader reader = open();
        const std::int64_t rows = reader.header().shape[0];
        return std::make_unique<NpzRows>(std::move(reader), 0, rows);
    }
    [[noreturn]] void refuse_missing(std::int64_t, std::int64_t) const override { changed(); }
    [[noreturn]] void refuse_twice(std::int64_t) const override { changed(); }

private:
    NpyReader open() const {
        NpyReader reader = open_arrays(path_)->open(array_);
        if (reader.header().shape.size() != 2 || reader.header().shape[1] != columns_) changed();
        return reader;
    }
    [[noreturn]] void changed() const {
        throw Error(ErrorCode::data, "changed while it was read", path_.string() + ":" + array_);
    }

    std::filesystem::path path_;
    std::string array_;
    std::int64_t columns_;
    bool in_place_;
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
    return std::make_unique<NpzFeatures>(path, array, reader);
}

}  // namespace gnnplan::data
