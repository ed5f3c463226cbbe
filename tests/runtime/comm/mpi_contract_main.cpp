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

// Rank 1 gives up in the middle of an exchange: what rank 0 sends it later must not go where it was expected then.
TEST(MpiEnvironment, AfterAnErrorNothingWritesToBuffers) {
    Communicator& comm = environment->world();
    const std::vector<std::byte> out(8, std::byte{7});
    std::vector<std::byte> abandoned(8);
    if (comm.rank() == 1) {
        const Receive receive{0, abandoned};
        const Send send{0, out};
        sends_fail = true;
        EXPECT_THROW(comm.exchange({&send, 1}, {&receive, 1}), Error);
        sends_fail = false;
    }
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

}  // namespace
}  // namespace gnnplan::comm

// MPI's profiling interface: the program's own function takes the place of the library's.
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    if (gnnplan::comm::sends_fail) return MPI_ERR_OTHER;
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
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
