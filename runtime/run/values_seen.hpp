// Collects facts about the values of a matrix of vertices while ranks write or read them, each value once.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/deploy/outputs.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::run {

class ValuesSeen {
public:
    // `columns`: the number of columns of the whole matrix.
    explicit ValuesSeen(std::int64_t columns) : columns_(columns) {}

    // Looks at some columns of consecutive rows of the tensor; `rows` knows the vertices that they belong to.
    void look(const deploy::OutputRows& rows, Range part, Range columns, std::span<const float> values);

    // Collective: the same on every rank, on any number of ranks and any grid. Unset where all values are finite.
    std::string hash(comm::Communicator& comm) const;
    std::optional<NotFinite> not_finite(comm::Communicator& comm) const;

private:
    std::int64_t columns_;
    std::uint64_t hash_ = 0;  // a sum over values, which does not depend on who has which
    std::int64_t values_ = 0;
    std::int64_t first_vertex_ = 0;
    std::vector<Range> rows_;  // with values that are not finite
};

}  // namespace gnnplan::run
