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

std::string Table::text(bool color) const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width_of(columns_[c].title));
        for (const Row& row : rows_) widths[c] = std::max(widths[c], width_of(row.cells[c]));
    }
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

}  // namespace gnnplan::tools
