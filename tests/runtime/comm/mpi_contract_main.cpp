// Runs the contract on MPI processes: every rank runs every test, in the same order.
//   mpi_contract [--largest-message BYTES] [--no-shared-memory | --two-nodes] [--own-names] [GoogleTest flags]
#include "contract.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/comm/mpi_comm.hpp"

#include <gnnplan/base/error.hpp>

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

namespace gnnplan::comm {
namespace {

MpiEnvironment* environment = nullptr;  // set by main before the tests run
bool waits_fail = false;                // set by a test while MPI_Waitall shall fail
bool all_complete = false;              // what MPI_Testall has said last
int waits = 0;                          // calls of MPI_Waitall
int messages = 0;                       // calls of MPI_Isend
std::string started;                    // s and r: calls of MPI_Isend and MPI_Irecv, in their order
bool no_shared_memory = false;          // set by main while MPI_Win_allocate_shared shall fail
bool own_names = false;                 // set by main where each rank has a host name of its own
bool two_nodes = false;                 // set by main while even and odd ranks shall be on different nodes

INSTANTIATE_TEST_SUITE_P(All, Contract,
                         testing::Values(Ranks{"Mpi", [](const Body& body) { body(environment->world()); }}), name_of);

TEST(MpiEnvironment, KnowsItsLauncherAndLibrary) {
    EXPECT_TRUE(launched_by_mpi());
    EXPECT_FALSE(MpiEnvironment::library_version().empty());
}

// Even and odd ranks where the program was told so, else all: whether memory is shared or not, and whatever their hosts
// are called.
TEST(MpiEnvironment, NodesAreThoseOfTheSharedMemorySplit) {
    Communicator& comm = environment->world();
    std::vector<int> expected;
    for (int rank = 0; rank < comm.size(); ++rank) expected.push_back(two_nodes ? rank % 2 : 0);
    EXPECT_EQ(comm.nodes(), expected);
    const RanksHere here = ranks_here(comm);
    EXPECT_EQ(here.count, two_nodes ? (comm.size() + 1 - comm.rank() % 2) / 2 : comm.size());
    EXPECT_EQ(here.before_this, two_nodes ? comm.rank() / 2 : comm.rank());
    std::array<char, 64> host{};
    gethostname(host.data(), host.size());
    const auto hosts = comm.control_all_gather(host.data());
    EXPECT_EQ(std::set(hosts.begin(), hosts.end()).size(), own_names ? hosts.size() : 1);
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

// Else the two directions of a slow link take turns with large messages (mpi_exchange.hpp).
TEST(MpiEnvironment, SendsAreStartedBeforeReceives) {
    Communicator& comm = environment->world();
    const std::vector<std::byte> out(40, std::byte{5});
    std::vector<std::byte> in(out.size());
    const Send send{(comm.rank() + 1) % comm.size(), out};
    const Receive receive{(comm.rank() + comm.size() - 1) % comm.size(), in};
    started.clear();
    comm.exchange({&send, 1}, {&receive, 1});
    EXPECT_EQ(started, "sr");
    EXPECT_EQ(in, out);
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
        const Receive receive{0, abandoned};
        waits_fail = true;
        EXPECT_THROW(environment->world().exchange({}, {&receive, 1}), Error);
        waits_fail = false;
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

// Sends `sent` bytes to the next rank, expects `expected` from the previous one.
void pass_on(Communicator& comm, std::size_t sent, std::size_t expected) {
    std::vector<std::byte> out(sent, std::byte{5});
    std::vector<std::byte> in(expected);
    const SendBlock send{(comm.rank() + 1) % comm.size(), one_row(std::span<const std::byte>(out)), {}};
    const ReceiveBlock receive{(comm.rank() + comm.size() - 1) % comm.size(), one_row(std::span(in)), {}};
    comm.exchange_blocks({&send, 1}, {&receive, 1});
    EXPECT_EQ(in, out);
}

TEST(MpiEnvironment, BlocksTravelThroughSharedMemoryIfThereIsAny) {
    messages = 0;
    pass_on(environment->world(), 50, 50);
    const bool near = !two_nodes || environment->world().size() % 2 == 1;  // the last passes on to the first
    if (near && two_nodes) return;                                         // some are, some are not
    EXPECT_EQ(messages, no_shared_memory || !near ? 1 : 0);
}

// A rank that expects another length than is sent says so, and the next exchange is none the worse for it.
TEST(MpiEnvironment, BlocksOfWrongLengthsAreErrors) {
    Communicator& comm = environment->world();
    EXPECT_THROW(pass_on(comm, 3, 4), Error);
    comm.barrier();
    if (!no_shared_memory && !two_nodes) {  // as plain messages, one that is too long leaves MPI in an unknown state
        EXPECT_THROW(pass_on(comm, 1'000'000, 4), Error);
        comm.barrier();
    }
    pass_on(comm, 700'000, 700'000);
}

// Ranks that wait in the rings move the messages of other communicators, which others may be waiting for.
TEST(MpiEnvironment, BlocksLetOtherExchangesProgress) {
    Communicator& comm = environment->world();
    const std::unique_ptr<Communicator> other = comm.split(0, 0);
    const int peer = comm.rank() ^ 1;
    if (peer >= comm.size()) return;
    const std::vector<std::byte> out(400'000, std::byte{5});
    std::vector<std::byte> in(out.size());
    const Send send{peer, out};
    const Receive receive{peer, in};
    const auto pending = other->start_exchange({&send, 1}, {&receive, 1});
    const auto blocks = [&] {
        std::vector<std::byte> arriving(out.size());
        const SendBlock outward{peer, one_row(std::span(out)), {}};
        const ReceiveBlock inward{peer, one_row(std::span(arriving)), {}};
        comm.exchange_blocks({&outward, 1}, {&inward, 1});
        EXPECT_EQ(arriving, out);
    };
    if (comm.rank() % 2 == 0) blocks();
    pending->wait();
    if (comm.rank() % 2 == 1) blocks();
    EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace gnnplan::comm

// MPI's profiling interface: the program's own functions take the place of the library's.
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    ++gnnplan::comm::messages;
    gnnplan::comm::started += 's';
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
    gnnplan::comm::started += 'r';
    return PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
}

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    if (!gnnplan::comm::two_nodes) return PMPI_Comm_split_type(comm, type, key, info, made);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank % 2, key, made);
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                       MPI_Win* window) {
    if (gnnplan::comm::no_shared_memory) return MPI_ERR_NO_MEM;
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}

extern "C" int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    const int result = PMPI_Testall(count, requests, flag, statuses);
    gnnplan::comm::all_complete = *flag != 0;
    return result;
}

extern "C" int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (gnnplan::comm::waits_fail) return MPI_ERR_OTHER;
    ++gnnplan::comm::waits;
    return PMPI_Waitall(count, requests, statuses);
}

namespace {

// As containers do. An ordinary user has to be in a user namespace of its own. False where the system refuses.
bool take_own_name(int rank) {
    const std::string name = "container" + std::to_string(rank);
    return (unshare(CLONE_NEWUTS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWUTS) == 0) &&
           sethostname(name.data(), name.size()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace gnnplan::comm;
    testing::InitGoogleTest(&argc, argv);
    // An exception that escapes a test on one rank would leave the others waiting.
    GTEST_FLAG_SET(catch_exceptions, false);
    std::int64_t largest = std::int64_t{1} << 30;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--largest-message") == 0 && i + 1 < argc) largest = std::atoll(argv[i + 1]);
        no_shared_memory |= std::strcmp(argv[i], "--no-shared-memory") == 0;
        two_nodes |= std::strcmp(argv[i], "--two-nodes") == 0;
        own_names |= std::strcmp(argv[i], "--own-names") == 0;
    }
    if (own_names && !take_own_name(rank_of_launcher())) {
        std::puts("skipped: the system gives no namespace for host names");
        return 77;
    }
    MpiEnvironment mpi(largest);
    try {
        environment = &mpi;
        const int failed = RUN_ALL_TESTS();
        return control_max(mpi.world(), failed) == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
        mpi.abort(1);
    }
}
