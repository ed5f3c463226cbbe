// Places buffers that live for a while in one arena: two share space only when their lifetimes do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan {

// A buffer to place: its bytes, and the first and the last position in time at which it is used.
struct Buffer {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

// Largest first, each buffer comes to the lowest offset that is free during its whole lifetime (greedy by size;
// Pisarchyk & Lee 2020). Ranks differ in the sizes of few buffers, so a packer keeps what it placed last, and looks for
// a gap only where what is in the way may have changed: the offsets are those that placing all of them again gives.
class Packer {
public:
    struct Packed {
        std::vector<std::int64_t> offsets;  // per buffer
        std::int64_t end = 0;               // of the last one
    };

    // `positions` are more than any buffer's last one.
    const Packed& pack(std::vector<Buffer> buffers, std::size_t positions);

private:
    // A buffer that is not where it was, or not as large.
    struct Moved {
        std::size_t buffer = 0;
        std::size_t first = 0;
        std::size_t last = 0;
        std::int64_t begin = 0;  // where it was
        std::int64_t end = 0;
        std::int64_t new_begin = 0;  // where it is, if new_end is larger
        std::int64_t new_end = 0;
    };

    bool starts_over(const std::vector<Buffer>& buffers) const;
    void list_resized(const std::vector<Buffer>& buffers);
    bool stays(const std::vector<Buffer>& buffers, std::size_t buffer) const;
    void note(const std::vector<Buffer>& buffers, std::size_t buffer, std::int64_t offset);

    std::vector<Buffer> buffers_;  // of the last time
    Packed packed_;
    std::vector<Moved> moved_;  // since then
};

}  // namespace gnnplan
