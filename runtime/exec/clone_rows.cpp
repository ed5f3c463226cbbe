#include "runtime/exec/clone_rows.hpp"

#include "runtime/blocks/scales.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace gnnplan::exec {
namespace {

// A row of the rank's block whose vertex has clones in several groups.
struct Shared {
    int bin, group;  // the group that has the other clone
    std::int64_t row;
};

void sort_by_group(std::vector<Shared>& rows) {
    std::ranges::stable_sort(rows, {}, [](const Shared& s) { return std::tuple(s.bin, s.group); });
}

// Where the rows of each bin are in a sorted list, and those of each group.
struct Places {
    Range all;
    std::vector<CloneRange> of;
};
std::vector<Places> places_of(const std::vector<Shared>& rows, int bins, const Grid& grid, int rank) {
    std::vector<Places> places(at(bins));
    std::int64_t next = 0;
    for (int bin = 0; bin < bins; ++bin) {
        Places& here = places[at(bin)];
        here.all.begin = next;
        for (; next < std::ssize(rows) && rows[at(next)].bin == bin; ++next) {
            const int other = grid.neighbour(rank, Axis::x, rows[at(next)].group);
            if (here.of.empty() || here.of.back().rank != other) here.of.push_back({other, {next, next}});
            here.of.back().rows.end = next + 1;
        }
        here.all.end = next;
    }
    return places;
}

// The numbers that later rows need, of clones.
class Factors {
public:
    Factors(const data::Clones& clones, const CloneScales& scales)
        : matrix_(clones.graph.matrix(forward_matrix)), scales_(scales) {}

    // A degree of 0 has no sum to scale.
    float alone(std::int64_t clone) const {
        double degree = 0;
        for (std::int64_t e = begin(clone); e < begin(clone + 1); ++e) degree += weight(e);
        const double own = data::degree_scales({degree}, scales_.normalisation, true).front();
        const double factor = own / scales_.scales.target[at(clone)];
        return degree > 0 && std::isfinite(factor) ? static_cast<float>(factor) : 1.0F;
    }
    float loop(std::int64_t clone) const {
        for (std::int64_t e = begin(clone); e < begin(clone + 1); ++e) {
            if (matrix_.column[at(e)] != clone) continue;
            return static_cast<float>(-weight(e) * scales_.scales.source[at(clone)] * scales_.scales.target[at(clone)]);
        }
        return 0;
    }

private:
    std::int64_t begin(std::int64_t row) const { return matrix_.row_start[at(row)]; }
    double weight(std::int64_t e) const { return matrix_.weighted() ? matrix_.weight[at(e)] : 1.0; }

    const data::Csr& matrix_;
    const CloneScales& scales_;
};

}  // namespace

CloneScales scales_of_clones(const data::Clones& clones, const data::DegreeScales& whole, Normalisation normalisation) {
    if (clones.owner.empty()) return {data::stored_scales(clones.graph, normalisation), normalisation};
    std::vector<double> source, target;
    for (const std::int32_t v : clones.vertices.vertex) {
        source.push_back(whole.source[at(v)]);
        target.push_back(whole.target[at(v)]);
    }
    return {{std::move(source), std::move(target)}, normalisation};
}

CloneScales scales_of_batches(const data::Clones& batches, const sample::Pool& pool, bool coefficients,
                              const data::DegreeScales& sampled, Normalisation normalisation) {
    if (!coefficients) return {data::stored_scales(batches.graph, normalisation), normalisation};
    std::vector<double> source, target;
    for (const std::int32_t v : batches.vertices.vertex) {
        const std::int64_t sampled_v = pool.sampled(v);
        source.push_back(sampled.source[at(sampled_v)]);
        target.push_back(sampled.target[at(sampled_v)] * static_cast<double>(pool.batches_with(sampled_v)));
    }
    return {{std::move(source), std::move(target)}, normalisation};
}

void CloneList::upload(kernels::Device& device) {
    row_on_device_ = device.take(nullptr, std::as_bytes(std::span(row_)));
    alone_on_device_ = device.take(nullptr, std::as_bytes(std::span(alone_)));
    loop_on_device_ = device.take(nullptr, std::as_bytes(std::span(loop_)));
}

CloneRows::CloneRows(const Schedule& schedule, int rank, const data::Clones& clones, const CloneScales& scales,
                     kernels::Device& device, MemoryTracker& tracker) {
    const int group = schedule.grid.coordinate(rank, Axis::x);
    const int bins = bins_of(schedule.numbering.delay);
    const bool later = shares_later(schedule);
    const Range own{clones.first[at(group)], clones.first[at(group + 1)]};
    std::vector<Shared> of_others, elsewhere, owned;
    for (int other = 0; other < clones.groups(); ++other) {
        for (std::int64_t c = clones.first[at(other)]; c < clones.first[at(other + 1)]; ++c) {
            const int bin = clones.bin[at(c)], owner = clones.owner[at(c)];
            if (bin < 0) continue;
            if (other == group) (owner == group ? owned : of_others).push_back({bin, owner, c - own.begin});
            if (other == group || owner != group) continue;
            elsewhere.push_back({bin, other, clones.vertices.clone_of(clones.vertices.vertex_at(c), own) - own.begin});
        }
    }
    for (auto* rows : {&of_others, &elsewhere, &owned}) sort_by_group(*rows);
    const Factors factors(clones, scales);
    for (const Shared& s : of_others) {
        const std::int64_t clone = own.begin + s.row;
        later ? of_others_.add(s.row, factors.alone(clone), factors.loop(clone)) : of_others_.add(s.row);
    }
    for (const Shared& s : elsewhere) elsewhere_.add(s.row);
    for (const Shared& s : owned) {
        if (later) owned_.add(s.row, factors.alone(own.begin + s.row));
    }
    const auto owners = places_of(of_others, bins, schedule.grid, rank);
    const auto others = places_of(elsewhere, bins, schedule.grid, rank);
    const auto mine = places_of(owned, bins, schedule.grid, rank);
    std::int64_t in_flight = 0;
    for (std::size_t b = 0; b < owners.size(); ++b) {
        bins_.push_back({owners[b].of, others[b].of, owners[b].all, others[b].all, mine[b].all, in_flight});
        in_flight += owners[b].all.size() + others[b].all.size();
    }
    for (CloneList* list : {&of_others_, &elsewhere_, &owned_}) list->upload(device);
    const std::int64_t bytes = of_others_.bytes() + elsewhere_.bytes() + owned_.bytes();
    charge_ = charge_until_uploaded(tracker, bytes);
    on_device_charge_ = Charge(tracker, bytes, Holder::tensors);
}

}  // namespace gnnplan::exec
