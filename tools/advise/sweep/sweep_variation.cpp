#include "tools/advise/sweep/sweep_variation.hpp"

#include "tools/advise/sweep/sweep_variables.hpp"

#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace gnnplan::tools {
namespace {

const Variable& variable(const std::string& name) {
    const auto found = std::ranges::find(all_variables(), name, &Variable::name);
    if (found != all_variables().end()) return *found;
    throw Error(ErrorCode::usage, "'" + name + "' cannot be varied", "--vary",
                fmt::format("{}", fmt::join(variation_names(), ", ")));
}

// "2:8" -> "2,4,8"; "" for any other text.
std::string doubled_list(const std::string& text) {
    std::int64_t low = 0, high = 0;
    const char* const end = text.data() + text.size();
    const auto [colon, error] = std::from_chars(text.data(), end, low);
    if (error != std::errc() || colon == end || (*colon != ':' && *colon != '-') || low < 1) return "";
    const auto [last, second_error] = std::from_chars(colon + 1, end, high);
    if (second_error != std::errc() || last != end || high <= low || high > max_width) return "";
    std::string list = std::to_string(low);
    while (low <= high / 2) list += "," + std::to_string(low *= 2);
    return low < high ? list + "," + std::to_string(high) : list;
}

// How to write values: those that `text` seems to mean, else an example.
std::string how_to_write(const Variable& varied, const std::string& text) {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const bool needs_unit = !varied.unit.empty();
    const std::string list = doubled_list(text);
    std::string meant;
    for (const std::string& value : split(list.empty() ? text : list, ",")) {
        meant += (meant.empty() ? "" : ",") + value + varied.unit;
    }
    const bool known = !list.empty() || (needs_unit && digits);
    const char* how = !known       ? "write for example"
                      : needs_unit ? "write every value with its unit:"
                                   : "write every value:";
    return fmt::format("{} --vary {}={}", how, varied.name, known ? meant : varied.example);
}

// Throws Error{usage} that names what varies and shows how to write it.
double read_number(const Variable& varied, const std::string& text) {
    try {
        return varied.read(text);
    } catch (const Error& error) {
        std::string what = error.what();
        if (!error.hint().empty()) what.erase(what.rfind(" (" + error.hint()));
        throw Error(ErrorCode::usage, what, fmt::format("--vary {}", varied.name), how_to_write(varied, text));
    }
}

}  // namespace

Variation parse_variation(const std::string& text) {
    const std::size_t equals = text.find('=');
    const Variable& varied = variable(text.substr(0, equals));
    if (equals == std::string::npos) {
        throw Error(ErrorCode::usage, "'" + text + "' names no values", "--vary", how_to_write(varied, ""));
    }
    Variation variation{varied.name, varied.key, {}};
    for (std::size_t begin = equals + 1; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        Setting setting{text.substr(begin, end - begin), std::nullopt};
        if (setting.text.empty()) throw Error(ErrorCode::usage, "'" + text + "' has an empty value", "--vary");
        if (varied.read != nullptr) setting.number = read_number(varied, setting.text);
        variation.settings.push_back(std::move(setting));
        begin = end + 1;
    }
    return variation;
}

void check_varied_once(const std::vector<Variation>& variations) {
    for (std::size_t v = 0; v < variations.size(); ++v) {
        for (std::size_t other = 0; other < v; ++other) {
            if (variations[other].name == variations[v].name)
                throw Error(ErrorCode::usage, variations[v].name + " varies twice", "--vary");
        }
    }
}

std::vector<std::string> variation_names() {
    std::vector<std::string> names;
    names.reserve(all_variables().size());
    for (const Variable& v : all_variables()) names.emplace_back(v.name);
    return names;
}

Question with_settings(Question question, const std::vector<Variation>& variations,
                       const std::vector<std::size_t>& at) {
    std::map<std::string, Setting> settings;
    for (std::size_t v = 0; v < variations.size(); ++v) {
        for (const std::string& word : split(variations[v].settings[at[v]].means, " ")) {
            if (word.empty()) continue;
            Variation meant = parse_variation(word);
            settings.insert_or_assign(meant.name, std::move(meant.settings.front()));
        }
    }
    for (std::size_t v = 0; v < variations.size(); ++v) {
        settings.insert_or_assign(variations[v].name, variations[v].settings[at[v]]);
    }
    for (const Variable& variable : all_variables()) {
        const auto setting = settings.find(variable.name);
        if (setting != settings.end()) variable.apply(question, setting->second);
    }
    return question;
}

}  // namespace gnnplan::tools
