#include "tools/common/table.hpp"

#include <gnnplan/base/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace gnnplan::tools {
namespace {

constexpr std::size_t gap = 2;

// Code points: every byte but UTF-8 continuations.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells, bool emphasised) {
    ensure(cells.size() == columns_.size(), "a table row has one cell per column");
    rows_.push_back({std::move(cells), emphasised});
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width_of(columns_[c].title));
        for (const Row& row : rows_) widths[c] = std::max(widths[c], width_of(row.cells[c]));
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
        out += row_of("td", row.emphasised ? " class=\"best\"" : "", [&](std::size_t c) { return row.cells[c]; });
    }
    return out + "</tbody>\n</table>\n";
}

std::string Table::text(bool color) const {
    const std::vector<std::size_t> widths = this->widths();
    const auto line = [&](const auto& cell_of) {
        std::string out;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string& cell = cell_of(c);
            const std::string padding(widths[c] - width_of(cell), ' ');
            out += columns_[c].align == Align::right ? padding + cell : cell + padding;
            out.append(gap, ' ');
        }
        out.erase(out.find_last_not_of(' ') + 1);
        return out;
    };
    std::string all = line([&](std::size_t c) -> const std::string& { return columns_[c].title; }) + "\n";
    for (const Row& row : rows_) {
        const std::string out = line([&](std::size_t c) -> const std::string& { return row.cells[c]; });
        all += (row.emphasised ? bold(out, color) : out) + "\n";
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
