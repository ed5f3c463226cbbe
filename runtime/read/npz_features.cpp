#include "runtime/read/integer_stream.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_names.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gnnplan::data {
namespace {

class NpzRows final : public FeatureRows {
public:
    // Rows from `first` to before `end`, which are of the vertices that `ids` has; without ids, of those of these
    // numbers.
    NpzRows(NpyReader reader, std::optional<IntegerStream> ids, std::int64_t first, std::int64_t end)
        : reader_(std::move(reader)),
          ids_(std::move(ids)),
          columns_(reader_.header().shape[1]),
          next_(first),
          end_(end),
          unread_(first) {}

    std::int64_t next() override {
        if (next_ < end_) {
            ++unread_;
            vertex_ = ids_ ? ids_->next_vertex(reader_.header().shape[0]) : next_;
            ++next_;
            return vertex_;
        }
        reader_.skip(std::exchange(unread_, 0) * columns_);
        if (end_ == reader_.header().shape[0]) reader_.finish();
        if (ids_) ids_->reader().finish();
        return -1;
    }

    void read(std::span<float> values) override {
        reader_.skip((std::exchange(unread_, 0) - 1) * columns_);
        reader_.read_floats(values);
        const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
        if (bad != values.end()) {
            reader_.fail("feature " + std::to_string(bad - values.begin()) + " of vertex " + std::to_string(vertex_) +
                         " is not finite (or beyond float32)");
        }
    }

private:
    NpyReader reader_;
    std::optional<IntegerStream> ids_;
    std::int64_t columns_;
    std::int64_t next_;
    std::int64_t end_;
    std::int64_t unread_;  // rows before the next one that is read; many of them are not even looked at
    std::int64_t vertex_ = -1;
};

class NpzFeatures final : public FeatureSource, public FeatureFiles {
public:
    // `ids`: the array of the vertices of rows; "": they are in order.
    NpzFeatures(std::filesystem::path path, std::string array, std::string ids, const NpyReader& reader)
        : path_(std::move(path)),
          array_(std::move(array)),
          id_array_(std::move(ids)),
          rows_(reader.header().shape[0]),
          columns_(reader.header().shape[1]),
          in_place_(reader.seekable()) {}

    std::int64_t columns() const override { return columns_; }
    const FeatureFiles* files() const override { return in_place_ ? nullptr : this; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        // Rows with ids may be of any vertex.
        NpzRows some = id_array_.empty() ? rows_between(rows) : rows_between({0, rows_});
        std::vector<bool> seen(static_cast<std::size_t>(id_array_.empty() ? 0 : rows_));
        std::vector<float> row(static_cast<std::size_t>(columns_));
        for (std::int64_t v = some.next(); v >= 0; v = some.next()) {
            if (!seen.empty()) {
                if (seen[static_cast<std::size_t>(v)]) refuse_twice(v);
                seen[static_cast<std::size_t>(v)] = true;
            }
            if (v < rows.begin || v >= rows.end || (wanted && !wanted(v))) continue;
            some.read(row);
            visit(v, row.data() + columns.begin);
        }
    }

    // One reads all of what is compressed. That there are as many rows as vertices is known from the header.
    int most_readers() const override { return 1; }
    bool text() const override { return false; }
    std::int64_t count_rows(const FileShare&) const override { return 0; }
    std::unique_ptr<FeatureRows> rows_of(const FileShare& share, std::int64_t) const override {
        return share.first() ? std::make_unique<NpzRows>(rows_between({0, rows_})) : nullptr;
    }
    [[noreturn]] void refuse_missing(std::int64_t, std::int64_t) const override { changed(); }
    // There are as many rows as vertices, so one is missing then, too.
    [[noreturn]] void refuse_twice(std::int64_t vertex) const override {
        IntegerStream ids = open_ids();
        std::int64_t first = -1;
        for (std::int64_t row = 0; row < rows_; ++row) {
            if (ids.next_vertex(rows_) != vertex) continue;
            if (first >= 0)
                ids.reader().fail("vertex " + std::to_string(vertex) + " has rows " + std::to_string(first) + " and " +
                                      std::to_string(row) + " (counted from 0)",
                                  "each vertex has one");
            first = row;
        }
        changed();
    }

private:
    IntegerStream open_ids() const { return IntegerStream(open_arrays(path_)->open(id_array_)); }
    NpzRows rows_between(Range rows) const {
        NpyReader reader = open_arrays(path_)->open(array_);
        if (reader.header().shape != std::vector<std::int64_t>{rows_, columns_}) changed();
        std::optional<IntegerStream> ids;
        if (!id_array_.empty()) ids = open_ids();
        return {std::move(reader), std::move(ids), rows.begin, rows.end};
    }
    [[noreturn]] void changed() const {
        throw Error(ErrorCode::data, "changed while it was read", path_.string() + ":" + array_);
    }

    std::filesystem::path path_;
    std::string array_, id_array_;
    std::int64_t rows_, columns_;
    bool in_place_;
};

// The array of the vertices of rows, checked but for its numbers; "" where there is none.
std::string find_ids(const ArrayArchive& archive, std::int64_t vertices) {
    std::string ids = feature_ids_array(archive);
    if (ids.empty()) return ids;
    const NpyReader reader = archive.open(ids);
    reader.expect_dimensions(1);
    if (!reader.header().is_integer()) reader.fail("integers expected, found " + reader.header().describe());
    if (reader.header().count() != vertices) {
        reader.fail(std::to_string(reader.header().count()) + " ids of rows, but there are features for " +
                    std::to_string(vertices) + " vertices");
    }
    return ids;
}

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
    return std::make_unique<NpzFeatures>(path, array, find_ids(*archive, vertices), reader);
}

}  // namespace gnnplan::data
