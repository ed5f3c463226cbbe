#include "runtime/read/text_features.hpp"

#include "runtime/read/foreign_binary.hpp"
#include "runtime/read/text_rows.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace fs = std::filesystem;
namespace {

std::string place(const TextReader& reader) { return reader.name() + ":" + std::to_string(reader.line_number()); }

class TextFeatures final : public FeatureSource, public FeatureFiles {
public:
    TextFeatures(fs::path path, std::vector<TextFile> files, const RowForm& form)
        : path_(std::move(path)), files_(std::move(files)), form_(form) {}

    std::int64_t columns() const override { return form_.columns; }
    const FeatureFiles* files() const override { return this; }
    bool text() const override { return true; }

    int most_readers() const override {
        const auto plain = [](const TextFile& file) { return file.bytes.value_or(0) > 0; };
        return std::ranges::any_of(files_, plain) ? 0 : static_cast<int>(files_.size());
    }

    void visit_rows(Range rows, Range columns, const Visit& visit, const Wanted& wanted) const override {
        TextRows all(form_, lines_of({}), 0);
        std::vector<float> row(static_cast<std::size_t>(form_.columns));
        std::vector<bool> seen(static_cast<std::size_t>(form_.vertices));
        // Where lines are in order, those behind the last row need not be looked at.
        const bool to_end = form_.by_id || rows.end == form_.vertices;
        for (std::int64_t v = -1; to_end || v + 1 < rows.end;) {
            v = all.next();
            if (v < 0) break;
            if (seen[static_cast<std::size_t>(v)]) refuse_twice(v);
            seen[static_cast<std::size_t>(v)] = true;
            if (v < rows.begin || v >= rows.end || (wanted && !wanted(v))) continue;
            all.read(row);
            visit(v, row.data() + columns.begin);
        }
        const auto end = seen.begin() + (to_end ? form_.vertices : rows.end);
        const auto missing = std::find(seen.begin(), end, false);
        if (missing != end) refuse_missing(missing - seen.begin(), std::count(missing, end, false));
    }

    std::int64_t count_rows(const FileShare& share) const override {
        if (form_.by_id || !files_.front().bytes) return 0;
        std::int64_t rows = 0;
        for (const Lines& lines : lines_of(share)) {
            TextReader reader = open_lines(lines, form_);
            for (std::string_view line; reader.next_line(line);) ++rows;
        }
        return rows;
    }

    std::unique_ptr<FeatureRows> rows_of(const FileShare& share, std::int64_t first) const override {
        std::vector<Lines> lines = lines_of(share);
        return lines.empty() ? nullptr : std::make_unique<TextRows>(form_, std::move(lines), first);
    }

    [[noreturn]] void refuse_missing(std::int64_t vertex, std::int64_t missing) const override {
        if (!form_.by_id) {
            throw Error(
                ErrorCode::data,
                "the file ends after " + std::to_string(vertex) + " of " + std::to_string(form_.vertices) + " rows",
                path_.string());
        }
        throw Error(ErrorCode::data,
                    "no line has the features of vertex " + std::to_string(vertex) +
                        (missing > 1 ? ", nor of " + std::to_string(missing - 1) + " others" : "") + ": each of " +
                        std::to_string(form_.vertices) + " vertices needs one",
                    path_.string(), "add lines of zeros for vertices without features, or the file that is missing");
    }

    [[noreturn]] void refuse_twice(std::int64_t vertex) const override {
        TextRows all(form_, lines_of({}), 0);
        std::string first;
        for (std::int64_t v = all.next(); v >= 0; v = all.next()) {
            if (v == vertex && !first.empty())
                all.reader().fail("a second line for vertex " + std::to_string(vertex) + "; its first is " + first,
                                  "keep one of them: a vertex has one line");
            if (v == vertex) first = place(all.reader());
        }
        throw Error(ErrorCode::data, "changed while it was read", path_.string());
    }

private:
    // Shares divide the bytes of all files that can be read from their middle, in their order, and take turns with the
    // others.
    std::vector<Lines> lines_of(const FileShare& share) const {
        std::int64_t all = 0;
        for (const TextFile& file : files_) all += file.bytes.value_or(0);
        const Range mine = share.range(all);
        std::vector<Lines> lines;
        std::int64_t begin = 0, compressed = 0;
        for (const TextFile& file : files_) {
            if (!file.bytes) {
                if (share.has_turn(compressed++)) lines.push_back({&file, {0, 0}});
                continue;
            }
            const Range some{std::max(mine.begin - begin, std::int64_t{0}), std::min(mine.end - begin, *file.bytes)};
            begin += *file.bytes;
            if (!some.empty()) lines.push_back({&file, some});
        }
        return lines;
    }

    fs::path path_;
    std::vector<TextFile> files_;
    RowForm form_;
};

// How many numbers the first line that is no header has, behind the id of its vertex; none in an empty file.
std::optional<std::int64_t> count_columns(const TextFile& file, RowForm& form) {
    TextReader reader = open_lines({&file, {0, file.bytes.value_or(0)}}, form);
    std::string_view line;
    if (!reader.next_line(line)) return std::nullopt;
    Fields fields(reader, line);
    if (form.by_id) fields.index(form.vertices, "vertex id");
    std::int64_t columns = 0;
    for (; !fields.at_end(); ++columns) fields.number("feature");
    fields.finish();
    if (columns == 0) reader.fail(form.by_id ? "no features behind the id of the vertex" : "the line is empty");
    form.first = form.by_id ? place(reader) : "line " + std::to_string(reader.line_number());
    return columns;
}

TextFile text_file(const fs::path& path) { return {path, open_input(path)->size()}; }

void refuse_binary(const fs::path& path) {
    Source source{path};
    source.head.resize(512);
    source.head.resize(open_input(path)->read(source.head));
    const ForeignBinary foreign = foreign_binary(source);
    if (foreign.what != nullptr) throw Error(ErrorCode::data, foreign.what, path.string(), foreign.hint);
}

}  // namespace

std::unique_ptr<FeatureSource> open_text_features(const fs::path& file, std::int64_t vertices) {
    RowForm form{false, vertices};
    std::vector<TextFile> files{text_file(file)};
    const std::optional<std::int64_t> columns = count_columns(files.front(), form);
    if (!columns) throw Error(ErrorCode::data, "the file is empty", file.string());
    form.columns = *columns;
    return std::make_unique<TextFeatures>(file, std::move(files), form);
}

std::unique_ptr<FeatureSource> open_text_features_by_id(const fs::path& folder, std::int64_t vertices) {
    std::vector<fs::path> paths;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file(failed) && name.front() != '.' && name.front() != '_') paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    if (!paths.empty()) refuse_binary(paths.front());
    RowForm form{true, vertices};
    std::vector<TextFile> files;
    for (const fs::path& path : paths) {
        files.push_back(text_file(path));
        if (form.columns == 0) form.columns = count_columns(files.back(), form).value_or(0);
    }
    if (form.columns == 0)
        throw Error(ErrorCode::data, "no file in this folder has a line of features", folder.string(),
                    "each line is the id of a vertex and its features, such as 7,0.5,-1");
    return std::make_unique<TextFeatures>(folder, std::move(files), form);
}

}  // namespace gnnplan::data
