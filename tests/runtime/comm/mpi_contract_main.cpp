// Runs the contract on MPI processes: every rank runs every test, in the same order.
//   mpi_contract [--largest-message BYTES] [GoogleTest flags]
#include "contract.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/mpi.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdio>
#include <cstring>

namespace gnnplan::comm {
namespace {

MpiEnvironment* environment = nullptr;  // set by main before the tests run

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

}  // namespace
}  // namespace gnnplan::comm

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
