#include "runtime/load/predict_features.hpp"

#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"
#include "runtime/load/feature_takers.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan::load {
namespace {

struct TakenOf {
    TakenOf(const Schedule& schedule, std::int64_t vertices)
        : takers(schedule, feature_tensors(schedule)),
          order(data::make_order(vertices, schedule.numbering)),
          bytes(at(schedule.grid.size()), 0) {}

    FeatureTakers takers;
    data::VertexOrder order;
    std::vector<std::int64_t> bytes;  // by rank, of the rows that it sends
};

}  // namespace

Dealing predict_features(const data::Dataset& dataset, const std::vector<const Schedule*>& schedules) {
    const data::FeatureFiles* files = dataset.feature_files();
    if (schedules.empty() || files == nullptr) return {};
    const int ranks = schedules.front()->grid.size();
    std::vector<TakenOf> all;
    all.reserve(schedules.size());
    for (const Schedule* schedule : schedules) all.emplace_back(*schedule, dataset.vertices());
    const auto share = [&](std::int64_t rank) { return data::FileShare{static_cast<int>(rank), ranks}; };
    std::vector<std::int64_t> first(at(ranks)), rows(at(ranks), 0);
    std::vector<std::uint64_t> listed(at(ranks), 0);
    data::for_parts(ranks, [&](std::int64_t rank) { first[at(rank)] = files->count_rows(share(rank)); });
    std::exclusive_scan(first.begin(), first.end(), first.begin(), std::int64_t{0});
    data::for_parts(ranks, [&](std::int64_t rank) {
        const auto read = files->rows_of(share(rank), first[at(rank)]);
        for (std::int64_t v = read ? read->next() : -1; v >= 0; v = read->next()) {
            ++rows[at(rank)];
            listed[at(rank)] += data::hash_of_row_listed(v, static_cast<int>(rank));
            for (TakenOf& each : all) {
                each.takers.for_row(each.order.position_of(v), [&](const Taker& taker, std::int64_t) {
                    if (taker.rank != rank) each.bytes[at(rank)] += taker.bytes();
                });
            }
        }
    });
    const std::int64_t most = rows_dealt_in_round(ranks, dataset.features());
    const std::int64_t rounds = (*std::ranges::max_element(rows) + most - 1) / most + 1;  // the last finds all finished
    Dealing dealing;
    dealing.listing = data::listing_fingerprint(std::accumulate(listed.begin(), listed.end(), std::uint64_t{0}));
    for (TakenOf& each : all) {
        const std::int64_t headers =
            rounds * (ranks - 1) * feature_header_bytes(static_cast<std::int64_t>(each.takers.tensors()));
        for (std::int64_t& bytes : each.bytes) bytes += headers;
        dealing.bytes.push_back(std::move(each.bytes));
    }
    return dealing;
}

}  // namespace gnnplan::load
