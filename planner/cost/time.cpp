#include "planner/cost/time.hpp"

#include "planner/cost/compute.hpp"
#include "planner/cost/correction.hpp"
#include "planner/cost/level_traffic.hpp"
#include "planner/cost/product_time.hpp"
#include "planner/cost/rates.hpp"
#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/ring_tiles.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan::cost {
namespace {

std::int64_t all_sent(const RankLevels& traffic) {
    return traffic[within_node].sent_bytes + traffic[between_nodes].sent_bytes;
}

std::int64_t all_received(const RankLevels& traffic) {
    return traffic[within_node].received_bytes + traffic[between_nodes].received_bytes;
}

// The share of the bytes over any links that stays within the node; all where there are none.
double share_within_node(const RankLevels& traffic) {
    const auto bytes = [&](Level level) {
        return static_cast<double>(traffic[level].sent_bytes + traffic[level].received_bytes);
    };
    const double all = bytes(within_node) + bytes(between_nodes);
    return all > 0 ? bytes(within_node) / all : 1;
}

void leave_out(std::int64_t& bytes, double share) {
    bytes = static_cast<std::int64_t>(static_cast<double>(bytes) * (1 - share));
}

// A rank multiplies for so many seconds in a step, and meanwhile looks after messages so often, if any are under way.
struct Computing {
    double seconds = 0;
    double looks = 0;
};

// A piece that is multiplied while the next one comes, and the processor that multiplies may also be what moves the
// bytes. Profiles without OverlapCost have a bound on the product in its place.
double while_fetching(double product, double fetch, double looks, const Calibration& rates) {
    if (!rates.overlapping) {
        const double hidden = std::max(product, fetch) + rates.overlap_exposed * std::min(product, fetch);
        return std::max(product * rates.overlap_slowdown, hidden);
    }
    const double portions = product * rates.overlapping->portions;
    return std::max(portions, fetch) + rates.overlapping->exposed * std::min(portions, fetch) +
           looks * rates.overlapping->look_seconds;
}

// A pipeline of `pieces`. The first one is on the rank already unless its nonzeros come from others too, or it is a
// tile of rows that others have columns of. Where results leave as tiles come, a tile's communication is both, half of
// the first one's at the end.
double overlapped(const Computing& compute, double communication, double pieces, bool first_is_local,
                  const Calibration& rates) {
    if (pieces <= 1) return compute.seconds + communication;
    const double each = compute.seconds / pieces;
    const double fetch = communication / (first_is_local ? pieces - 1 : pieces);
    return (first_is_local ? 0 : fetch) + (pieces - 1) * while_fetching(each, fetch, compute.looks / pieces, rates) +
           each;
}

// How much slower a product is that looks its values up by column instead of reading them: 0 to 18 % by width and graph
// (bench/results/spmm.md). Calibrations do not measure it.
constexpr double factored_slowdown = 1.09;

// One rank's part of a step.
struct RankStep {
    const Schedule& schedule;
    const Step& step;
    const GraphStats& graph;
    const Machine& machine;
    int rank;
    const CostedRanks& on;

    const Calibration* calibration() const { return machine.calibration ? &*machine.calibration : nullptr; }
    const Link* measured_link() const;
    std::optional<double> lent_panel_seconds() const;
    double communication(const RankLevels& traffic, double node_seconds) const;
    std::int64_t nonzeros(const SpmmStep& spmm) const;
    double calibrated_product(const SpmmStep& spmm, std::int64_t nonzeros) const;
    double product(const SpmmStep& spmm, std::int64_t nonzeros, const RankLevels& traffic, RankWork& work) const;
    double own_part(TensorId result, const RankLevels& traffic, RankWork& work) const;
    Computing compute(const RankLevels& traffic) const;
};

// The link of messages within a node, measured with what is done to their bytes; null if they were not measured so.
const Link* RankStep::measured_link() const {
    if (calibration() == nullptr) return nullptr;
    const auto address = [](const std::optional<Link>& link) { return link ? &*link : nullptr; };
    switch (collective_of(schedule, step.operation, rank)) {
        case Collective::none: return nullptr;
        case Collective::all_reduce: return address(calibration()->all_reduce);
        case Collective::reduce_scatter: return address(calibration()->reduce_scatter);
        case Collective::redistribution: return address(calibration()->redistribution);
    }
    return nullptr;
}

// A message costs so much where ranks lend each other panels, as ranks of one node do that are threads of a process
// (Communicator::lend); unset where messages are copied.
std::optional<double> RankStep::lent_panel_seconds() const {
    const SpmmStep* spmm = product_of(step.operation);
    const bool lends = spmm != nullptr && spmm->exchange == Exchange::panels && spmm->wire == Wire::fp32 &&
                       schedule.grid.size() <= machine.ranks_per_node;
    return lends && calibration() != nullptr ? calibration()->lent_panel_seconds : std::nullopt;
}

// Seconds of messages within a node of a redistribution that nobody has measured. A message to the only peer takes what
// any does, one of an exchange among all ranks of the node what `all_to_all` says; between, linear in the peers.
double redistribution_seconds(const LevelTraffic& traffic, const Machine& machine) {
    const double plain = traffic.seconds(machine.intra_node);
    const auto peers = static_cast<double>(std::max(traffic.sent_messages, traffic.received_messages));
    const double share = (peers - 1) / std::max(1, machine.ranks_per_node - 2);
    return plain + std::clamp(share, 0.0, 1.0) * (traffic.seconds(*machine.all_to_all) - plain);
}

// The node's cards take at least `node_seconds` for what goes to other nodes and comes from them.
double RankStep::communication(const RankLevels& traffic, double node_seconds) const {
    if (const std::optional<double> seconds = lent_panel_seconds())
        return *seconds * static_cast<double>(traffic[within_node].received_messages);
    const Link* measured = measured_link();
    const bool exchange = collective_of(schedule, step.operation, rank) == Collective::redistribution;
    const double near = measured == nullptr && exchange && machine.all_to_all
                            ? redistribution_seconds(traffic[within_node], machine)
                            : traffic[within_node].seconds(measured != nullptr ? *measured : machine.intra_node);
    return near + std::max(node_seconds, traffic[between_nodes].seconds(machine.inter_node));
}

std::int64_t RankStep::nonzeros(const SpmmStep& spmm) const {
    if (on.nonzeros == nullptr) return multiplied_nonzeros(schedule, spmm.matrix, graph, rank);
    const auto [entry, is_new] = on.nonzeros->try_emplace(rank, 0);
    if (is_new) entry->second = multiplied_nonzeros(schedule, spmm.matrix, graph, rank);
    return entry->second;
}

double RankStep::calibrated_product(const SpmmStep& spmm, std::int64_t nonzeros) const {
    if (on.reuse == nullptr) return product_seconds(schedule, spmm, graph, machine, rank, nonzeros, false);
    const auto [entry, is_new] = on.reuse->try_emplace(rank);
    if (is_new) entry->second = reuse_of_matrix(schedule, spmm.matrix, graph, rank, nonzeros);
    pack_for(schedule, spmm, rank, entry->second);
    return seconds_of_reuse(schedule, spmm, entry->second, machine, rank, nonzeros, false);
}

// The sparse time of a product where gather curves were calibrated, which takes work.sparse_flops out; what is sent of
// needed rows is packed, too.
double RankStep::product(const SpmmStep& spmm, std::int64_t nonzeros, const RankLevels& traffic, RankWork& work) const {
    double seconds = 0;
    const std::int64_t sent = all_sent(traffic);
    if (spmm.wire == Wire::bfloat16) {
        const bool whole = !by_need(spmm.exchange);
        const std::int64_t own = whole ? block_bytes(schedule, spmm.column_operands.front(), rank) / 2 : sent;
        work.narrowed_bytes += rounded_bytes(own);
        work.widened_bytes += rounded_bytes(all_received(traffic));
    } else if (by_need(spmm.exchange)) {
        work.staged_bytes += 2 * sent;
    }
    if (calibration() != nullptr && !calibration()->gather.empty()) {
        seconds = calibrated_product(spmm, nonzeros);
        work.sparse_flops = 0;
    }
    if (tensor_of(schedule, spmm.matrix).storage.factored && spmm.program == Program::sum) {
        work.sparse_flops *= factored_slowdown;
        seconds *= factored_slowdown;
    }
    return seconds;
}

// The time of copying the part of a result that stays on the rank: one more message, to itself, where those were
// measured.
double RankStep::own_part(TensorId result, const RankLevels& traffic, RankWork& work) const {
    const std::int64_t arrived = all_received(traffic);
    const std::int64_t received = wire_of(step.operation) == Wire::bfloat16 ? 2 * arrived : arrived;
    const std::int64_t own = std::max<std::int64_t>(0, block_bytes(schedule, result, rank) - received);
    const Link* measured = measured_link();
    work.streamed_bytes = measured == nullptr ? 2 * own : 0;
    return measured == nullptr || own == 0 ? 0 : message_seconds(*measured, static_cast<double>(own));
}

// Calibrated times of messages include reading and writing what they carry.
Computing RankStep::compute(const RankLevels& traffic) const {
    const SpmmStep* spmm = product_of(step.operation);
    const std::int64_t multiplied = spmm != nullptr ? nonzeros(*spmm) : 0;
    RankWork work =
        spmm != nullptr ? product_work(schedule, *spmm, graph, rank, multiplied) : work_of(schedule, step, graph, rank);
    const int threads = calibration() != nullptr ? calibration()->threads.value_or(1) : 1;
    const double looks =
        (work.sparse_flops + work.dense_flops) / (static_cast<double>(flops_per_look) * std::max(1, threads));
    double seconds = 0;
    if (spmm != nullptr) seconds += product(*spmm, multiplied, traffic, work);
    if (measured_link() != nullptr) {
        leave_out(work.streamed_bytes, share_within_node(traffic));
        leave_out(work.staged_bytes, share_within_node(traffic));
    }
    const std::optional<TensorId> result = redistributed(step.operation);
    if (result && calibration() != nullptr) seconds += own_part(*result, traffic, work);
    return {seconds + compute_seconds(work, machine), looks};
}

// For other ranks, whose work takes longer this time: in the step, if it has messages, or in the next one that has.
double waiting(const RankLevels& traffic, double work, const Grid& grid, const Calibration& rates) {
    if (!rates.waiting || grid.size() == 1) return 0;
    const auto meets = [&](Level level) { return traffic[level].sent_messages + traffic[level].received_messages > 0; };
    return (meets(within_node) || meets(between_nodes) ? rates.waiting->seconds : 0) + rates.waiting->share * work;
}

// The share of messages' time that the work of later steps does not hide.
double exposed_share(const Calibration& rates) {
    return rates.overlapping ? rates.overlapping->exposed : rates.overlap_exposed;
}

// Without waiting.
double busy_seconds(const RankStep& on_rank, const Computing& compute, double communication, const Calibration& rates) {
    const Grid& grid = on_rank.schedule.grid;
    if (!tiled(on_rank.step.operation).empty())
        return overlapped(compute, communication, ring_tiles(grid), false, rates);
    if (in_background(on_rank.step.operation)) return compute.seconds + exposed_share(rates) * communication;
    const SpmmStep* spmm = product_of(on_rank.step.operation);
    if (spmm == nullptr || !spmm->overlap || on_rank.lent_panel_seconds()) return compute.seconds + communication;
    const Tensor& matrix = tensor_of(on_rank.schedule, spmm->matrix);
    return overlapped(compute, communication, piece_count(grid, matrix, on_rank.rank), !gathers_matrix(grid, matrix),
                      rates);
}

double rank_seconds(const RankStep& on_rank, const RankLevels& traffic, double node_seconds) {
    const Computing compute = on_rank.compute(traffic);
    static const Calibration nothing_measured;
    const Calibration* measured = on_rank.calibration();
    const Calibration& rates = measured != nullptr ? *measured : nothing_measured;
    return busy_seconds(on_rank, compute, on_rank.communication(traffic, node_seconds), rates) +
           waiting(traffic, compute.seconds, on_rank.schedule.grid, rates);
}

// A ring's blocks go by the number of the rank, whatever its class: ranks that send the most, or across the border of a
// node, within two elements. The same for every schedule, so that a sum of steps is the same wherever it is made.
std::vector<int> ring_ranks(int ranks, const Machine& machine) {
    const int last_border = (ranks - 1) / machine.ranks_per_node * machine.ranks_per_node;
    return {(2 * ranks - 3) % ranks, (last_border + ranks - 1) % ranks, ranks - 1};
}

// How long the cards of each of these ranks' nodes take; they have this traffic. Ranks that are alike may send to
// different neighbours in a ring: there every rank of a node is looked at, which has few peers.
template <class TrafficOf>
std::vector<double> card_seconds(const StepMessages& messages, const Machine& machine, const CostedRanks& on,
                                 const std::vector<int>& ranks, const std::vector<RankLevels>& traffic, bool counted,
                                 int last_rank, const TrafficOf& traffic_of) {
    constexpr std::size_t neighbours = 2;
    if (counted || messages.peers(ranks.front()).size() > neighbours)
        return seconds_of_nodes(*machine.network_cards, on.nodes, traffic);
    std::vector<double> seconds;
    seconds.reserve(ranks.size());
    for (const int rank : ranks) {
        const int first = rank / machine.ranks_per_node * machine.ranks_per_node;
        const int last = std::min(first + machine.ranks_per_node - 1, last_rank);
        NodeBytes bytes;
        for (int each = first; each <= last; ++each) bytes.add(traffic_of(each));
        seconds.push_back(bytes.seconds(*machine.network_cards));
    }
    return seconds;
}

}  // namespace

double step_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine,
                    const CostedRanks& on) {
    const StepMessages messages(schedule, step, graph);
    const bool ring = varies_with_rank(step.operation) && !graph.exact();
    const std::vector<int>& ranks = ring ? ring_ranks(schedule.grid.size(), machine) : on.ranks;
    const auto traffic_of = [&](int rank) {
        return traffic_by_level(schedule, step.operation, messages, machine, on, rank);
    };
    std::vector<RankLevels> traffic;
    traffic.reserve(ranks.size());
    for (const int rank : ranks) traffic.push_back(traffic_of(rank));
    std::vector<double> of_cards(ranks.size(), 0);
    if (shares_cards(schedule.grid, machine) && exchanges(step.operation))
        of_cards =
            card_seconds(messages, machine, on, ranks, traffic, graph.exact(), schedule.grid.size() - 1, traffic_of);
    double slowest = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        slowest =
            std::max(slowest, rank_seconds({schedule, step, graph, machine, ranks[i], on}, traffic[i], of_cards[i]));
    return corrected(machine, part_of(step.operation), machine.step_seconds + slowest);
}

}  // namespace gnnplan::cost
