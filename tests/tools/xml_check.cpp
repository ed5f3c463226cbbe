#include "tests/tools/xml_check.hpp"

#include <algorithm>
#include <regex>
#include <vector>

namespace gnnplan::testing {
namespace {

const std::string name = "[A-Za-z][A-Za-z0-9-]*";
const std::string characters = "(?:[^<&\"]|&(?:amp|lt|gt|quot|#[0-9]+);)*";

// A tag or a run of characters at the front of `rest`; empty when there is neither.
std::string next_token(const std::string& rest, std::smatch& match) {
    static const std::regex token("^(?:<(/?)(" + name + ")((?:\\s+" + name + "(?:=\"" + characters +
                                  "\"))*)\\s*(/?)>|(?:[^<&]|&(?:amp|lt|gt|quot|#[0-9]+);)+)");
    return std::regex_search(rest, match, token) ? match.str() : "";
}

}  // namespace

std::string xml_error(const std::string& text) {
    std::vector<std::string> open;
    std::size_t roots = 0;
    for (std::size_t at = 0; at < text.size();) {
        // A line at a time is enough: our tags do not span lines. Short texts keep the regular expression shallow.
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        std::string rest = text.substr(at, end - at);
        while (!rest.empty()) {
            std::smatch match;
            const std::string token = next_token(rest, match);
            if (token.empty()) return "not well-formed: " + rest;
            if (token[0] == '<') {
                const bool closes = match[1].length() > 0, alone = match[4].length() > 0;
                if (closes && (open.empty() || open.back() != match[2])) return "closes nothing: " + token;
                if (!closes && open.empty()) ++roots;
                if (closes) open.pop_back();
                if (!closes && !alone) open.push_back(match[2]);
            }
            rest.erase(0, token.size());
        }
        at = end;
    }
    if (!open.empty()) return "never closed: " + open.back();
    return roots == 1 ? "" : "not one root";
}

}  // namespace gnnplan::testing
