#include "planner/cost/level_traffic.hpp"

#include "planner/cost/ranks.hpp"
#include "planner/cost/rates.hpp"
#include "planner/ir/needed_rows.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/relay_rows.hpp"

#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/row_relay.hpp>

#include <algorithm>
#include <limits>

namespace gnnplan::cost {
namespace {

Level level_between(int rank, int peer, const Machine& machine) {
    return rank / machine.ranks_per_node == peer / machine.ranks_per_node ? within_node : between_nodes;
}

// Peers of a rank that are alike and equally near.
struct PeerKind {
    int example = 0;
    Level level = within_node;
    std::int64_t count = 0;
};

// Where nonzeros travel as well, peers of a y-group send these, and others dense rows.
bool tells_axes_apart(const Schedule& schedule, const Operation& operation) {
    const SpmmStep* product = product_of(operation);
    return product != nullptr && gathers_matrix(schedule.grid, tensor_of(schedule, product->matrix));
}

// `grid`: null where it does not matter along which axis a peer differs from the rank.
std::vector<PeerKind> kinds_of(const std::vector<int>& peers, const Machine& machine, const CostedRanks& on, int rank,
                               const Grid* grid) {
    constexpr std::size_t few = 8;  // neighbours in rings among them, which are never alike
    const bool alike = !on.class_of.empty() && peers.size() > few;
    // Where peers are alike, each kind's place in the list by class, axis and level; they are few.
    std::vector<std::size_t> places;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const int first_near = rank / machine.ranks_per_node * machine.ranks_per_node;
    std::vector<PeerKind> kinds;
    for (const int peer : peers) {
        const bool same_node = peer >= first_near && peer - first_near < machine.ranks_per_node;
        const Level level = same_node ? within_node : between_nodes;
        if (!alike) {
            kinds.push_back({peer, level, 1});
            continue;
        }
        const bool same_y = grid != nullptr && grid->coordinate(peer, Axis::y) == grid->coordinate(rank, Axis::y);
        const std::size_t key =
            4 * static_cast<std::size_t>(on.class_of[static_cast<std::size_t>(peer)]) + (same_y ? 2U : 0U) + level;
        if (places.size() <= key) places.resize(key + 1, none);
        if (places[key] == none) {
            places[key] = kinds.size();
            kinds.push_back({peer, level, 0});
        }
        ++kinds[places[key]].count;
    }
    return kinds;
}

// Adds the rows of relayed panels, for each operand that has columns on the rank.
void add_relay(const Schedule& schedule, const SpmmStep& product, const Machine& machine, int rank,
               RankLevels& traffic) {
    std::int64_t columns = 0, operands = 0;
    for (const TensorId in : product.column_operands) {
        const std::int64_t width = block_of(schedule, in, rank).columns.size();
        columns += width;
        operands += width > 0 ? 1 : 0;
    }
    const RelayRows rows(schedule, product);
    for (const PeerRows& peer : rows.received(rank)) {
        LevelTraffic& level = traffic[level_between(rank, peer.peer, machine)];
        level.received_bytes += wire_bytes(product.wire, columns * peer.sent.rows);
        level.received_messages += operands * peer.sent.messages;
    }
    for (const PeerRows& peer : rows.sent(rank)) {
        LevelTraffic& level = traffic[level_between(rank, peer.peer, machine)];
        level.sent_bytes += wire_bytes(product.wire, columns * peer.sent.rows);
        level.sent_messages += operands * peer.sent.messages;
    }
}

// The peers of a rank that send it something else than relayed panels: nonzeros.
std::vector<int> peers_apart_from_relay(const Schedule& schedule, const SpmmStep& product, int rank) {
    std::vector<int> peers;
    if (gathers_matrix(schedule.grid, tensor_of(schedule, product.matrix)))
        add_peers_along(schedule.grid, Axis::y, rank, peers);
    return peers;
}

// Rows go the other way than requests for them, in as many messages for each operand that has columns on the rank: its
// peers have equally many.
LevelTraffic rows_of(const LevelTraffic& requests, const Schedule& schedule, const SpmmStep& product, int rank) {
    std::int64_t columns = 0, operands = 0;
    for (const TensorId in : product.column_operands) {
        const std::int64_t width = block_of(schedule, in, rank).columns.size();
        columns += width;
        operands += width > 0 ? 1 : 0;
    }
    const auto bytes = [&](std::int64_t requested) { return wire_bytes(product.wire, columns * (requested / 4)); };
    return {bytes(requests.received_bytes), bytes(requests.sent_bytes), operands * requests.received_messages,
            operands * requests.sent_messages};
}

}  // namespace

double LevelTraffic::seconds(const Link& link) const {
    const auto messages = static_cast<double>(std::max(sent_messages, received_messages));
    const auto bytes = static_cast<double>(std::max(sent_bytes, received_bytes));
    if (messages == 0) return 0;
    if (!link.segments.empty()) return messages * message_seconds(link, bytes / messages);
    return messages * link.latency_seconds + bytes / link.bytes_per_second;
}

RankLevels traffic_by_level(const Schedule& schedule, const Operation& operation, const StepMessages& messages,
                            const Machine& machine, const CostedRanks& on, int rank) {
    RankLevels traffic;
    if (on.requests != nullptr) {
        traffic = (*on.requests)[static_cast<std::size_t>(rank)];
        if (const SpmmStep* product = product_of(operation)) {
            for (LevelTraffic& level : traffic) level = rows_of(level, schedule, *product, rank);
        }
        return traffic;
    }
    const SpmmStep* relay = relaying(operation);
    if (relay != nullptr) add_relay(schedule, *relay, machine, rank, traffic);
    const std::vector<int> peers =
        relay != nullptr ? peers_apart_from_relay(schedule, *relay, rank) : messages.peers(rank);
    const Grid* axes = tells_axes_apart(schedule, operation) ? &schedule.grid : nullptr;
    for (const PeerKind& kind : kinds_of(peers, machine, on, rank, axes)) {
        LevelTraffic& level = traffic[kind.level];
        const Message sent = messages.between(rank, kind.example);
        const Message received = messages.between(kind.example, rank);
        level.sent_bytes += kind.count * sent.bytes;
        level.sent_messages += kind.count * sent.count;
        level.received_bytes += kind.count * received.bytes;
        level.received_messages += kind.count * received.count;
    }
    return traffic;
}

std::optional<RowRequestStep> exchanged_by_need(const Schedule& schedule, const Operation& operation) {
    const SpmmStep* product = product_of(operation);
    // Some of the rows that are relayed are not asked for.
    if (const auto* request = std::get_if<RowRequestStep>(&operation))
        return request->targets || request->relayed ? std::nullopt : std::optional(*request);
    if (product == nullptr || !by_need(product->exchange)) return std::nullopt;
    const Tensor& matrix = tensor_of(schedule, product->matrix);
    if (gathers_matrix(schedule.grid, matrix) || deals_rows(matrix)) return std::nullopt;
    return RowRequestStep{product->matrix, false, product->exchange == Exchange::relayed_rows};
}

namespace {

// Adds what one rank requests of another: 4 bytes a row.
void add_request(const Machine& machine, int rank, int peer, std::int64_t bytes, std::int64_t count,
                 std::vector<RankLevels>& requests) {
    const Level level = level_between(rank, peer, machine);
    LevelTraffic& own = requests[static_cast<std::size_t>(rank)][level];
    LevelTraffic& others = requests[static_cast<std::size_t>(peer)][level];
    own.sent_bytes += bytes, own.sent_messages += count;
    others.received_bytes += bytes, others.received_messages += count;
}

// Ranks of a y-group request the same, each of its own x-group.
std::vector<RankLevels> requests_of_slices(const Schedule& schedule, TensorId matrix, const GraphStats& graph,
                                           const Machine& machine) {
    const Grid& grid = schedule.grid;
    std::vector<RankLevels> requests(static_cast<std::size_t>(grid.size()));
    for (int first = 0; first < grid.size(); ++first) {
        if (grid.coordinate(first, Axis::y) != 0) continue;
        const std::vector<NeededRows> needed = needed_rows(schedule, matrix, graph, first);
        for (int iy = 0; iy < grid.y; ++iy) {
            const int rank = grid.neighbour(first, Axis::y, iy);
            for (int ix = 0; ix < grid.x; ++ix) {
                const NeededRows& rows = needed[static_cast<std::size_t>(ix)];
                const int peer = grid.neighbour(rank, Axis::x, ix);
                if (peer != rank && rows.rows > 0)
                    add_request(machine, rank, peer, 4 * rows.rows, rows.pieces, requests);
            }
        }
    }
    return requests;
}

}  // namespace

// Goes through one rank after the other: the graph's answers about its rows are at hand.
std::vector<RankLevels> requests_by_level(const Schedule& schedule, const RowRequestStep& request,
                                          const GraphStats& graph, const Machine& machine) {
    const Tensor& matrix = tensor_of(schedule, request.matrix);
    if (!request.relayed && has_whole_slices(schedule.grid, matrix))
        return requests_of_slices(schedule, request.matrix, graph, machine);
    const Step step{"", Phase::setup, RowRequestStep{request.matrix}};
    const StepMessages messages(schedule, step, graph);
    const RowRelay relay(schedule, matrix);
    std::vector<RankLevels> requests(static_cast<std::size_t>(schedule.grid.size()));
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        for (const int peer : messages.peers(rank)) {
            if (request.relayed) {
                const SentRows rows = relay.sent(graph, peer, rank);
                add_request(machine, rank, peer, 4 * rows.rows, rows.messages, requests);
            } else {
                const Message message = messages.between(rank, peer);
                add_request(machine, rank, peer, message.bytes, message.count, requests);
            }
        }
    }
    return requests;
}

}  // namespace gnnplan::cost
