// The integers of an .npy array, one by one.
#pragma once

#include "runtime/read/npy.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::data {

// Reads in blocks: what a header promises is not allocated before it is there.
class IntegerStream {
public:
    explicit IntegerStream(NpyReader reader) : reader_(std::move(reader)), left_(reader_.header().count()) {}

    NpyReader& reader() { return reader_; }

    void skip(std::int64_t count) {
        reader_.skip(count);
        left_ -= count;
    }

    std::int64_t next() {
        if (position_ == block_.size()) {
            block_.resize(static_cast<std::size_t>(std::min<std::int64_t>(left_, 8192)));
            reader_.read_integers(block_);
            left_ -= static_cast<std::int64_t>(block_.size());
            position_ = 0;
        }
        return block_[position_++];
    }

    // Lets messages say why ids are limited.
    void explain_limit(std::string reason) { limit_reason_ = std::move(reason); }

    // An id in [0, limit).
    std::int32_t next_vertex(std::int64_t limit) {
        const std::int64_t id = next();
        if (id < 0) reader_.fail("vertex id " + std::to_string(id) + " is negative");
        if (id >= limit) {
            reader_.fail(
                "vertex id " + std::to_string(id) + " is out of range: it must be below " + std::to_string(limit),
                limit_reason_);
        }
        return static_cast<std::int32_t>(id);
    }

private:
    NpyReader reader_;
    std::int64_t left_;
    std::string limit_reason_;
    std::vector<std::int64_t> block_;
    std::size_t position_ = 0;
};

}  // namespace gnnplan::data
