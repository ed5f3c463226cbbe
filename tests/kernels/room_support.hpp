// Room that products may pack operands of 50 rows in, for tests of them.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "tests/kernels/support.hpp"

namespace gnnplan::kernels::testing {

// Room, 64-byte aligned, for what is packed of the largest of the panels of 50 columns, and 64 bytes more that say
// whether anybody wrote behind it.
class GuardedRoom {
public:
    GuardedRoom(const Blocking& blocking, std::int64_t panels, std::int64_t width, bool bf16) {
        const std::int64_t element_bytes = bf16 ? 2 : 4;
        const std::int64_t rows = (50 + panels - 1) / panels;
        const std::int64_t columns = column_slices(blocking, rows, width, element_bytes).columns;
        const auto bytes = static_cast<std::size_t>(rows * columns * element_bytes);
        memory_.assign(bytes + 128, untouched);
        void* aligned = memory_.data();
        std::size_t space = memory_.size();
        std::align(64, bytes, aligned, space);
        room_ = {{static_cast<std::byte*>(aligned), bytes}, bf16, columns};
    }
    const PanelRoom& view() const { return room_; }
    bool used() const { return room_.memory[0] != untouched || room_.memory[1] != untouched; }
    bool intact_behind() const {
        const std::byte* end = room_.memory.data() + room_.memory.size();
        return std::all_of(end, end + 64, [](std::byte b) { return b == untouched; });
    }

private:
    static constexpr std::byte untouched{0xa5};
    std::vector<std::byte> memory_;
    PanelRoom room_;
};

// Those of plans for CPUs, and for a GPU in whose cache 40 columns of the rows fit, or more of several panels.
inline const std::vector<Blocking> blockings = {Blocking{}, gpu_blocking(12'300)};

// A pattern of 23 x 50 in panels as blocks are cut.
inline OwnedCsr evenly_cut(std::mt19937& random, std::int64_t panels) {
    std::vector<std::int64_t> begins;
    for (std::int64_t p = 0; p < panels; ++p) begins.push_back(balanced_block({0, 50}, p, panels).begin);
    return in_panels(random_csr(random, 23, 50), begins);
}

}  // namespace gnnplan::kernels::testing
