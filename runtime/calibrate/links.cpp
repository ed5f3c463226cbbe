// Messages within a node and between nodes.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/collective.hpp"
#include "runtime/calibrate/measurements.hpp"

#include <algorithm>
#include <iterator>

namespace gnnplan::calibrate {
namespace {

Sample time_messages(const Setting& setting, Collective& collective, const std::string& name, std::int64_t bytes,
                     std::int64_t messages) {
    collective.check();
    Sample sample{name, {bytes, messages}, seconds_of_collective(setting, [&] { collective.run(); })};
    for (double& seconds : sample.seconds) seconds /= static_cast<double>(messages);
    return sample;
}

}  // namespace

int Nodes::ranks_per_node() const {
    int most = 0;
    for (int node = 0; node < count; ++node) {
        most = std::max(most, static_cast<int>(std::ranges::count(of_rank, node)));
    }
    return most;
}

std::vector<int> Nodes::elsewhere(int rank) const {
    const int node = of_rank[static_cast<std::size_t>(rank)];
    std::vector<int> peers;
    for (std::size_t peer = 0; peer < of_rank.size(); ++peer) {
        if (of_rank[peer] != node) peers.push_back(static_cast<int>(peer));
    }
    return peers;
}

std::vector<int> Nodes::first_elsewhere(int rank) const {
    const auto is_first = [&](int r) {
        return std::ranges::find(of_rank, of_rank[static_cast<std::size_t>(r)]) == of_rank.begin() + r;
    };
    std::vector<int> peers;
    if (!is_first(rank)) return peers;
    std::ranges::copy_if(elsewhere(rank), std::back_inserter(peers), is_first);
    return peers;
}

Nodes find_nodes(comm::Communicator& comm, int ranks_per_node) {
    std::vector<int> known;
    Nodes nodes;
    const std::vector<int> found = comm.nodes();
    for (int rank = 0; rank < comm.size(); ++rank) {
        const int node = ranks_per_node > 0 ? rank / ranks_per_node : found[static_cast<std::size_t>(rank)];
        const auto at = std::ranges::find(known, node);
        nodes.of_rank.push_back(static_cast<int>(at - known.begin()));
        if (at == known.end()) known.push_back(node);
    }
    nodes.count = static_cast<int>(known.size());
    nodes.own = comm.split(nodes.of_rank[static_cast<std::size_t>(comm.rank())], comm.rank());
    return nodes;
}

void measure_messages(const Setting& setting, const Nodes& nodes, std::int64_t bytes, std::int64_t cold_bytes,
                      std::vector<Sample>& samples) {
    const int in_node = nodes.ranks_per_node();
    const int rank = setting.comm.rank();
    for (const std::int64_t rotated : {std::int64_t{0}, cold_bytes}) {
        const char* suffix = rotated == 0 ? ".hot" : ".cold";
        for (const std::string kind : {"exchange", "all_reduce", "reduce_scatter", "redistribute"}) {
            if (in_node == 1) break;
            const auto collective =
                make_collective(kind, *nodes.own, setting.device, bytes * nodes.own->size(), rotated);
            const int others = in_node - 1;
            const int messages = kind == "redistribute" ? in_node : kind == "all_reduce" ? 2 * others : others;
            samples.push_back(time_messages(setting, *collective, kind + suffix, bytes, messages));
        }
        if (nodes.count == 1) continue;
        const auto between = [&](const std::string& name, const std::vector<int>& peers) {
            const auto most = comm::control_max(setting.comm, static_cast<double>(peers.size()));
            const auto exchange = make_exchange(setting.comm, setting.device, peers, bytes, rotated);
            samples.push_back(time_messages(setting, *exchange, name + suffix, bytes, static_cast<std::int64_t>(most)));
        };
        between("between", nodes.first_elsewhere(rank));
        if (in_node == 1) continue;
        between("cards", nodes.elsewhere(rank));
        samples.back().at.push_back(in_node);
    }
}

void measure_lending(const Setting& setting, std::vector<Sample>& samples) {
    constexpr std::int64_t bytes = 1 << 20;
    Array<std::byte> panel(setting.device, bytes);
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    for (int peer = 0; peer < setting.comm.size(); ++peer) {
        if (peer == setting.comm.rank()) continue;
        sends.push_back({peer, panel.span()});
        receives.push_back({peer, panel.span()});
    }
    const auto trial = setting.comm.lend(sends, receives);
    if (!trial) return;
    trial->end();
    const auto messages = std::ssize(receives);
    Sample sample{"lent_panel", {messages}, seconds_of_collective(setting, [&] {
                      const auto loan = setting.comm.lend(sends, receives);
                      for (std::size_t i = 0; i < receives.size(); ++i) loan->received(i);
                      loan->end();
                  })};
    for (double& seconds : sample.seconds) seconds /= static_cast<double>(messages);
    samples.push_back(std::move(sample));
}

}  // namespace gnnplan::calibrate
