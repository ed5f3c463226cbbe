// The rows of features that a rank reads, some at a time.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gnnplan::load {

// Each thread of a rank reads a part of the rank's share of the files of features.
class RankRows {
public:
    // Collective.
    RankRows(comm::Communicator& comm, const data::Dataset& dataset);

    // Reads so many more rows, in place of those before; fewer only where there are no more. Returns how many.
    std::int64_t read(std::int64_t rows);
    // Calls visit(vertex, values) for each of these, normalised.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const Part& part : parts_) {
            for (std::size_t i = 0; i < part.vertices.size(); ++i)
                visit(part.vertices[i], std::span(part.values).subspan(i * columns_, columns_));
        }
    }
    // Sums over all rows so far, as their files have them, of row_hash() and of hash_of_row_listed().
    std::uint64_t hash() const;
    std::uint64_t listed() const;

private:
    struct Part {
        std::unique_ptr<data::FeatureRows> rows;  // null: there are no more
        std::vector<std::int32_t> vertices;
        std::vector<float> values;
        std::uint64_t hash = 0, listed = 0;
    };
    void read(Part& part, std::int64_t rows) const;

    const data::Dataset& dataset_;
    int rank_;
    std::size_t columns_;
    std::vector<Part> parts_;
};

}  // namespace gnnplan::load
