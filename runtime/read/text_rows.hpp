// The rows of features that lines of text have.
#pragma once

#include "runtime/graph/features.hpp"
#include "runtime/read/text_reader.hpp"

#include <gnnplan/base/range.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::data {

struct TextFile {
    std::filesystem::path path;
    std::optional<std::int64_t> bytes;  // none: it is compressed, and cannot be read from its middle
};

// Some lines of a file: those that begin within `bytes`, where the file can be read from its middle.
struct Lines {
    const TextFile* file = nullptr;
    Range bytes;
};

struct RowForm {
    bool by_id = false;  // lines begin with the id of their vertex; else they are in the order of the vertices
    std::int64_t vertices = 0;
    std::int64_t columns = 0;
    std::string first = {};  // where the line is that says how many columns there are
};

// A reader that goes on with the first of these lines that is no header; files without ids have none.
TextReader open_lines(const Lines& lines, const RowForm& form);

class TextRows final : public FeatureRows {
public:
    // `first`: the vertex of the first line, where lines are in order. `form` outlives the object.
    TextRows(const RowForm& form, std::vector<Lines> lines, std::int64_t first);

    std::int64_t next() override;
    void read(std::span<float> values) override;
    const TextReader& reader() const { return *reader_; }  // at the line of the row

private:
    const RowForm& form_;
    std::vector<Lines> lines_;
    std::size_t at_ = 0;  // of the lines that are opened next
    std::int64_t next_;
    std::optional<TextReader> reader_;
    std::optional<Fields> fields_;  // of the line, behind the id
};

}  // namespace gnnplan::data
