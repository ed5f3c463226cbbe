#include "tools/advise/json/page_columns.hpp"

#include <string>
#include <unordered_map>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::size_t short_column = 2048;  // bytes, which stay as they are

}  // namespace

io::Document column(io::Document array) {
    const std::string plain = io::dump(array);
    if (plain.size() <= short_column) return array;
    std::unordered_map<std::string, std::int64_t> known;
    io::Document values = io::Document::array(), at = io::Document::array();
    for (const io::Document& value : *array.get_if<io::Document::Array>()) {
        const auto [entry, is_new] = known.emplace(io::dump(value), static_cast<std::int64_t>(known.size()));
        if (is_new) values.push(value);
        at.push(entry->second);
    }
    io::Document distinct = io::Document::object({{"values", std::move(values)}, {"at", std::move(at)}});
    return io::dump(distinct).size() < plain.size() ? std::move(distinct) : std::move(array);
}

io::Document with_columns(io::Document memory_over_steps, const io::Document& names) {
    for (const char* key : {"steps", "other_bytes", "staging_bytes"}) {
        io::Document* entry = memory_over_steps.find(key);
        if (entry == nullptr) continue;
        io::Document shorter = column(std::move(*entry));
        *entry = std::move(shorter);
    }
    io::Document* steps = memory_over_steps.find("steps");
    if (steps == nullptr) return memory_over_steps;
    const std::string text = io::dump(*steps);
    if (text.size() > short_column && text == io::dump(names)) *steps = io::Document();
    return memory_over_steps;
}

}  // namespace gnnplan::tools
