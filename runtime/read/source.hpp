// A path as it is known before a reader is chosen for it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace gnnplan::data {

struct Source {
    std::filesystem::path path;
    bool folder = false;
    std::string head = {};  // the first 512 bytes of a file, decompressed when it is gzip; fewer when it has fewer

    // True if the head may begin a file of text: neither a NumPy array nor a pickle nor another binary file.
    bool text() const {
        const std::string_view bytes = head;
        return !folder && !bytes.starts_with("\x93NUMPY") && !bytes.starts_with("\x80") &&
               bytes.find('\0') == std::string_view::npos;
    }
    // The head of a text without its byte order mark and leading blanks.
    std::string_view text_begin() const {
        std::string_view bytes = head;
        if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
        bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
        return bytes;
    }
    // True for texts of characters of two or four bytes, which Windows editors call Unicode.
    bool wide_text() const {
        if (folder) return false;
        const std::string_view bytes = head;
        if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
        const auto letters = [&](std::size_t first) {
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                const bool zero = i % 2 != first;
                if (zero != (bytes[i] == '\0') || (!zero && static_cast<unsigned char>(bytes[i]) > '~')) return false;
            }
            return bytes.size() >= 4;
        };
        return letters(0) || letters(1);
    }
};

}  // namespace gnnplan::data
