#include "tools/common/table.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gnnplan::tools {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 16;  // of a last column that is broken

// Code points: every byte but UTF-8 continuations.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Parts of a sentence that stand two spaces apart are kept whole where a line stays half full without the last.
std::string take_last_part(std::string& line, std::size_t width) {
    const std::size_t begin = line.rfind("  ");
    if (begin == std::string::npos || begin < width / 2 || begin + 2 >= line.size()) return "";
    std::string part = line.substr(begin);
    line.erase(begin);
    return part;
}

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

std::string Table::html() const {
    const auto row_of = [&](const char* element, const char* attributes, const auto& cell_of) {
        std::string out = std::string("<tr") + attributes + ">";
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const char* align = columns_[c].align == Align::right ? " class=\"number\"" : "";
            out += std::string("<") + element + align + ">" + xml_escaped(cell_of(c)) + "</" + element + ">";
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
        const std::vector<std::string> last = broken_at_spaces(cells.back(), wraps ? left : std::string::npos);
        for (const std::string& part : last) {
            if (&part != &last.front()) cells.assign(columns_.size(), "");
            cells.back() = part;
            const std::string out = line(cells);
            all += row.emphasised ? bold(out.substr(0, out.size() - 1), color) + "\n" : out;
        }
    }
    return all;
}

std::vector<std::string> broken_at_spaces(std::string_view text, std::size_t width) {
    std::vector<std::string> lines{""};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin + 1), text.size());
        const std::string_view word = text.substr(begin, end - begin);  // with the space before it
        if (!lines.back().empty() && width_of(lines.back()) + width_of(word) > width) {
            const std::string next = take_last_part(lines.back(), width) + std::string(word);
            lines.back().erase(lines.back().find_last_not_of(' ') + 1);
            lines.push_back(next.substr(std::min(next.find_first_not_of(' '), next.size())));
        } else {
            const bool continues = lines.size() > 1 && lines.back().empty();
            lines.back() += continues ? word.substr(std::min(word.find_first_not_of(' '), word.size())) : word;
        }
        begin = end;
    }
    return lines;
}

std::string labelled(std::string_view label, std::string_view text) {
    constexpr std::size_t begin = 9;
    std::string all;
    for (const std::string& line : broken_at_spaces(text, line_width - begin)) {
        const std::string_view before = all.empty() ? label : std::string_view();
        all += std::string(before) + std::string(begin - std::min(begin, before.size()), ' ') + line + "\n";
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

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string out;
    std::size_t used = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t needed = width_of(word) + (used > 0 ? 1 : 0);
        if (used > 0 && used + needed > width) {
            out += "\n" + std::string(indent, ' ');
            used = indent + width_of(word);
        } else {
            out += (used > 0 ? " " : "");
            used += needed;
        }
        out += word;
    }
    return out;
}

}  // namespace gnnplan::tools
