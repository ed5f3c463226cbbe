// The weights of edges in an .npy array, one by one.
#pragma once

#include "runtime/read/npy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gnnplan::data {

// Reads in blocks, as IntegerStream does.
class WeightStream {
public:
    // All weights are 1.
    WeightStream() = default;
    // Throws ErrorCode::data unless the array has one number for each of `edges` edges: [E] or [E, 1].
    WeightStream(NpyReader reader, std::int64_t edges);

    // The next weight. Throws ErrorCode::data, naming its place, when it is not finite.
    float next();
    // Leaves the next ones out.
    void skip(std::int64_t edges);
    // Once all are read.
    void finish();

private:
    std::optional<NpyReader> reader_;
    std::int64_t left_ = 0;
    std::int64_t place_ = 0;  // of the next weight
    std::vector<double> block_;
    std::size_t position_ = 0;
};

}  // namespace gnnplan::data
