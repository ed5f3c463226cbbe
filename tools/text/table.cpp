#include "tools/text/table.hpp"

#include "tools/text/lines.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gnnplan::tools {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 12;  // of a last column that is broken

}  // namespace

void Table::add(std::vector<std::string> cells, bool emphasised) {
    ensure(cells.size() == columns_.size(), "a table row has one cell per column");
    rows_.push_back({std::move(cells), emphasised, false});
}

void Table::add_title(std::string title) { rows_.push_back({{std::move(title)}, false, true}); }

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width_of(columns_[c].title));
        for (const Row& row : rows_) {
            if (!row.title) widths[c] = std::max(widths[c], width_of(row.cells[c]));
        }
    }
    return widths;
}

std::size_t Table::width() const {
    const std::string lines = text(false);
    std::size_t width = 0;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin);
        width = std::max(width, width_of(std::string_view(lines).substr(begin, end - begin)));
        begin = end + 1;
    }
    return width;
}

void Table::leave_out_if_wider(std::string_view title, std::size_t width) {
    if (this->width() <= width) return;
    const auto column =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.title == title; });
    ensure(column != columns_.end(), "a table has the column that is left out of it");
    const auto at = column - columns_.begin();
    columns_.erase(column);
    for (Row& row : rows_) {
        if (!row.title) row.cells.erase(row.cells.begin() + at);
    }
}

std::string Table::html() const {
    const auto row_of = [&](const char* element, const char* attributes, const auto& cell_of) {
        std::string out = std::string("<tr") + attributes + ">";
        // A text takes the place of empty cells that follow it to the end of the row.
        std::size_t last = columns_.size();
        while (last > 1 && cell_of(last - 1).empty()) --last;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const bool number = columns_[c].align == Align::right;
            const bool spans = c + 1 == last && last < columns_.size() && !number;
            out += std::string("<") + element + (number ? " class=\"number\"" : "") +
                   (spans ? " colspan=\"" + std::to_string(columns_.size() - c) + "\"" : "") + ">" +
                   xml_escaped(cell_of(c)) + "</" + element + ">";
            if (spans) break;
        }
        return out + "</tr>\n";
    };
    std::string out = "<table>\n<thead>\n" + row_of("th", "", [&](std::size_t c) { return columns_[c].title; }) +
                      "</thead>\n<tbody>\n";
    for (const Row& row : rows_) {
        if (row.title) {
            out += "<tr><th colspan=\"" + std::to_string(columns_.size()) + "\">" + xml_escaped(row.cells.front()) +
                   "</th></tr>\n";
            continue;
        }
        out += row_of("td", row.emphasised ? " class=\"best\"" : "", [&](std::size_t c) { return row.cells[c]; });
    }
    return out + "</tbody>\n</table>\n";
}

std::string Table::text(bool color, std::size_t width) const {
    std::vector<std::size_t> widths = this->widths();
    std::size_t begin_of_last = 0;
    for (std::size_t c = 0; c + 1 < widths.size(); ++c) begin_of_last += widths[c] + gap;
    const std::size_t left = width > begin_of_last + narrowest ? width - begin_of_last : narrowest;
    const bool wraps = width != std::string::npos && widths.back() > left;
    if (wraps) widths.back() = 0;
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string out;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::size_t cell_width = width_of(cells[c]);
            const std::string padding(widths[c] > cell_width ? widths[c] - cell_width : 0, ' ');
            out += columns_[c].align == Align::right ? padding + cells[c] : cells[c] + padding;
            out.append(gap, ' ');
        }
        out.erase(out.find_last_not_of(' ') + 1);
        return out + "\n";
    };
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    std::string all = line(titles);
    for (const Row& row : rows_) {
        if (row.title) {
            all += row.cells.front() + "\n";
            continue;
        }
        std::vector<std::string> cells = row.cells;
        const std::vector<std::string> last = broken(cells.back(), wraps ? left : std::string::npos);
        for (const std::string& part : last) {
            if (&part != &last.front()) cells.assign(columns_.size(), "");
            cells.back() = part;
            const std::string out = line(cells);
            all += row.emphasised ? bold(out.substr(0, out.size() - 1), color) + "\n" : out;
        }
    }
    return all;
}

bool use_color(std::string_view when) {
    if (when != "auto") return when == "always";
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == '\0') && isatty(fileno(stdout)) != 0;
}

std::string bold(std::string_view text, bool color) {
    return color ? "\033[1m" + std::string(text) + "\033[0m" : std::string(text);
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default:
                out +=
                    static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? "\xEF\xBF\xBD" : std::string(1, c);
        }
    }
    return out;
}

}  // namespace gnnplan::tools
