#include "runtime/read/ogb.hpp"
#include "runtime/read/text_reader.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

class CsvFeatures final : public FeatureSource {
public:
    CsvFeatures(fs::path path, std::int64_t vertices, std::int64_t columns)
        : path_(std::move(path)), vertices_(vertices), columns_(columns) {}

    std::int64_t columns() const override { return columns_; }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        TextReader reader(open_input(path_));
        std::vector<float> row(static_cast<std::size_t>(columns_));
        std::string_view line;
        for (std::int64_t v = 0; v < rows.end; ++v) {
            if (!reader.next_line(line)) {
                reader.fail("the file ends after " + std::to_string(v) + " of " + std::to_string(vertices_) + " rows");
            }
            if (v < rows.begin || (wanted && !wanted(v))) continue;
            parse_row(reader, line, row);
            visit(v, row.data() + columns.begin);
        }
        if (rows.end == vertices_ && reader.next_line(line)) {
            reader.fail("more rows than the " + std::to_string(vertices_) + " vertices");
        }
    }

private:
    static void parse_row(const TextReader& reader, std::string_view line, std::vector<float>& row) {
        Fields fields(reader, line);
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (fields.at_end()) {
                reader.fail(std::to_string(row.size()) + " features expected, as in line 1, found " +
                            std::to_string(j));
            }
            row[j] = static_cast<float>(fields.number("feature"));
            if (!std::isfinite(row[j]))
                reader.fail("feature " + std::to_string(j) + " is not finite (or beyond float32)");
        }
        if (!fields.at_end()) reader.fail("more than the " + std::to_string(row.size()) + " features of line 1");
        fields.finish();
    }

    fs::path path_;
    std::int64_t vertices_;
    std::int64_t columns_;
};

}  // namespace

std::unique_ptr<FeatureSource> open_ogb_features(const fs::path& folder, std::int64_t vertices) {
    const fs::path path = find_csv(folder / "raw", "node-feat.csv");
    if (path.empty()) return nullptr;
    TextReader reader(open_input(path));
    std::string_view line;
    if (!reader.next_line(line)) reader.fail("the file is empty");
    Fields fields(reader, line);
    std::int64_t columns = 0;
    while (!fields.at_end()) {
        fields.number("feature");
        ++columns;
    }
    fields.finish();
    if (columns == 0) reader.fail("the line is empty");
    return std::make_unique<CsvFeatures>(path, vertices, columns);
}

}  // namespace gnnplan::data
