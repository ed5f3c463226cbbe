#include "runtime/run/npy.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace gnnplan::run {
namespace {

// A multiple of 64 bytes.
std::string npy_header(std::string_view type, const std::string& shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
    constexpr std::size_t before = 10;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string header = "\x93NUMPY";
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() % 256);
    header += static_cast<char>(text.size() / 256);
    return header + text;
}

}  // namespace

std::string npy_matrix_header(std::int64_t rows, std::int64_t columns) {
    return npy_header("<f4", fmt::format("{}, {}", rows, columns));
}

std::string npy_list_header(std::int64_t length) { return npy_header("<i8", fmt::format("{},", length)); }

}  // namespace gnnplan::run
