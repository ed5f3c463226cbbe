// Reading guide: the window is a means to get memory that all ranks of the node see, and every rank's part of it holds
// the rings that end at that rank. The rings' atomic counts order the bytes in it, not calls of MPI; the
// standard allows that where the window's memory model is the unified one.
#include "runtime/comm/node_rings.hpp"

#include "runtime/comm/ring_transfer.hpp"
#include "runtime/comm/room.hpp"

#include <gnnplan/base/memory_text.hpp>

#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace gnnplan::comm {
namespace {

// Rings small enough to stay in a core's second-level cache, and together no more than a container's /dev/shm may have.
constexpr std::size_t largest_ring = 256 << 10;
constexpr std::size_t smallest_ring = 4 << 10;
constexpr std::size_t largest_window = 32 << 20;

std::size_t ring_capacity(int ranks) {
    const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return std::clamp(std::bit_floor(largest_window / pairs), smallest_ring, largest_ring);
}

// Rings of a pair, over which a long message goes at the same time: as many as the window has room for.
std::size_t lane_count(int ranks) {
    constexpr std::size_t most_lanes = 4;
    const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return std::clamp<std::size_t>(largest_window / (pairs * largest_ring), 1, most_lanes);
}

constexpr std::size_t heartbeat_bytes = SharedRing::line;
static_assert(sizeof(Heartbeat) <= heartbeat_bytes);

// Beyond that many ranks the smallest rings together are more than /dev/shm may hold, and a store behind its end kills
// the process.
bool worth_while(int ranks) {
    const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    return SharedRing::bytes(ring_capacity(ranks)) * pairs <= largest_window + largest_window / 2;
}

std::byte* aligned_to_lines(void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return static_cast<std::byte*>(memory) + (SharedRing::line - address % SharedRing::line) % SharedRing::line;
}

bool is_unified(MPI_Win window) {
    int* model = nullptr;
    int found = 0;
    return MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found != 0 &&
           *model == MPI_WIN_UNIFIED;
}

// Whether it holds on all ranks.
bool everywhere(bool here, const OwnedComm& comm) {
    int all = here ? 1 : 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
    return all != 0;
}

// Where MPI libraries lay the memory of shared windows. Where it cannot be written they take another place.
std::string window_folder() {
    const char* chosen = std::getenv("OMPI_MCA_osc_sm_backing_directory");
    return chosen != nullptr ? chosen : "/dev/shm";
}

// Bytes that are free there; unset where it is not for us to judge. It has to be known before the window is asked for:
// where it does not fit, Open MPI tells one rank only, and the others wait for that one inside the call, forever.
std::optional<std::size_t> room_for_windows() {
    struct statvfs status {};
    const std::string folder = window_folder();
    if (::access(folder.c_str(), W_OK) != 0 || ::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

// Gets the memory behind the addresses now. A store into a page that is not to be had later kills the process.
bool populate(void* memory, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    constexpr int populate_write = MADV_POPULATE_WRITE;
#else
    constexpr int populate_write = 23;  // since Linux 5.14
#endif
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(memory) % page;  // on the first page
    std::byte* begin = static_cast<std::byte*>(memory) - before;
    const std::size_t whole_pages = (before + bytes + page - 1) / page * page;
    // An older kernel does not know the request: the pages then come as they are used.
    return ::madvise(begin, whole_pages, populate_write) == 0 || errno == EINVAL;
}

// Ranks share cores when there are more of them than cores, and a peer may need this rank's MPI to get on.
void wait_a_little(MPI_Comm comm) {
    int flag = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
    sched_yield();
}

}  // namespace

NodeRings::NodeRings(OwnedComm node)
    : node_(std::move(node)), rank_(node_.rank()), size_(node_.size()), lanes_(lane_count(size_)) {}

NodeRings::~NodeRings() {
    if (window_ == MPI_WIN_NULL) return;
    if (locked_) MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

std::shared_ptr<NodeRings> NodeRings::create(OwnedComm node, std::string& note) {
    std::shared_ptr<NodeRings> rings(new NodeRings(std::move(node)));
    if (rings->size_ == 1 || !worth_while(rings->size_)) return nullptr;
    const std::size_t window = rings->part_bytes() * static_cast<std::size_t>(rings->size_);
    const std::size_t needed = window + window / 8 + (1U << 20U);  // the library's own pages included
    const std::optional<std::size_t> room = room_for_windows();
    constexpr std::size_t spare = 32U << 20U;  // for what the library maps besides
    const bool fits = (!room || *room >= needed) && has_room(needed + spare);
    if (everywhere(fits, rings->node_) && rings->open()) return rings;
    if (room && *room < needed) {
        const auto text = [](std::size_t bytes) { return memory_text(static_cast<std::int64_t>(bytes)); };
        note = "ranks of this node exchange rows without shared memory, which is slower: " + window_folder() + " has " +
               text(*room) + " free, " + text(needed) + " are needed";
    }
    return nullptr;
}

std::size_t NodeRings::part_bytes() const {
    const std::size_t rings = SharedRing::bytes(ring_capacity(size_)) * static_cast<std::size_t>(size_) * lanes_;
    return rings + heartbeat_bytes + SharedRing::line;  // the last to begin with a whole line
}

// A rank's part of the window has the rings that end there, by sender and lane.
void NodeRings::add_rings(int peer, std::byte* mine, std::byte* theirs) {
    const std::size_t capacity = ring_capacity(size_);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
        const auto from = [&](int rank) {
            return (static_cast<std::size_t>(rank) * lanes_ + lane) * SharedRing::bytes(capacity);
        };
        SharedRing::initialise(mine + from(peer));
        incoming_.emplace_back(mine + from(peer), capacity);
        outgoing_.emplace_back(theirs + from(rank_), capacity);
    }
}

bool NodeRings::open() {
    const std::size_t part = part_bytes();
    const std::size_t rings = part - heartbeat_bytes - SharedRing::line;
    void* memory = nullptr;
    const int status =
        MPI_Win_allocate_shared(checked_cast<MPI_Aint>(part), 1, MPI_INFO_NULL, node_.get(), &memory, &window_);
    if (status != MPI_SUCCESS) window_ = MPI_WIN_NULL;
    if (!everywhere(status == MPI_SUCCESS, node_)) {
        window_ = MPI_WIN_NULL;  // freeing is collective, and not all have it
        return false;
    }
    // From here on nothing is communication, so that a rank on which a call fails can say so to the others.
    bool usable = populate(memory, part) && is_unified(window_) &&
                  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN) == MPI_SUCCESS;
    for (int peer = 0; usable && peer < size_; ++peer) {
        MPI_Aint bytes = 0;
        int unit = 0;
        void* theirs = nullptr;
        // Open MPI's monitoring component gives windows that cannot be asked.
        usable = MPI_Win_shared_query(window_, peer, &bytes, &unit, &theirs) == MPI_SUCCESS;
        if (!usable) break;
        std::byte* const behind_rings = aligned_to_lines(theirs) + rings;
        heartbeats_.push_back(peer == rank_ ? new (behind_rings) Heartbeat
                                            : reinterpret_cast<Heartbeat*>(behind_rings));
        add_rings(peer, aligned_to_lines(memory), aligned_to_lines(theirs));
    }
    if (usable) own_heartbeat()->belongs_to_caller();
    // Nobody uses a ring before it is one: they meet between the two synchronisations.
    if (!everywhere(usable, node_)) return false;
    check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    locked_ = true;
    check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
    check_mpi(MPI_Barrier(node_.get()), "MPI_Barrier");
    check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
    return true;
}

std::vector<int> NodeRings::node_ranks_in(const OwnedComm& comm) const {
    std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
    MPI_Group from = MPI_GROUP_NULL;
    MPI_Group to = MPI_GROUP_NULL;
    check_mpi(MPI_Comm_group(comm.get(), &from), "MPI_Comm_group");
    check_mpi(MPI_Comm_group(node_.get(), &to), "MPI_Comm_group");
    std::vector<int> translated(ranks.size());
    check_mpi(MPI_Group_translate_ranks(from, comm.size(), ranks.data(), to, translated.data()),
              "MPI_Group_translate_ranks");
    check_mpi(MPI_Group_free(&from), "MPI_Group_free");
    check_mpi(MPI_Group_free(&to), "MPI_Group_free");
    std::ranges::replace(translated, MPI_UNDEFINED, -1);
    return translated;
}

void NodeRings::transfer(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives,
                         const OwnMessage& own, const Members& members) {
    const auto lanes_with = [&](std::vector<SharedRing>& rings, int peer) {
        const auto node_rank = static_cast<std::size_t>(members.node_ranks[static_cast<std::size_t>(peer)]);
        return std::span(rings).subspan(node_rank * lanes_, lanes_);
    };
    std::size_t bytes = own.to.bytes();
    for (const ReceiveBlock& receive : receives) bytes += receive.rows.bytes();
    RingTransfer transfer(own, bytes);
    for (const SendBlock& send : sends) transfer.send(lanes_with(outgoing_, send.peer), send.rows);
    for (const ReceiveBlock& receive : receives) transfer.receive(lanes_with(incoming_, receive.peer), receive.rows);
    transfer.run([this] { wait_a_little(node_.get()); });
    for (std::size_t i = 0; i < receives.size(); ++i)
        if (const std::size_t expected = receives[i].rows.bytes(); transfer.sent(i) != expected)
            throw_length_mismatch(receives[i].peer, members.rank, transfer.sent(i), expected);
}

}  // namespace gnnplan::comm
