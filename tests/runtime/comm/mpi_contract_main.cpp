// Runs the contract on MPI processes: every rank runs every test, in the same order.
//   mpi_contract [--largest-message BYTES] [GoogleTest flags]
#include "contract.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/comm/mpi_comm.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdio>
#include <cstring>

namespace gnnplan::comm {
namespace {

MpiEnvironment* environment = nullptr;  // set by main before the tests run
bool sends_fail = false;                // set by a test while MPI_Isend shall fail
bool all_complete = false;              // what MPI_Testall has said last
int waits = 0;                          // calls of MPI_Waitall

INSTANTIATE_TEST_SUITE_P(All, Contract,
                         testing::Values(Ranks{"Mpi", [](const Body& body) { body(environment->world()); }}), name_of);

TEST(MpiEnvironment, KnowsItsLauncherAndLibrary) {
    EXPECT_TRUE(launched_by_mpi());
    EXPECT_FALSE(MpiEnvironment::library_version().empty());
}

// A receiver that expects more than is sent, which MPI itself would accept.
TEST(MpiEnvironment, ShortMessagesAreErrors) {
    Communicator& comm = environment->world();
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<std::byte> out(3);
    std::vector<std::byte> in(4);
    const Send send{next, out};
    const Receive receive{previous, in};
    EXPECT_THROW(comm.exchange({&send, 1}, {&receive, 1}), Error);
}

// The same, found out by progress() rather than wait().
TEST(MpiEnvironment, ShortMessagesOfStartedExchangesAreErrors) {
    Communicator& comm = environment->world();
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    const std::vector<std::byte> out(3);
    std::vector<std::byte> in(4);
    const Send send{next, out};
    const Receive receive{previous, in};
    const auto pending = comm.start_exchange({&send, 1}, {&receive, 1});
    for (all_complete = false; !all_complete;) pending->progress();
    EXPECT_THROW(pending->wait(), Error);
}

// progress() alone brings a message home that is too large to be sent before the receiver is there.
TEST(MpiEnvironment, ProgressMovesBytes) {
    Communicator& comm = environment->world();
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    const std::vector<std::byte> out(200'000, std::byte{5});
    std::vector<std::byte> in(out.size());
    const Send send{next, out};
    const Receive receive{previous, in};
    const auto pending = comm.start_exchange({&send, 1}, {&receive, 1});
    for (all_complete = false; !all_complete;) pending->progress();
    EXPECT_EQ(in, out);
    waits = 0;
    pending->wait();
    EXPECT_EQ(waits, 0) << "nothing is left to wait for";
}

// Rank 1 gives up an exchange: what rank 0 sends it later must not go where it was expected then.
void expect_nothing_is_written_after(const std::function<void(std::span<std::byte> abandoned)>& give_up) {
    Communicator& comm = environment->world();
    const std::vector<std::byte> out(8, std::byte{7});
    std::vector<std::byte> abandoned(8);
    if (comm.rank() == 1) give_up(abandoned);
    comm.barrier();
    if (comm.rank() == 0) {
        const Send send{1, out};
        comm.exchange({&send, 1}, {});
    }
    comm.control_all_gather("");  // rank 0's message has arrived by now
    if (comm.rank() != 1) return;
    ASSERT_EQ(abandoned, std::vector<std::byte>(8));
    std::vector<std::byte> in(8);
    const Receive receive{0, in};
    comm.exchange({}, {&receive, 1});
    EXPECT_EQ(in, out);
}

TEST(MpiEnvironment, AfterAnErrorNothingWritesToBuffers) {
    expect_nothing_is_written_after([](std::span<std::byte> abandoned) {
        const std::vector<std::byte> out(8);
        const Receive receive{0, abandoned};
        const Send send{0, out};
        sends_fail = true;
        EXPECT_THROW(environment->world().exchange({&send, 1}, {&receive, 1}), Error);
        sends_fail = false;
    });
}

TEST(MpiEnvironment, AnExchangeGivenUpWritesToNoBuffers) {
    expect_nothing_is_written_after([](std::span<std::byte> abandoned) {
        const std::vector<Receive> receives{{0, abandoned.first(5)}, {0, abandoned.last(3)}};
        const auto first = environment->world().start_exchange({}, std::span(receives).first(1));
        const auto second = environment->world().start_exchange({}, std::span(receives).last(1));
        first->progress();
    });
}

}  // namespace
}  // namespace gnnplan::comm

// MPI's profiling interface: the program's own functions take the place of the library's.
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    if (gnnplan::comm::sends_fail) return MPI_ERR_OTHER;
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    const int result = PMPI_Testall(count, requests, flag, statuses);
    gnnplan::comm::all_complete = *flag != 0;
    return result;
}

extern "C" int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    ++gnnplan::comm::waits;
    return PMPI_Waitall(count, requests, statuses);
}

int main(int argc, char** argv) {
    using namespace gnnplan::comm;
    testing::InitGoogleTest(&argc, argv);
    // An exception that escapes a test on one rank would leave the others waiting.
    GTEST_FLAG_SET(catch_exceptions, false);
    const bool has_largest = argc == 3 && std::strcmp(argv[1], "--largest-message") == 0;
    MpiEnvironment mpi(has_largest ? std::atoll(argv[2]) : std::int64_t{1} << 30);
    try {
        environment = &mpi;
        const int failed = RUN_ALL_TESTS();
        return control_max(mpi.world(), failed) == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
        mpi.abort(1);
    }
}
