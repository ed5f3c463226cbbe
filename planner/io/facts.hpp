// Facts about a run that its files keep (weights, checkpoints, layers), and which a run that goes on compares: names
// and values. The fact of an option is called as files have called it since the first version, by two hyphens and its
// id.
#pragma once

#include <string>
#include <string_view>

namespace gnnplan::io {

inline constexpr std::string_view option_mark{"\x2d\x2d"};

// The name of the fact of an option: option_fact("seed").
inline std::string option_fact(std::string_view id) { return std::string(option_mark) + std::string(id); }
inline bool is_option_fact(std::string_view name) { return name.starts_with(option_mark); }

// The name in a message (gnnplan/base/option.hpp): "`seed`"; with a value, "`seed 3`". Other facts have words for
// names.
inline std::string fact_text(std::string_view name, std::string_view value = {}) {
    const bool option = is_option_fact(name);
    const std::string text =
        std::string(option ? name.substr(option_mark.size()) : name) + (value.empty() ? "" : " " + std::string(value));
    return option ? "`" + text + "`" : text;
}

}  // namespace gnnplan::io
