// Messages that stay with their senders: where ranks share memory they are read there, elsewhere there is no loan.
#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::comm {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int lent_to_each = 3;  // messages

// Each message has another length; the first may be empty.
Bytes lent_message(int round, int from, int to, int number) {
    return Bytes(static_cast<std::size_t>(100 * number + 7 * to),
                 static_cast<std::byte>(64 * round + 8 * from + number));
}

// The messages that a rank lends to all others, and those that it expects of them.
struct AllLend {
    std::vector<Bytes> own;
    std::vector<Send> sends;
    std::vector<Receive> receives;
    std::vector<Bytes> expected;

    AllLend(const Communicator& comm, int round) {
        own.reserve(static_cast<std::size_t>(lent_to_each * comm.size()));
        for (int number = 0; number < lent_to_each; ++number) {
            for (int peer = 0; peer < comm.size(); ++peer) {
                if (peer == comm.rank()) continue;
                own.push_back(lent_message(round, comm.rank(), peer, number));
                sends.push_back({peer, own.back()});
                expected.push_back(lent_message(round, peer, comm.rank(), number));
                receives.push_back({peer, {static_cast<std::byte*>(nullptr), expected.back().size()}});
            }
        }
    }
};

TEST_P(Contract, LentMessagesAreThoseOfTheirSenders) {
    on_ranks([](Communicator& comm) {
        for (int round = 0; round < 3; ++round) {
            const AllLend all(comm, round);
            const std::unique_ptr<Loan> loan = comm.lend(all.sends, all.receives);
            const auto answers = comm.control_all_gather(loan ? "lends" : "does not");
            for (const std::string& answer : answers) EXPECT_EQ(answer, answers.front());
            if (!loan) return;
            for (std::size_t i = all.expected.size(); i-- > 0;) {
                const auto found = loan->received(i);
                EXPECT_TRUE(Bytes(found.begin(), found.end()) == all.expected[i]) << "message " << i;
            }
            loan->end();
        }
    });
}

TEST_P(Contract, LentMessagesCountAsIfTheyTravelled) {
    on_ranks([](Communicator& comm) {
        const AllLend all(comm, 0);
        Traffic lent, expected;
        CountingCommunicator counting(comm, lent);
        const std::unique_ptr<Loan> loan = counting.lend(all.sends, all.receives);
        for (const Send& send : all.sends) expected.sent(loan ? std::ssize(send.bytes) : 0);
        for (const Bytes& bytes : all.expected) expected.received(loan ? std::ssize(bytes) : 0);
        EXPECT_EQ(lent, expected);
        if (loan) loan->end();
    });
}

}  // namespace
}  // namespace gnnplan::comm
