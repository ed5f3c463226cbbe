// Offsets against those of the rule, written down plainly: largest first, each to the lowest offset that is free.
#include "planner/ir/packing.hpp"

#include <gnnplan/ir/memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gnnplan {
namespace {

bool meet(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<std::int64_t> plain_offsets(const std::vector<Buffer>& buffers) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](auto a, auto b) { return buffers[a].bytes > buffers[b].bytes; });
    std::vector<std::int64_t> offsets(buffers.size());
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
        const Buffer& own = buffers[order[placed]];
        const std::int64_t bytes = aligned(own.bytes);
        const auto is_free = [&](std::int64_t offset) {
            return std::all_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(placed), [&](auto i) {
                const std::int64_t end = offsets[i] + aligned(buffers[i].bytes);
                return !meet(own, buffers[i]) || offset + bytes <= offsets[i] || end <= offset;
            });
        };
        std::vector<std::int64_t> ends{0};
        for (std::size_t i = 0; i < placed; ++i) ends.push_back(offsets[order[i]] + aligned(buffers[order[i]].bytes));
        std::ranges::sort(ends);
        offsets[order[placed]] = *std::ranges::find_if(ends, is_free);
    }
    return offsets;
}

// Most live for a moment, some for long, a few all the time, as the buffers of a deep network do.
std::vector<Buffer> random_buffers(std::mt19937& random, std::size_t count, std::size_t positions, int most_bytes) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t first = below(positions);
        const std::size_t length = i % 7 == 0 ? below(positions) : i % 50 == 1 ? positions : below(3);
        const std::size_t begin = i % 50 == 1 ? 0 : first;
        buffers.push_back({1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(most_bytes))), begin,
                           std::min(positions - 1, begin + length)});
    }
    return buffers;
}

TEST(Packing, OffsetsAreThoseOfThePlainRule) {
    std::mt19937 random(1);
    for (const std::size_t count : {0, 1, 2, 30, 39, 41, 200, 700}) {
        for (const int most_bytes : {64, 500, 100'000}) {
            const std::size_t positions = count + 1;
            const std::vector<Buffer> buffers = random_buffers(random, count, positions, most_bytes);
            Packer packer;
            const Packer::Packed& packed = packer.pack(buffers, positions);
            EXPECT_EQ(packed.offsets, plain_offsets(buffers)) << count << " buffers of up to " << most_bytes;
            std::int64_t end = 0;
            for (std::size_t i = 0; i < count; ++i) end = std::max(end, packed.offsets[i] + aligned(buffers[i].bytes));
            EXPECT_EQ(packed.end, end);
        }
    }
}

TEST(Packing, BuffersOfOtherSizesArePlacedAsIfAnew) {
    std::mt19937 random(2);
    constexpr std::size_t positions = 300;
    for (const std::size_t changed : {1, 3, 20, 150}) {
        std::vector<Buffer> buffers = random_buffers(random, 300, positions, 3000);
        Packer packer;
        packer.pack(buffers, positions);
        for (int turn = 0; turn < 5; ++turn) {
            for (std::size_t i = 0; i < changed; ++i)
                buffers[random() % buffers.size()].bytes = 1 + static_cast<std::int64_t>(random() % 3000);
            EXPECT_EQ(packer.pack(buffers, positions).offsets, plain_offsets(buffers)) << changed << " changed";
        }
    }
}

TEST(Packing, BuffersThatLiveAtOtherTimesStartOver) {
    std::mt19937 random(3);
    Packer packer;
    for (int turn = 0; turn < 4; ++turn) {
        const std::vector<Buffer> buffers = random_buffers(random, 120, 90, 2000);
        EXPECT_EQ(packer.pack(buffers, 90).offsets, plain_offsets(buffers));
    }
}

}  // namespace
}  // namespace gnnplan
