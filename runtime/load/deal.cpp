#include "runtime/load/deal.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/loading.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::load {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values, std::int64_t begin, std::int64_t end) {
    return std::as_bytes(std::span(values).subspan(at(begin), at(end - begin)));
}

}  // namespace

Dealer::Dealer(comm::Communicator& comm, const RowShares& shares, const data::VertexOrder& order, bool weighted,
               bool with_targets)
    : comm_(comm),
      shares_(shares),
      order_(order),
      weighted_(weighted),
      with_targets_(with_targets),
      dealt_{data::EdgeList(weighted), data::EdgeList(weighted)} {}

void Dealer::deal(std::span<const data::Edge> edges, std::span<const float> weights) {
    const auto most = at(edges_dealt_in_round(comm_.size()));
    for (std::size_t first = 0; first < edges.size(); first += most) {
        const std::size_t count = std::min(most, edges.size() - first);
        round(edges.subspan(first, count), weighted_ ? weights.subspan(first, count) : weights, RoundState::dealing);
    }
}

Dealt Dealer::finish() {
    while (!round({}, {}, RoundState::finished)) {
    }
    return std::move(dealt_);
}

void Dealer::fail() {
    std::vector<std::int64_t> nothing(2 * at(comm_.size()), 0);
    exchange_counts(comm_, RoundState::failed, nothing);
}

// A counting sort of the edges that others make rows of; this rank's own join what it has been dealt.
void Dealer::sort_by_maker(std::span<const data::Edge> edges, std::span<const float> weights) {
    const std::int64_t peers = comm_.size();
    const std::int64_t lists = with_targets_ ? 2 : 1;
    places_.resize(at(lists) * edges.size());
    begin_.assign(at(2 * peers + 1), 0);
    const auto find_place = [&](std::int64_t list, std::int32_t vertex, std::int32_t other, std::size_t edge) {
        const std::int64_t row = order_.position_of(vertex);
        const RowShares::Maker maker = shares_.maker_of(row);
        const auto row_there = static_cast<std::int32_t>(row - maker.first);
        places_[at(list) * edges.size() + edge] = {maker.rank, row_there};
        if (maker.rank == comm_.rank()) {
            data::EdgeList& own = list == 0 ? dealt_.sources : dealt_.targets;
            own.add(row_there, other, weighted_ ? weights[edge] : 1.0F);
        } else {
            ++begin_[at(list * peers + maker.rank) + 1];
        }
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
        find_place(0, edges[i].to, edges[i].from, i);
        if (with_targets_) find_place(1, edges[i].from, edges[i].to, i);
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    edges_.resize(at(begin_.back()));
    if (edges_.empty()) return;
    weights_.resize(weighted_ ? edges_.size() : 0);
    std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
    for (std::int64_t list = 0; list < lists; ++list) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const Place place = places_[at(list) * edges.size() + i];
            if (place.maker == comm_.rank()) continue;
            const std::size_t to = at(next[at(list * peers + place.maker)]++);
            edges_[to] = {place.row, list == 0 ? edges[i].from : edges[i].to};
            if (weighted_) weights_[to] = weights[i];
        }
    }
}

bool Dealer::round(std::span<const data::Edge> edges, std::span<const float> weights, RoundState state) {
    static_assert(deal_header_bytes == 24);
    sort_by_maker(edges, weights);
    const std::int64_t peers = comm_.size();
    std::vector<std::int64_t> counts;
    for (std::int64_t p = 0; p < peers; ++p) {
        for (const std::int64_t list : {p, peers + p}) counts.push_back(begin_[at(list) + 1] - begin_[at(list)]);
    }
    if (exchange_counts(comm_, state, counts)) return true;
    receive(counts);
    return false;
}

void Dealer::receive(const std::vector<std::int64_t>& counts) {
    const std::int64_t peers = comm_.size();
    const auto exchange = [&](const auto& sent, auto& received) {
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        for (std::int64_t list = 0, first = 0; list < (with_targets_ ? 2 : 1); ++list) {
            sends.clear(), receives.clear();
            for (std::int64_t p = 0; p < peers; ++p) {
                const std::size_t b = at(list * peers + p);
                const auto bytes = bytes_of(sent, begin_[b], begin_[b + 1]);
                if (!bytes.empty()) sends.push_back({static_cast<int>(p), bytes});
                const std::int64_t count = counts[at(2 * p + list)];
                const auto room = std::span(received).subspan(at(first), at(count));
                if (count > 0) receives.push_back({static_cast<int>(p), std::as_writable_bytes(room)});
                first += count;
            }
            comm_.exchange(sends, receives);
        }
    };
    std::int64_t of_sources = 0, all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) of_sources += i % 2 == 0 ? counts[i] : 0, all += counts[i];
    received_.resize(at(all));
    received_weights_.resize(weighted_ ? received_.size() : 0);
    exchange(edges_, received_);
    if (weighted_) exchange(weights_, received_weights_);
    const auto add = [&](data::EdgeList& list, std::int64_t begin, std::int64_t end) {
        const auto part = [&](const auto& values) { return std::span(values).subspan(at(begin), at(end - begin)); };
        list.add(part(received_), weighted_ ? part(received_weights_) : std::span<const float>());
    };
    add(dealt_.sources, 0, of_sources);
    add(dealt_.targets, of_sources, all);
}

}  // namespace gnnplan::load
