// The ring between two threads, which is all it knows of processes, and the copies it is made of.
#include "kernels/table.hpp"
#include "runtime/comm/ring_transfer.hpp"

#include <gtest/gtest.h>

#include <numeric>
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
        RingSend message(ring, rows);
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
    RingSend send(ring, one_row(std::span(out)));
    EXPECT_TRUE(send.step());  // its length
    EXPECT_TRUE(send.step());  // to the end of the ring
    EXPECT_FALSE(send.step());
    EXPECT_FALSE(send.done());
    EXPECT_TRUE(receive.step());
    EXPECT_TRUE(send.step());  // one line
    EXPECT_FALSE(send.step());
}

// Two ranks with three rings for each direction. The teams of their threads need not have a thread for each lane.
class Lanes : public testing::Test {
protected:
    static constexpr std::size_t capacity = 256 << 10, lanes = 3;

    Lanes() : memory_(2 * lanes * SharedRing::bytes(capacity) / sizeof(Line)) {
        for (std::size_t i = 0; i < 2 * lanes; ++i) SharedRing::initialise(ring(i));
    }
    // Sends `rows` to the other rank, and returns the length of what that one has sent.
    std::size_t exchange(std::size_t rank, int threads, const Bytes& sent, const MutableRows& received) {
        kernels::set_threads(threads);
        std::vector<SharedRing> out, in;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            out.emplace_back(ring(rank * lanes + lane), capacity);
            in.emplace_back(ring((1 - rank) * lanes + lane), capacity);
        }
        RingTransfer transfer({}, received.bytes());
        transfer.send(out, one_row(std::span(sent)));
        transfer.receive(in, received);
        transfer.run([] { std::this_thread::yield(); });
        return transfer.sent(0);
    }

private:
    struct alignas(SharedRing::line) Line {
        std::byte bytes[SharedRing::line];
    };
    std::byte* ring(std::size_t i) { return memory_.front().bytes + i * SharedRing::bytes(capacity); }

    std::vector<Line> memory_;
};

TEST_F(Lanes, CarryTheirPartsOfLongMessages) {
    for (const auto& [threads, others] : {std::pair(1, 1), std::pair(4, 1), std::pair(2, 4)}) {
        for (const std::size_t length : {0UL, 1000UL, (1UL << 20) - 1, 1UL << 20, 3'000'001UL}) {
            const Bytes there = counted(length), back = counted(length / 2);
            Bytes arrived(length), returned(length / 2);
            std::thread other(
                [&, threads = others] { EXPECT_EQ(exchange(1, threads, back, one_row(std::span(arrived))), length); });
            EXPECT_EQ(exchange(0, threads, there, one_row(std::span(returned))), length / 2);
            other.join();
            EXPECT_TRUE(arrived == there && returned == back) << length << " bytes, " << threads << " threads";
        }
    }
}

// A sender may be ahead: parts of its next message lie in lanes that the one that is received has not.
TEST_F(Lanes, TheNextMessageIsNotTakenForThisOne) {
    const std::vector<std::size_t> lengths{200'000, 1 << 20, 140'000, 1'300'000};
    constexpr int rounds = 100;
    std::thread other([&] {
        const Bytes none;
        for (int round = 0; round < rounds; ++round) {
            for (const std::size_t length : lengths) {
                Bytes arrived(length);
                EXPECT_EQ(exchange(1, 3, none, one_row(std::span(arrived))), length);
                EXPECT_TRUE(arrived == counted(length)) << length << " bytes, round " << round;
            }
        }
    });
    Bytes none;
    for (int round = 0; round < rounds; ++round)
        for (const std::size_t length : lengths) exchange(0, 3, counted(length), one_row(std::span(none)));
    other.join();
}

TEST_F(Lanes, AMessageOfAnotherLengthIsThrownAway) {
    for (const std::size_t length : {10UL, 2'000'000UL, 3'000'000UL}) {
        const Bytes there = counted(length);
        Bytes arrived(2'500'000), none;
        std::thread other([&] { EXPECT_EQ(exchange(1, 2, none, one_row(std::span(arrived))), length); });
        EXPECT_EQ(exchange(0, 4, there, one_row(std::span(none))), 0U);
        other.join();
        EXPECT_TRUE(arrived == Bytes(arrived.size())) << length;
    }
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

// Portions for threads are some 64 KiB.
TEST(CopyRows, ThreadsShareTheRows) {
    const Bytes source = counted(1'200'000);
    for (const std::size_t from : {1UL, 60UL, 1000UL, 70'001UL, 300'000UL}) {
        for (const std::size_t to : {3UL, 60UL, 500UL, 100'000UL, 300'000UL}) {
            const std::size_t all = 300'000 / std::lcm(from, to) * std::lcm(from, to);
            if (all == 0 || all / from * (from + 3) > source.size()) continue;
            Bytes target(all / to * (to + 5), std::byte{0xEE});
            copy_rows({source.data(), all / from, from, from + 3}, {target.data(), all / to, to, to + 5},
                      Stores::cached);
            Bytes expected(target.size(), std::byte{0xEE});
            for (std::size_t i = 0; i < all; ++i)
                expected[i / to * (to + 5) + i % to] = source[i / from * (from + 3) + i % from];
            EXPECT_TRUE(target == expected) << "rows of " << from << " bytes to rows of " << to;
        }
    }
}

TEST(CopyRows, StreamsToWhatCachesCannotHold) {
    EXPECT_EQ(stores_for(1 << 20), Stores::cached);
    EXPECT_EQ(stores_for(std::size_t{1} << 26), Stores::streamed);
}

}  // namespace
}  // namespace gnnplan::comm
