// Aligned columns and emphasis for people at a terminal.
#pragma once

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
    std::string text(bool color) const;

private:
    struct Row {
        std::vector<std::string> cells;
        bool emphasised;
    };
    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

// `when`: "always", "never", or "auto": only where stdout is a terminal and NO_COLOR is not set.
bool use_color(std::string_view when);

std::string bold(std::string_view text, bool color);

}  // namespace gnnplan::tools
