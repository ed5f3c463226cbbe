// What is known of a path before a reader is chosen for it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gnnplan::data {

struct Source {
    std::filesystem::path path;
    bool folder = false;
    std::string head = {};  // the first 64 bytes of a file, decompressed when it is gzip; fewer when it has fewer

    // True if the head may begin a file of text: neither a NumPy array nor a pickle nor another binary file.
    bool text() const {
        const std::string_view bytes = head;
        return !folder && !bytes.starts_with("\x93NUMPY") && !bytes.starts_with("\x80") &&
               bytes.find('\0') == std::string_view::npos;
    }
};

}  // namespace gnnplan::data
