#include "runtime/load/deal_features.hpp"

#include "runtime/comm/counting.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/load/feature_rows.hpp"
#include "runtime/load/rounds.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace gnnplan::load {
namespace {

// Facts about the rows that a rank has read and taken; then over all ranks.
struct FoundRows {
    std::int64_t rows = 0, readers = 0;
    std::uint64_t hash = 0, listed = 0;
    std::int64_t twice = -1, missing = -1;  // the first such vertex; -1: there is none

    void add(const FoundRows& other) {
        const auto least = [](std::int64_t a, std::int64_t b) { return a < 0 || (b >= 0 && b < a) ? b : a; };
        rows += other.rows, readers += other.readers;
        hash += other.hash, listed += other.listed;
        twice = least(twice, other.twice), missing = least(missing, other.missing);
    }
};

class FeatureDealer {
public:
    FeatureDealer(comm::Communicator& comm, const data::Dataset& dataset, const FeatureTakers& takers,
                  const data::VertexOrder& order, const PutRow& put)
        : comm_(comm),
          dataset_(dataset),
          takers_(takers),
          order_(order),
          put_(put),
          lists_(takers.tensors() * at(comm.size())),
          received_(takers.tensors()) {
        for (std::size_t t = 0; t < takers.tensors(); ++t) {
            rows_.push_back(takers.rows(comm.rank(), t));
            seen_.emplace_back(at(rows_.back().size()), false);
        }
    }

    FoundRows deal() {
        RankRows rows(comm_, dataset_);
        std::exception_ptr failure;
        bool stopped = false;
        try {
            while (read_some(rows)) {
                rows.for_each([&](std::int64_t vertex, std::span<const float> values) { sort(vertex, values); });
                round(RoundState::dealing);
            }
            while (!round(RoundState::finished)) {
            }
        } catch (const Stopped&) {
            stopped = true;
        } catch (...) {
            if (!reading_) throw;
            failure = std::current_exception();
            std::vector<std::int64_t> nothing(lists_.size(), 0);
            exchange_counts(comm_, RoundState::failed, nothing);
        }
        comm::agree_on(comm_, failure);
        ensure(!stopped, "a rank that stops the others says why");
        totals_.readers = totals_.rows > 0 ? 1 : 0;
        totals_.hash = rows.hash();
        totals_.listed = rows.listed();
        return over_ranks();
    }

private:
    // Rows of a tensor.
    struct List {
        std::vector<std::int32_t> rows;
        std::vector<float> values;
    };
    List& list_for(int rank, std::size_t tensor) { return lists_[at(rank) * takers_.tensors() + tensor]; }

    // Reads the rows of a round; false where there are no more.
    bool read_some(RankRows& rows) {
        reading_ = true;
        const std::int64_t read = rows.read(rows_dealt_in_round(comm_.size(), dataset_.features()));
        reading_ = false;
        totals_.rows += read;
        return read > 0;
    }

    void sort(std::int64_t vertex, std::span<const float> values) {
        takers_.for_row(order_.position_of(vertex), [&](const Taker& taker, std::int64_t row) {
            const auto wanted = values.subspan(at(taker.columns.begin), at(taker.columns.size()));
            if (taker.rank == comm_.rank()) return take(taker.tensor, row, wanted);
            List& list = list_for(taker.rank, taker.tensor);
            list.rows.push_back(static_cast<std::int32_t>(row));
            list.values.insert(list.values.end(), wanted.begin(), wanted.end());
        });
    }

    void take(std::size_t tensor, std::int64_t row, std::span<const float> values) {
        if (seen_[tensor][at(row)]) {
            const std::int64_t vertex = order_.vertex_at(rows_[tensor].begin + row);
            totals_.twice = totals_.twice < 0 ? vertex : std::min(totals_.twice, vertex);
        }
        seen_[tensor][at(row)] = true;
        put_(tensor, row, values);
    }

    // Returns whether all ranks have finished.
    bool round(RoundState state) {
        std::vector<std::int64_t> counts;
        for (const List& list : lists_) counts.push_back(std::ssize(list.rows));
        if (exchange_counts(comm_, state, counts)) return true;
        for (std::size_t t = 0; t < takers_.tensors(); ++t) {
            exchange(t, counts, 1, &List::rows);
            exchange(t, counts, columns_of(t), &List::values);
            const std::size_t columns = at(columns_of(t));
            for (std::size_t i = 0; i < received_[t].rows.size(); ++i)
                take(t, received_[t].rows[i], std::span(received_[t].values).subspan(i * columns, columns));
        }
        for (List& list : lists_) list.rows.clear(), list.values.clear();
        return false;
    }

    // Sends one of the members of the lists for a tensor, which has so many items for a row.
    template <class Items>
    void exchange(std::size_t tensor, const std::vector<std::int64_t>& counts, std::int64_t items,
                  Items List::*member) {
        std::int64_t all = 0;
        for (std::size_t i = tensor; i < counts.size(); i += takers_.tensors()) all += items * counts[i];
        Items& room = received_[tensor].*member;
        room.resize(at(all));
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        std::int64_t first = 0;
        for (int p = 0; p < comm_.size(); ++p) {
            const Items& sent = list_for(p, tensor).*member;
            if (!sent.empty()) sends.push_back({p, std::as_bytes(std::span(sent))});
            const std::int64_t count = items * counts[at(p) * takers_.tensors() + tensor];
            const auto part = std::span(room).subspan(at(first), at(count));
            if (count > 0) receives.push_back({p, std::as_writable_bytes(part)});
            first += count;
        }
        comm_.exchange(sends, receives);
    }

    std::int64_t columns_of(std::size_t tensor) const { return takers_.columns(comm_.rank(), tensor).size(); }

    FoundRows over_ranks() {
        for (std::size_t t = 0; t < seen_.size(); ++t) {
            for (std::size_t row = 0; row < seen_[t].size(); ++row) {
                if (seen_[t][row]) continue;
                FoundRows missing;
                missing.missing = order_.vertex_at(rows_[t].begin + static_cast<std::int64_t>(row));
                totals_.add(missing);
            }
        }
        std::string own(sizeof totals_, '\0');
        std::memcpy(own.data(), &totals_, sizeof totals_);
        FoundRows all;
        for (const std::string& text : comm_.control_all_gather(own)) {
            FoundRows one;
            std::memcpy(&one, text.data(), sizeof one);
            all.add(one);
        }
        return all;
    }

    comm::Communicator& comm_;
    const data::Dataset& dataset_;
    const FeatureTakers& takers_;
    const data::VertexOrder& order_;
    const PutRow& put_;
    bool reading_ = false;     // what is thrown is of the files
    std::vector<List> lists_;  // of what a round sends, by rank and tensor
    std::vector<List> received_;
    std::vector<Range> rows_;              // that this rank takes, by tensor
    std::vector<std::vector<bool>> seen_;  // of these
    FoundRows totals_;
};

}  // namespace

DealtFeatures deal_features(comm::Communicator& comm, const data::Dataset& dataset, const FeatureTakers& takers,
                            const data::VertexOrder& order, const PutRow& put) {
    const auto begin = std::chrono::steady_clock::now();
    comm::Traffic traffic;
    comm::CountingCommunicator counting(comm, traffic);
    const FoundRows all = FeatureDealer(counting, dataset, takers, order, put).deal();
    comm::agree(comm, [&] {
        const data::FeatureFiles& files = *dataset.feature_files();
        // One rank looks for both places.
        if (all.twice >= 0 && comm.rank() == 0) files.refuse_twice(all.twice);
        if (all.twice < 0 && all.missing >= 0) files.refuse_missing(all.missing, dataset.vertices() - all.rows);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {{"features", traffic, took.count()},
            all.hash,
            data::listing_fingerprint(all.listed),
            comm.size() > 1 && all.readers == 1};
}

}  // namespace gnnplan::load
