#include "runtime/read/integer_stream.hpp"
#include "runtime/read/npz_dataset.hpp"
#include "runtime/read/npz_names.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::data {
namespace {

// Whether an array has one dimension, or a second one of size 1.
bool is_column(const NpyHeader& header) {
    return header.shape.size() == 1 || (header.shape.size() == 2 && header.shape[1] == 1);
}

// The column of masks [N, K], which have a split in each, that --split names.
class MaskColumn {
public:
    MaskColumn(std::string split, std::string where) : split_(std::move(split)), where_(std::move(where)) {}

    std::int64_t of(const NpyReader& mask, std::int64_t columns) {
        if (columns == 1) return 0;
        if (columns == 0) mask.fail("has no columns");
        asked_ = true;
        const std::string choice = "choose one with `split 0 .. " + std::to_string(columns - 1) + "`";
        if (split_.empty()) {
            throw Error(ErrorCode::usage, "several splits, one in each column: found " + mask.header().describe(),
                        mask.name(), choice);
        }
        const auto column = number_from<std::int64_t>(split_);
        if (!column || *column < 0 || *column >= columns)
            throw Error(ErrorCode::missing_input, "no split '" + split_ + "'", mask.name(), choice);
        return *column;
    }

    // To be called after all masks are read: refuses a split name that no mask has used.
    void finish() const {
        if (!asked_) refuse_split(split_, where_);
    }

private:
    std::string split_;
    std::string where_;
    bool asked_ = false;
};

void read_mask(NpyReader mask, std::int64_t vertices, MaskColumn& chosen, std::uint8_t subset,
               Supervision& supervision) {
    const NpyHeader header = mask.header();
    const bool of_vertices = (header.shape.size() == 1 || header.shape.size() == 2) && header.shape[0] == vertices;
    const bool columns_first = header.shape.size() == 2 && header.shape[1] == vertices;
    if (!of_vertices || (header.kind != 'b' && !header.is_integer())) {
        mask.fail("bool [" + std::to_string(vertices) + "] expected, found " + header.describe(),
                  of_vertices     ? "convert it with .astype(bool)"
                  : columns_first ? "save its transpose (.T): a row for each vertex, a column for each split"
                                  : "");
    }
    mask.expect_dimensions(header.shape.size());  // and not in Fortran order
    const std::int64_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
    const std::int64_t column = chosen.of(mask, columns);
    IntegerStream stream(std::move(mask));
    const Fail fail = [&](const std::string& what, const std::string& hint) { stream.reader().fail(what, hint); };
    for (std::int64_t v = 0; v < vertices; ++v) {
        for (std::int64_t j = 0; j < columns; ++j) {
            const std::int64_t value = stream.next();
            if (value != 0 && value != 1)
                fail("holds " + std::to_string(value) + " for vertex " + std::to_string(v) + ": a mask is of 0 and 1",
                     {});
            if (value == 1 && j == column) supervision.assign(v, subset, vertices, fail);
        }
    }
    stream.reader().finish();
}

void read_ids(NpyReader ids, std::int64_t vertices, std::uint8_t subset, Supervision& supervision) {
    if (!is_column(ids.header())) ids.expect_dimensions(1);
    IntegerStream stream(std::move(ids));
    const std::int64_t count = stream.reader().header().count();
    const Fail fail = [&](const std::string& what, const std::string& hint) { stream.reader().fail(what, hint); };
    for (std::int64_t i = 0; i < count; ++i) supervision.assign(stream.next(), subset, vertices, fail);
    stream.reader().finish();
}

}  // namespace

void read_npz_labels(const ArrayArchive& archive, std::int64_t vertices, Supervision& supervision) {
    const std::string array = labels_array(archive);
    if (array.empty()) return;
    NpyReader reader = archive.open(array);
    const NpyHeader& header = reader.header();
    const bool several = header.shape.size() == 2 && header.shape[1] > 1;
    if (!is_column(header) && !several) {
        reader.fail("one class per vertex, [N] or [N, 1], or several labels, [N, C], expected, found " +
                    header.describe());
    }
    if (header.shape[0] != vertices)
        reader.fail(std::to_string(vertices) + " labels expected, found " + header.describe());
    if (several) reader.expect_dimensions(2);  // and not in Fortran order
    const std::int64_t columns = several ? header.shape[1] : 1;
    if (!several) supervision.label.reserve(static_cast<std::size_t>(vertices));
    std::vector<double> block;
    for (std::int64_t v = 0; v < vertices;) {
        const std::int64_t rows = std::min<std::int64_t>(vertices - v, std::max<std::int64_t>(1, 8192 / columns));
        block.resize(static_cast<std::size_t>(rows * columns));
        reader.read_doubles(block);
        for (std::int64_t i = 0; i < rows; ++i, ++v) {
            const auto own = std::span<const double>(block).subspan(static_cast<std::size_t>(i * columns),
                                                                    static_cast<std::size_t>(columns));
            supervision.add_labels(own, [&](const std::string& what, const std::string& hint) {
                reader.fail("vertex " + std::to_string(v) + ": " + what, hint);
            });
        }
    }
    reader.finish();
}

Supervision read_npz_supervision(const std::filesystem::path& path, const std::string& split, std::int64_t vertices) {
    return read_npz_supervision(*open_arrays(path), split, vertices);
}

Supervision read_npz_supervision(const ArrayArchive& archive, const std::string& split, std::int64_t vertices) {
    Supervision supervision;
    read_npz_labels(archive, vertices, supervision);
    MaskColumn column(split, archive.name());
    for (std::uint8_t s = 0; s < 3; ++s) {
        const auto array = split_array(archive, s);
        if (!array) continue;
        NpyReader reader = archive.open(array->name);
        if (array->mask || reader.header().kind == 'b') {
            read_mask(std::move(reader), vertices, column, s, supervision);
        } else {
            read_ids(std::move(reader), vertices, s, supervision);
        }
    }
    column.finish();
    return supervision;
}

}  // namespace gnnplan::data
