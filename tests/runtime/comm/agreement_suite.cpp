#include "contract.hpp"

#include <gnnplan/base/error.hpp>

#include <limits>
#include <stdexcept>

namespace gnnplan::comm {
namespace {

// The error of agree() on this rank; a test fails if there is none.
AgreedError caught(Communicator& comm, const std::function<void()>& work) {
    try {
        agree(comm, work);
    } catch (const AgreedError& error) {
        return error;
    }
    ADD_FAILURE() << "rank " << comm.rank() << " has not heard of the failure";
    return {ErrorCode::internal, "none"};
}

TEST_P(Contract, AgreeIsSilentWhenAllSucceed) {
    on_ranks([](Communicator& comm) {
        int calls = 0;
        agree(comm, [&] { ++calls; });
        EXPECT_EQ(calls, 1);
    });
}

TEST_P(Contract, AgreeThrowsTheSameErrorOnEveryRank) {
    on_ranks([](Communicator& comm) {
        const Error expected(ErrorCode::missing_input, "cannot be read", "edges.npz", "check the path");
        const AgreedError error = caught(comm, [&] {
            if (comm.rank() == comm.size() - 1) throw Error(expected);
        });
        EXPECT_EQ(error.code(), expected.code());
        EXPECT_STREQ(error.what(), expected.what());
        EXPECT_EQ(error.where(), expected.where());
        EXPECT_EQ(error.hint(), expected.hint());
        EXPECT_NO_THROW(agree(comm, [] {}));  // the communicator is as good as before
    });
}

TEST_P(Contract, AgreeChoosesTheLowestFailingRank) {
    on_ranks([](Communicator& comm) {
        const AgreedError error = caught(comm, [&] {
            if (comm.rank() > 0 || comm.size() == 1)
                throw Error(ErrorCode::data, "rank " + std::to_string(comm.rank()));
        });
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_STREQ(error.what(), comm.size() == 1 ? "rank 0" : "rank 1");
    });
}

TEST_P(Contract, AgreeTurnsOtherExceptionsIntoInternalErrors) {
    on_ranks([](Communicator& comm) {
        const AgreedError standard = caught(comm, [] { throw std::runtime_error("some cause"); });
        EXPECT_EQ(standard.code(), ErrorCode::internal);
        EXPECT_STREQ(standard.what(), "some cause");
        EXPECT_EQ(caught(comm, [] { throw 1; }).code(), ErrorCode::internal);
        EXPECT_EQ(caught(comm, [] { throw Error(ErrorCode::io, ""); }).code(), ErrorCode::io);
    });
}

TEST_P(Contract, ControlAllGatherKeepsRankOrderAndBytes) {
    on_ranks([](Communicator& comm) {
        const auto text_of = [](int rank, int round) {
            return rank % 3 == 1 ? std::string() : std::string(static_cast<std::size_t>(rank + round), '\0') + "x";
        };
        for (int round = 0; round < 20; ++round) {
            const std::vector<std::string> texts = comm.control_all_gather(text_of(comm.rank(), round));
            ASSERT_EQ(texts.size(), static_cast<std::size_t>(comm.size()));
            for (int rank = 0; rank < comm.size(); ++rank)
                EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank, round));
        }
        comm.barrier();
    });
}

TEST_P(Contract, ControlMaxIsExact) {
    on_ranks([](Communicator& comm) {
        const double last = comm.size() - 1;
        EXPECT_EQ(control_max(comm, comm.rank() / 3.0), last / 3.0);
        EXPECT_EQ(control_max(comm, -1e-300 * (comm.rank() + 1)), -1e-300);
        const double infinity = std::numeric_limits<double>::infinity();
        EXPECT_EQ(control_max(comm, comm.rank() == 0 ? infinity : 1.0), infinity);
    });
}

}  // namespace
}  // namespace gnnplan::comm
