#include "runtime/comm/mpi.hpp"

#include "runtime/comm/mpi_communicator.hpp"
#include "runtime/comm/mpi_greeting.hpp"
#include "runtime/comm/room.hpp"

#include <gnnplan/base/known_error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace gnnplan::comm {
namespace {

// Open MPI over TCP sends messages of at most this many bytes unasked, larger ones when the receiver says so, and all
// on the one connection of a pair. With the library's 64 KiB, permission to send waits behind a quarter of a megabyte
// of such messages when the pieces of an overlapped product go one way and its larger pieces the other. Any value that
// the user has given stays.
void keep_unasked_messages_short() { setenv("OMPI_MCA_btl_tcp_eager_limit", "16384", 0); }

}  // namespace

MpiEnvironment::MpiEnvironment(std::int64_t largest_message_bytes, std::shared_ptr<MpiStart> start)
    : start_(start ? std::move(start) : std::make_shared<MpiStart>()) {
    ensure(largest_message_bytes >= 8 && largest_message_bytes <= std::numeric_limits<int>::max(),
           "MPI messages: the largest must have 8 to 2^31 - 1 bytes");
    // With less than about 200 MiB of addresses Open MPI fails, crashes or hangs while it starts.
    require_room(std::size_t{256} << 20);
    keep_unasked_messages_short();
    const Waiting waiting(start_->heartbeat());
    start_->heartbeat().enter(Heartbeat::starting);
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED)
        throw Error(ErrorCode::unavailable, "the library does not support threads inside a rank", "MPI",
                    "MPI_THREAD_FUNNELED is needed");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    greet_others(*start_);
    start_->heartbeat().enter(Heartbeat::joining);
    OwnedComm data = OwnedComm::duplicate(MPI_COMM_WORLD, data_name);
    OwnedComm control = OwnedComm::duplicate(MPI_COMM_WORLD, control_name);
    OwnedComm node = OwnedComm::split_by_node(control.get(), "gnnplan node");
    const int first_of_node = node.gather(control.rank()).front();
    std::shared_ptr<NodeRings> rings = NodeRings::create(std::move(node), note_);
    world_ = std::make_unique<MpiCommunicator>(std::move(data), std::move(control),
                                               static_cast<std::size_t>(largest_message_bytes),
                                               MpiNode{first_of_node, std::move(rings)}, start_->heartbeat());
}

MpiEnvironment::~MpiEnvironment() {
    const Waiting waiting(start_->heartbeat());
    start_->heartbeat().enter(Heartbeat::leaving);
    world_.reset();
    MPI_Finalize();
}

void MpiEnvironment::abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();  // MPI_Abort does not return; the compiler cannot know
}

int MpiEnvironment::run_or_abort(const std::function<int()>& work) {
    const auto say = [](int rank, const char* what) noexcept {
        std::fprintf(stderr, "error: rank %d: %s\n", rank, what);
    };
    return run_or_abort(say, work);
}

int MpiEnvironment::run_or_abort(Say* say, const std::function<int()>& work) {
    const auto fail = [&](const char* what, ErrorCode code) {
        say(world_->rank(), what);
        abort(static_cast<int>(code));
    };
    try {
        return work();
    } catch (const AgreedError&) {
        throw;
    } catch (const Error& error) {
        fail(error.what(), error.code());
    } catch (const std::exception& failure) {
        const std::optional<Error> known = known_error(failure);
        fail(known ? known->what() : failure.what(), known ? known->code() : ErrorCode::internal);
    } catch (...) {
        fail("unknown exception", ErrorCode::internal);
    }
    std::abort();  // fail() does not return; the compiler cannot know
}

std::string MpiEnvironment::library_version() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    return text.substr(0, std::min(text.find_first_of(",\n"), static_cast<std::size_t>(length)));
}

}  // namespace gnnplan::comm
