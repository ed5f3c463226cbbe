#include "planner/io/archive.hpp"

namespace gnnplan::io {

Document encode_grid(const Grid& grid) { return std::vector<int>{grid.x, grid.y, grid.z}; }

Grid decode_grid(const Cursor& cursor) {
    const std::vector<Cursor> extents = cursor.elements(3);
    if (extents.size() != 3) cursor.fail("expected the three extents [x, y, z]");
    const auto extent = [&](std::size_t i) { return extents[i].integer(1, max_int); };
    const std::int64_t x = extent(0);
    const std::int64_t y = extent(1);
    const std::int64_t z = extent(2);
    if (x * y * z > max_int) cursor.fail("a grid of more than " + std::to_string(max_int) + " ranks");
    return {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)};
}

Orders decode_orders(const Cursor& cursor) {
    const std::string& letters = cursor.string();
    if (letters.find_first_not_of("SD-") != std::string::npos) {
        cursor.fail("expected a string of the letters S and D, or - for the gradient nobody needs");
    }
    return parse_orders(letters);
}

OperandChoice decode_operands(const Cursor& cursor) {
    const std::string& letters = cursor.string();
    if (letters.find_first_not_of("TG") != std::string::npos) cursor.fail("expected a string of the letters T and G");
    return parse_operands(letters);
}

Axes decode_axes(const Cursor& cursor) {
    try {
        return Axes::parse(cursor.string());
    } catch (const Error& error) {
        if (error.code() == ErrorCode::internal) throw;
        cursor.fail(error.what());
    }
}

}  // namespace gnnplan::io
