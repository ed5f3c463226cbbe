// A fixed piece of communication under mpirun, for mpi_monitoring_test.
//   mpi_traffic none|exchange|broadcast PREFIX
// Every kind sends the same control messages. Each rank writes what the decorator has counted to PREFIX.RANK.counted:
//   pair FROM TO BYTES      for each pair of world ranks that exchanged messages
//   sent BYTES              in total
#include "runtime/comm/counting.hpp"
#include "runtime/comm/mpi.hpp"

#include <gnnplan/base/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace gnnplan::comm {
namespace {

// An all-to-all among the ranks of `comm`, with one empty message. Messages are counted one by one, by world rank.
void exchange(CountingCommunicator& comm, Traffic& traffic, std::size_t scale, const std::vector<int>& world_ranks,
              std::map<int, std::int64_t>& pairs) {
    const auto length = [&](int from, int to) { return scale * static_cast<std::size_t>(3 * from + to); };
    const std::vector<std::byte> out(scale * static_cast<std::size_t>(4 * comm.size()));
    for (int distance = 0; distance < comm.size(); ++distance) {
        const int to = (comm.rank() + distance) % comm.size();
        const int from = (comm.rank() + comm.size() - distance) % comm.size();
        std::vector<std::byte> in(length(from, comm.rank()));
        const Send send{to, std::span(out).first(length(comm.rank(), to))};
        const Receive receive{from, in};
        const std::int64_t before = traffic.sent_bytes;
        comm.exchange({&send, 1}, {&receive, 1});
        pairs[world_ranks[static_cast<std::size_t>(to)]] += traffic.sent_bytes - before;
    }
}

void broadcast(CountingCommunicator& comm) {
    for (std::size_t length = 1; length <= (std::size_t{1} << 21); length *= 2)
        for (int root = 0; root < comm.size(); ++root) {
            std::vector<std::byte> bytes(length + static_cast<std::size_t>(root));
            comm.broadcast(root, bytes);
        }
}

void run(Communicator& world, const std::string& kind, const std::string& prefix) {
    Traffic traffic;
    CountingCommunicator all(world, traffic);
    CountingCommunicator half(world.split(world.rank() % 2, -world.rank()), traffic);
    std::vector<int> in_all;
    std::vector<int> in_half;
    for (const std::string& rank : all.control_all_gather(std::to_string(world.rank())))
        in_all.push_back(std::stoi(rank));
    for (const std::string& rank : half.control_all_gather(std::to_string(world.rank())))
        in_half.push_back(std::stoi(rank));

    std::map<int, std::int64_t> pairs;
    if (kind == "exchange") {
        for (const std::size_t scale : {0UL, 1UL, 100UL, 50'000UL}) exchange(all, traffic, scale, in_all, pairs);
        exchange(half, traffic, 7, in_half, pairs);
    } else if (kind == "broadcast") {
        broadcast(all);
        broadcast(half);
    }
    std::ofstream counted(prefix + "." + std::to_string(world.rank()) + ".counted");
    for (const auto& [peer, bytes] : pairs)
        if (bytes > 0) counted << "pair " << world.rank() << ' ' << peer << ' ' << bytes << '\n';
    counted << "sent " << traffic.sent_bytes << '\n';
}

}  // namespace
}  // namespace gnnplan::comm

int main(int argc, char** argv) {
    gnnplan::comm::MpiEnvironment mpi;
    try {
        if (argc == 3) gnnplan::comm::run(mpi.world(), argv[1], argv[2]);
        return argc == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", mpi.world().rank(), error.what());
        mpi.abort(EXIT_FAILURE);
    }
}
