// Aligned columns and emphasis for people at a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::tools {

enum class Align : char { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
};

// Cells are UTF-8; a column is as wide as its widest cell, counted in code points.
class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // As many cells as columns. An emphasised row is bold where colour is on.
    void add(std::vector<std::string> cells, bool emphasised = false);
    // A line between rows.
    void add_title(std::string title);
    // Where a line would be longer than `width`, the last column's cell goes on below itself, broken at spaces.
    std::string text(bool color, std::size_t width = std::string::npos) const;
    std::size_t width() const;  // of the longest line of text()
    // Without the column of this title where lines are longer than `width`.
    void leave_out_if_wider(std::string_view title, std::size_t width);
    std::string html() const;  // a <table>; emphasised rows have the class "best"

private:
    struct Row {
        std::vector<std::string> cells;
        bool emphasised = false;
        bool title = false;  // a line of its own, cells.front()
    };
    std::vector<std::size_t> widths() const;
    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

// `when`: "always", "never", or "auto": only where stdout is a terminal and NO_COLOR is not set.
bool use_color(std::string_view when);

std::string bold(std::string_view text, bool color);

// &, <, >, " and ' as entities; control characters, which XML does not know, as U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace gnnplan::tools
