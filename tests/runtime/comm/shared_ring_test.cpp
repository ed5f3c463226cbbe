// The ring between two threads, which is all it knows of processes, and the copies it is made of.
#include "runtime/comm/shared_ring.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gnnplan::comm {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counted(std::size_t length) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i + i / 253);
    return bytes;
}

class Ring : public testing::Test {
protected:
    static constexpr std::size_t capacity = 4096;

    Ring() : memory_((SharedRing::bytes(capacity)) / sizeof(Line)) { SharedRing::initialise(start()); }

    // Each end has a view of its own, as in a process of its own.
    SharedRing view() { return {start(), capacity}; }

    static void send(SharedRing ring, const ConstRows& rows) {
        Bytes scratch(SharedRing::largest_turn);
        RingSend message(ring, rows, scratch);
        while (!message.done())
            if (!message.step()) std::this_thread::yield();
    }
    // Returns the length that was sent.
    static std::size_t receive(SharedRing ring, const MutableRows& rows) {
        RingReceive message(ring, rows, Stores::cached);
        while (!message.done())
            if (!message.step()) std::this_thread::yield();
        return message.sent();
    }

private:
    struct alignas(SharedRing::line) Line {
        std::byte bytes[SharedRing::line];
    };
    std::byte* start() { return memory_.front().bytes; }

    std::vector<Line> memory_;
};

TEST_F(Ring, CarriesMessagesOfAnyLengthInOrder) {
    const std::vector<std::size_t> lengths{1, 63, 64, 65, 4031, 4032, 4033, 4096, 0, 100'003, 1, 2};
    std::thread sender([&, ring = view()] {
        for (const std::size_t length : lengths) {
            const Bytes bytes = counted(length);
            send(ring, one_row(std::span(bytes)));
        }
    });
    for (const std::size_t length : lengths) {
        Bytes bytes(length);
        EXPECT_EQ(receive(view(), one_row(std::span(bytes))), length);
        EXPECT_EQ(bytes, counted(length));
    }
    sender.join();
}

TEST_F(Ring, AMessageOfAnotherLengthIsThrownAway) {
    std::thread sender([ring = view()] {
        for (const std::size_t length : {10'000UL, 10UL, 77UL}) {
            const Bytes bytes = counted(length);
            send(ring, one_row(std::span(bytes)));
        }
    });
    Bytes bytes(77);
    EXPECT_EQ(receive(view(), one_row(std::span(bytes))), 10'000U);
    EXPECT_EQ(receive(view(), one_row(std::span(bytes))), 10U);
    EXPECT_EQ(bytes, Bytes(77));
    EXPECT_EQ(receive(view(), one_row(std::span(bytes))), 77U);
    EXPECT_EQ(bytes, counted(77));
    sender.join();
}

TEST_F(Ring, StepsDoNothingWithoutRoomOrBytes) {
    SharedRing ring = view();
    Bytes in(2 * capacity);
    RingReceive receive(ring, one_row(std::span(in)), Stores::cached);
    EXPECT_FALSE(receive.step());
    const Bytes out = counted(in.size());
    Bytes scratch(SharedRing::largest_turn);
    RingSend send(ring, one_row(std::span(out)), scratch);
    EXPECT_TRUE(send.step());  // its length
    EXPECT_TRUE(send.step());  // to the end of the ring
    EXPECT_FALSE(send.step());
    EXPECT_FALSE(send.done());
    EXPECT_TRUE(receive.step());
    EXPECT_TRUE(send.step());  // one line
    EXPECT_FALSE(send.step());
}

TEST(CopyRows, CopiesWhateverTheStoresAndTheAlignment) {
    const Bytes source = counted(60'000);
    for (const Stores stores : {Stores::cached, Stores::streamed}) {
        for (const std::size_t offset : {0UL, 4UL, 61UL}) {
            for (const std::size_t row : {1UL, 60UL, 64UL, 200UL, 256UL}) {
                Bytes target(20'000 + offset, std::byte{0xEE});
                const std::size_t rows = 30;
                copy_rows({source.data() + 3, rows, row, row + 40}, {target.data() + offset, rows, row, row + 17},
                          stores);
                Bytes expected(target.size(), std::byte{0xEE});
                for (std::size_t i = 0; i < rows; ++i)
                    std::copy_n(source.data() + 3 + i * (row + 40), row, expected.data() + offset + i * (row + 17));
                EXPECT_EQ(target, expected) << "rows of " << row << " bytes, offset " << offset;
            }
        }
    }
}

TEST(CopyRows, StreamsToWhatCachesCannotHold) {
    EXPECT_EQ(stores_for(1 << 20), Stores::cached);
    EXPECT_EQ(stores_for(std::size_t{1} << 26), Stores::streamed);
}

}  // namespace
}  // namespace gnnplan::comm
