// Exchanges of blocks: rows with gaps on either side, of different lengths, and their neighbourhood left alone.
#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::comm {
namespace {

using Bytes = std::vector<std::byte>;

struct Shape {
    std::size_t rows = 0;
    std::size_t row_bytes = 0;
    std::size_t gap_bytes = 0;
};

constexpr std::byte untouched{0xEE};

std::byte value(int from, int to, std::size_t i) {
    return static_cast<std::byte>(31 * static_cast<std::size_t>(from) + 7 * static_cast<std::size_t>(to) + i + i / 251);
}

// Memory that holds rows and their gaps, and room to pack the rows.
class Placed {
public:
    explicit Placed(const Shape& shape)
        : shape_(shape),
          memory_(offset + shape.rows * stride(), untouched),
          staging_(shape.gap_bytes > 0 ? shape.rows * shape.row_bytes : 0) {}

    template <class Byte>
    Rows<Byte> rows() {
        return {memory_.data() + offset, shape_.rows, shape_.row_bytes, stride()};
    }
    std::span<std::byte> staging() { return staging_; }
    void fill(int from, int to) {
        each([&](std::byte& byte, std::size_t i) { byte = value(from, to, i); });
    }
    // That it holds what was sent, and nothing else has changed.
    void expect(int from, int to) {
        std::size_t wrong = 0;
        each([&](std::byte& byte, std::size_t i) {
            wrong += byte != value(from, to, i) ? 1 : 0;
            byte = untouched;
        });
        EXPECT_EQ(wrong, 0U) << "rank " << from << " to " << to;
        EXPECT_TRUE(std::ranges::all_of(memory_, [](std::byte byte) { return byte == untouched; })) << "between rows";
    }

private:
    static constexpr std::size_t offset = 4;  // nothing is aligned to more than a float

    std::size_t stride() const { return shape_.row_bytes + shape_.gap_bytes; }
    template <class Visit>
    void each(Visit visit) {
        std::size_t i = 0;
        for (std::size_t row = 0; row < shape_.rows; ++row)
            for (std::size_t j = 0; j < shape_.row_bytes; ++j) visit(memory_[offset + row * stride() + j], i++);
    }

    Shape shape_;
    Bytes memory_;
    Bytes staging_;
};

// One exchange of blocks and the memory that belongs to it. No shape where no message is named.
struct Blocks {
    using Shapes = std::function<std::vector<Shape>(int from, int to)>;

    Blocks(int my_rank, int ranks, const Shapes& sent, const Shapes& received) : rank(my_rank) {
        for (int peer = 0; peer < ranks; ++peer) {
            for (const Shape& shape : sent(rank, peer)) out.emplace_back(peer, Placed(shape));
            for (const Shape& shape : received(peer, rank)) in.emplace(in.begin(), peer, Placed(shape));
        }
        for (auto& [peer, placed] : out) {
            placed.fill(rank, peer);
            sends.push_back({peer, placed.rows<const std::byte>(), placed.staging()});
        }
        for (auto& [peer, placed] : in) receives.push_back({peer, placed.rows<std::byte>(), placed.staging()});
    }
    void expect_delivered() {
        for (auto& [peer, placed] : in) placed.expect(peer, rank);
    }

    int rank;
    std::vector<std::pair<int, Placed>> out, in;
    std::vector<SendBlock> sends;
    std::vector<ReceiveBlock> receives;
};

void check_blocks(Communicator& comm, const Blocks::Shapes& sent, const Blocks::Shapes& received) {
    Blocks blocks(comm.rank(), comm.size(), sent, received);
    comm.exchange_blocks(blocks.sends, blocks.receives);
    blocks.expect_delivered();
}

Blocks::Shapes all(const Shape& shape) {
    return [shape](int, int) { return std::vector<Shape>{shape}; };
}

TEST_P(Contract, BlocksKeepTheirRowsOnBothSides) {
    on_ranks([](Communicator& comm) {
        check_blocks(comm, all({7, 36, 8}), all({7, 36, 0}));
        check_blocks(comm, all({7, 36, 0}), all({7, 36, 100}));
        check_blocks(comm, all({5, 64, 64}), all({5, 64, 192}));
        check_blocks(comm, all({6, 35, 3}), all({10, 21, 5}));  // rows of other lengths
        check_blocks(comm, all({1, 4, 0}), all({1, 4, 0}));
        check_blocks(comm, all({1, 130, 6}), all({130, 1, 2}));
        const auto uneven = [](int from, int to) {
            const auto rows = static_cast<std::size_t>(3 * from + to);
            return std::vector<Shape>{{rows, 12, 4}};
        };
        check_blocks(comm, uneven, uneven);
    });
}

TEST_P(Contract, BlocksMayBeEmptyOrMissing) {
    on_ranks([](Communicator& comm) {
        check_blocks(comm, all({0, 8, 8}), all({5, 0, 8}));
        const auto none = [](int, int) { return std::vector<Shape>{}; };
        check_blocks(comm, none, none);
        const auto some = [](int from, int to) {
            return (from + to) % 2 == 0 ? std::vector<Shape>{} : std::vector<Shape>{{3, 9, 1}};
        };
        check_blocks(comm, some, some);
        const auto own = [](int from, int to) {
            return from != to ? std::vector<Shape>{} : std::vector<Shape>{{3, 9, 1}};
        };
        check_blocks(comm, own, own);
    });
}

// Rings are of 256 KiB at most, and turns of 32 KiB.
TEST_P(Contract, BlocksMayBeLargerThanWhatCarriesThem) {
    on_ranks([](Communicator& comm) {
        const auto next = [&](const Shape& shape) {
            return [&comm, shape](int from, int to) {
                return to == (from + 1) % comm.size() ? std::vector<Shape>{shape} : std::vector<Shape>{};
            };
        };
        check_blocks(comm, next({2'500, 256, 256}), next({2'500, 256, 0}));
        check_blocks(comm, next({3'001, 164, 36}), next({3'001, 164, 164}));
        check_blocks(comm, next({3, 100'000, 0}), next({100'000, 3, 1}));
        check_blocks(comm, all({2, 40'000, 5}), all({2, 40'000, 9}));
    });
}

TEST_P(Contract, BlocksInOneDirectionAndInARow) {
    on_ranks([](Communicator& comm) {
        for (std::size_t round = 0; round < 20; ++round) {
            const auto away = [&](int from, int to) {
                return to > from ? std::vector<Shape>{{round, 700, 4}} : std::vector<Shape>{};
            };
            check_blocks(comm, away, away);
        }
        const int ranks = comm.size();
        for (std::size_t round = 1; round < 60; ++round) {
            const auto around = [&](int from, int to) {
                return to == (from + 1) % ranks ? std::vector<Shape>{{round, 16, 3}} : std::vector<Shape>{};
            };
            check_blocks(comm, around, around);
        }
    });
}

TEST_P(Contract, BlocksAmongOtherCollectives) {
    on_ranks([](Communicator& comm) {
        const Bytes out(50'000, std::byte{5});
        for (int round = 0; round < 5; ++round) {
            std::vector<Bytes> in(static_cast<std::size_t>(comm.size()), Bytes(out.size()));
            std::vector<Send> sends;
            std::vector<Receive> receives;
            for (int peer = 0; peer < comm.size(); ++peer) {
                sends.push_back({peer, out});
                receives.push_back({peer, in[static_cast<std::size_t>(peer)]});
            }
            const auto pending = comm.start_exchange(sends, receives);
            EXPECT_THROW(comm.exchange_blocks({}, {}), Error) << "another exchange is under way";
            pending->wait();
            check_blocks(comm, all({400, 100, 28}), all({400, 100, 0}));
            std::vector<float> values{1};
            comm.all_reduce(std::span(values));
            EXPECT_EQ(values[0], static_cast<float>(comm.size()));
            check_blocks(comm, all({40, 100, 0}), all({40, 100, 28}));
            for (const Bytes& bytes : in) EXPECT_EQ(bytes, out);
        }
    });
}

TEST_P(Contract, BlocksInGroups) {
    on_ranks([](Communicator& comm) {
        const std::unique_ptr<Communicator> half = comm.split(comm.rank() % 2, -comm.rank());
        for (std::size_t round = 1; round < 6; ++round) {
            check_blocks(*half, all({400 * round, 128, 128}), all({400 * round, 128, 0}));
            check_blocks(comm, all({90 * round, 128, 0}), all({90 * round, 128, 64}));
        }
    });
}

TEST_P(Contract, BlocksRefuseWrongPeersOnEveryRank) {
    on_ranks([](Communicator& comm) {
        const std::vector<SendBlock> outside{{comm.size(), {}, {}}};
        EXPECT_THROW(comm.exchange_blocks(outside, {}), Error);
        const std::vector<ReceiveBlock> twice{{0, {}, {}}, {0, {}, {}}};
        EXPECT_THROW(comm.exchange_blocks({}, twice), Error);
        Bytes bytes(8);
        const SendBlock longer{comm.rank(), {bytes.data(), 1, 5, 5}, {}};
        const ReceiveBlock shorter{comm.rank(), {bytes.data(), 1, 3, 3}, {}};
        EXPECT_THROW(comm.exchange_blocks({&longer, 1}, {&shorter, 1}), Error);
    });
}

TEST_P(Contract, CountingCountsBlocksAsMessages) {
    on_ranks([](Communicator& comm) {
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        check_blocks(counting, all({6, 35, 3}), all({10, 21, 5}));
        const int others = comm.size() - 1;
        EXPECT_EQ(traffic, (Traffic{210L * others, 210L * others, 1L * others}));
    });
}

}  // namespace
}  // namespace gnnplan::comm
