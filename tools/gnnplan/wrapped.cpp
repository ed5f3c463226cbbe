#include "tools/gnnplan/wrapped.hpp"

#include <algorithm>

namespace gnnplan::tools {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + separator.size();
    }
    return parts;
}

std::string wrapped(const std::string& first, const std::string& further, const std::string& text,
                    const std::string& separator) {
    const std::string mark = separator.substr(0, separator.find_last_not_of(' ') + 1);  // stays at the end of a line
    std::string out, line = first;
    bool fresh = true;
    for (const std::string& part : split(text, separator)) {
        if (!fresh && line.size() + separator.size() + part.size() + mark.size() > text_width) {
            line.erase(line.find_last_not_of(' ') + 1);
            out += line + mark + "\n";
            line = further;
            fresh = true;
        }
        line += (fresh ? "" : separator) + part;
        fresh = false;
    }
    return out + line + "\n";
}

}  // namespace gnnplan::tools
