#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <cmath>
#include <cstring>

namespace gnnplan::comm {
namespace {

constexpr int lengths[] = {0, 1, 2, 3, 5, 7, 8, 9, 16, 61, 1000, 100'003};

template <class T>
std::string bits_of(const std::vector<T>& values) {
    std::string bits(values.size() * sizeof(T), '\0');
    if (!values.empty()) std::memcpy(bits.data(), values.data(), bits.size());
    return bits;
}

void expect_same_on_all(Communicator& comm, const std::string& bits) {
    for (const std::string& other : comm.control_all_gather(bits)) EXPECT_TRUE(other == bits) << "bits differ";
}

// Small integers: every order of summation gives the same sum.
template <class T>
void check_exact_sums(Communicator& comm) {
    for (const int length : lengths) {
        const auto term = [](int rank, int i) { return static_cast<T>((rank + 1) * (i % 17) - rank); };
        std::vector<T> values(static_cast<std::size_t>(length));
        for (int i = 0; i < length; ++i) values[static_cast<std::size_t>(i)] = term(comm.rank(), i);
        comm.all_reduce(std::span(values));
        for (int i = 0; i < length; ++i) {
            T sum = 0;
            for (int rank = 0; rank < comm.size(); ++rank) sum += term(rank, i);
            ASSERT_EQ(values[static_cast<std::size_t>(i)], sum) << "length " << length << ", element " << i;
        }
    }
}

// The squares in these sums are out of the range of floats.
void check_square_sums(Communicator& comm) {
    for (const int length : lengths) {
        const auto term = [](int rank, int i) {
            return (1 + (3 * rank + i) % 5) * std::pow(10.0, 2.0 * (i % 70 - 38));
        };
        std::vector<kernels::SquareSum> values(static_cast<std::size_t>(length));
        for (int i = 0; i < length; ++i)
            values[static_cast<std::size_t>(i)] = kernels::SquareSum::of(term(comm.rank(), i));
        comm.all_reduce(std::span(values));
        for (int i = 0; i < length; ++i) {
            double sum = 0;
            for (int rank = 0; rank < comm.size(); ++rank) sum += term(rank, i);
            ASSERT_NEAR(std::pow(values[static_cast<std::size_t>(i)].length(), 2) / sum, 1, 1e-6 * comm.size())
                << "length " << length << ", element " << i;
        }
        expect_same_on_all(comm, bits_of(values));
    }
}

// Terms of very different size: another order of summation would show.
template <class T>
std::vector<T> reduce_rough_values(Communicator& comm, int length) {
    std::vector<T> values(static_cast<std::size_t>(length));
    for (int i = 0; i < length; ++i)
        values[static_cast<std::size_t>(i)] =
            static_cast<T>(1.0 / (3 + i + 7 * comm.rank())) * static_cast<T>((i + comm.rank()) % 3 == 0 ? 1e6 : -0.1);
    comm.all_reduce(std::span(values));
    return values;
}

template <class T>
void check_same_bits(Communicator& comm) {
    for (const int length : {1, 3, 8, 61, 1000, 10'007}) {
        const std::string once = bits_of(reduce_rough_values<T>(comm, length));
        expect_same_on_all(comm, once);
        EXPECT_TRUE(bits_of(reduce_rough_values<T>(comm, length)) == once) << "a second run gives other bits";
    }
}

TEST_P(Contract, AllReduceSumsSquaresOfAnySize) { on_ranks(check_square_sums); }

TEST_P(Contract, AllReduceSumsExactly) {
    on_ranks(check_exact_sums<float>);
    on_ranks(check_exact_sums<double>);
}

TEST_P(Contract, AllReduceGivesTheSameBitsOnEveryRankAndEveryTime) {
    on_ranks(check_same_bits<float>);
    on_ranks(check_same_bits<double>);
}

TEST_P(Contract, BroadcastFromEveryRoot) {
    on_ranks([](Communicator& comm) {
        for (int root = 0; root < comm.size(); ++root)
            for (const int length : lengths) {
                std::vector<std::byte> bytes(static_cast<std::size_t>(length));
                if (comm.rank() == root)
                    for (std::size_t i = 0; i < bytes.size(); ++i)
                        bytes[i] = static_cast<std::byte>(i + static_cast<std::size_t>(root));
                comm.broadcast(root, bytes);
                bool right = true;
                for (std::size_t i = 0; i < bytes.size(); ++i)
                    right = right && bytes[i] == static_cast<std::byte>(i + static_cast<std::size_t>(root));
                EXPECT_TRUE(right) << "root " << root << ", length " << length;
            }
    });
}

TEST_P(Contract, SplitMakesGroupsOrderedByKeyThenRank) {
    on_ranks([](Communicator& comm) {
        const int me = comm.rank();
        const auto colour_of = [](int rank) { return rank % 2; };
        // Highest rank first, except that ranks 4 and above share a key and so keep their order.
        const auto key_of = [](int rank) { return rank < 4 ? -rank : 1; };
        const std::unique_ptr<Communicator> group = comm.split(colour_of(me), key_of(me));
        int expected_rank = 0;
        int expected_size = 0;
        std::string expected_members;
        for (int rank = 0; rank < comm.size(); ++rank) {
            if (colour_of(rank) != colour_of(me)) continue;
            ++expected_size;
            if (std::pair(key_of(rank), rank) < std::pair(key_of(me), me)) ++expected_rank;
        }
        EXPECT_EQ(group->rank(), expected_rank);
        EXPECT_EQ(group->size(), expected_size);

        // The groups work at the same time, and the parent still does.
        std::vector<double> sum{static_cast<double>(me)};
        group->all_reduce(std::span(sum));
        double expected_sum = 0;
        for (int rank = colour_of(me); rank < comm.size(); rank += 2) expected_sum += rank;
        EXPECT_EQ(sum[0], expected_sum);
        EXPECT_EQ(comm.control_all_gather("x").size(), static_cast<std::size_t>(comm.size()));
    });
}

TEST_P(Contract, SplitOfSplit) {
    on_ranks([](Communicator& comm) {
        for (int round = 0; round < 3; ++round) {
            const auto row = comm.split(comm.rank() / 4, comm.rank());
            const auto pair = row->split(row->rank() / 2, -row->rank());
            std::vector<std::byte> byte{static_cast<std::byte>(comm.rank())};
            pair->broadcast(pair->size() - 1, byte);
            EXPECT_EQ(byte[0], static_cast<std::byte>(comm.rank() / 2 * 2));  // the last of a pair is its lower rank
            const auto alone = comm.split(comm.rank(), 0);
            EXPECT_EQ(alone->size(), 1);
        }
        EXPECT_THROW(comm.split(-1, 0), std::exception);
    });
}

// A node's name is the lowest rank on it, the same in a group and on every rank.
TEST_P(Contract, NodesOfAGroupAreThoseOfAll) {
    on_ranks([](Communicator& comm) {
        const std::vector<int> nodes = comm.nodes();
        ASSERT_EQ(nodes.size(), static_cast<std::size_t>(comm.size()));
        std::string text;
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
            EXPECT_LE(nodes[rank], static_cast<int>(rank));
            EXPECT_EQ(nodes[static_cast<std::size_t>(nodes[rank])], nodes[rank]);
            text += std::to_string(nodes[rank]) + " ";
        }
        expect_same_on_all(comm, text);
        const auto reversed = comm.split(0, -comm.rank());
        const std::vector<int> again = reversed->nodes();
        const auto same = [](const std::vector<int>& of, int one, int other) {
            return of[static_cast<std::size_t>(one)] == of[static_cast<std::size_t>(other)];
        };
        const int last = comm.size() - 1;
        for (int one = 0; one <= last; ++one)
            for (int other = 0; other <= last; ++other)
                EXPECT_EQ(same(nodes, one, other), same(again, last - one, last - other));
        const RanksHere here = ranks_here(comm);
        EXPECT_GT(here.count, here.before_this);
        EXPECT_EQ(here.before_this == 0, nodes[static_cast<std::size_t>(comm.rank())] == comm.rank());
    });
}

TEST_P(Contract, CountingFollowsTheFlatBroadcast) {
    on_ranks([](Communicator& comm) {
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        std::vector<std::byte> bytes(123);
        const int root = comm.size() - 1;
        counting.broadcast(root, bytes);
        counting.broadcast(root, {});
        const int others = comm.size() - 1;
        EXPECT_EQ(traffic, (comm.rank() == root ? Traffic{123L * others, 0, others} : Traffic{0, 123, 0}));
    });
}

TEST_P(Contract, CountingFollowsTheRingAndItsSplits) {
    on_ranks([](Communicator& comm) {
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        std::vector<float> floats(61);
        counting.all_reduce(std::span(floats));
        Traffic expected = ring_all_reduce_traffic(61, 4, comm.rank(), comm.size());
        EXPECT_EQ(traffic, expected);
        const auto half = counting.split(comm.rank() % 2, 0);
        std::vector<double> doubles(7);
        half->all_reduce(std::span(doubles));
        expected += ring_all_reduce_traffic(7, 8, half->rank(), half->size());
        EXPECT_EQ(traffic, expected);
    });
}

}  // namespace
}  // namespace gnnplan::comm
