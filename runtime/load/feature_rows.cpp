#include "runtime/load/feature_rows.hpp"

#include "kernels/parallel.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/graph/row_parts.hpp"

#include <gnnplan/base/at.hpp>

#include <numeric>
#include <string>

namespace gnnplan::load {

RankRows::RankRows(comm::Communicator& comm, const data::Dataset& dataset)
    : dataset_(dataset), rank_(comm.rank()), columns_(at(dataset.features())), parts_(at(kernels::max_threads())) {
    const data::FeatureFiles& files = *dataset.feature_files();
    const auto share = [&](std::int64_t part) {
        return data::FileShare{rank_, comm.size(), static_cast<int>(part), static_cast<int>(parts_.size())};
    };
    std::vector<std::int64_t> counts(parts_.size());
    comm::agree(comm, [&] {
        data::for_parts(std::ssize(parts_), [&](std::int64_t i) { counts[at(i)] = files.count_rows(share(i)); });
    });
    const std::int64_t own = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const std::vector<std::string> of_ranks = comm.control_all_gather(std::to_string(own));
    std::int64_t first = 0;
    for (int rank = 0; rank < rank_; ++rank) first += std::stoll(of_ranks[at(rank)]);
    comm::agree(comm, [&] {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            parts_[i].rows = files.rows_of(share(static_cast<std::int64_t>(i)), first);
            first += counts[i];
        }
    });
}

std::int64_t RankRows::read(std::int64_t rows) {
    for (Part& part : parts_) part.vertices.clear(), part.values.clear();
    std::int64_t done = 0;
    while (done < rows) {
        std::vector<Part*> open;
        for (Part& part : parts_) {
            if (part.rows != nullptr) open.push_back(&part);
        }
        if (open.empty()) break;
        const Range left{0, rows - done};
        data::for_parts(std::ssize(open),
                        [&](std::int64_t i) { read(*open[at(i)], balanced_block(left, i, std::ssize(open)).size()); });
        done = 0;
        for (const Part& part : parts_) done += std::ssize(part.vertices);
    }
    return done;
}

void RankRows::read(Part& part, std::int64_t rows) const {
    for (; rows > 0; --rows) {
        const std::int64_t vertex = part.rows->next();
        if (vertex < 0) {
            part.rows.reset();
            return;
        }
        part.vertices.push_back(static_cast<std::int32_t>(vertex));
        part.values.resize(part.values.size() + columns_);
        const std::span row = std::span(part.values).last(columns_);
        part.rows->read(row);
        part.hash += data::row_hash(vertex, row);
        part.listed += data::hash_of_row_listed(vertex, rank_);
        dataset_.normalise(row);
    }
}

std::uint64_t RankRows::hash() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.hash;
    return sum;
}

std::uint64_t RankRows::listed() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts_) sum += part.listed;
    return sum;
}

}  // namespace gnnplan::load
