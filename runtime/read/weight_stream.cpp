#include "runtime/read/weight_stream.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace gnnplan::data {

WeightStream::WeightStream(NpyReader reader, std::int64_t edges) : reader_(std::move(reader)), left_(edges) {
    const NpyHeader& header = reader_->header();
    if (!header.is_float() && !header.is_integer()) {
        reader_->fail("float16, float32, float64 or integers expected as weights of edges, found " + header.describe());
    }
    const std::size_t dimensions = header.shape.size();
    const bool one_column = dimensions == 1 || (dimensions == 2 && header.shape[1] == 1);
    if (!one_column || header.shape[0] != edges) {
        reader_->fail("one weight for each of the " + std::to_string(edges) + " edges expected, found " +
                      header.describe());
    }
}

float WeightStream::next() {
    if (!reader_) return 1;
    if (position_ == block_.size()) {
        block_.resize(static_cast<std::size_t>(std::min<std::int64_t>(left_, 8192)));
        reader_->read_doubles(block_);
        left_ -= static_cast<std::int64_t>(block_.size());
        position_ = 0;
    }
    const auto weight = static_cast<float>(block_[position_++]);
    if (!std::isfinite(weight)) {
        reader_->fail("the weight of edge " + std::to_string(place_) +
                      " (counted from 0) is not finite (or beyond float32)");
    }
    ++place_;
    return weight;
}

void WeightStream::skip(std::int64_t edges) {
    if (!reader_) return;
    reader_->skip(edges);
    left_ -= edges;
    place_ += edges;
}

void WeightStream::finish() {
    if (reader_) reader_->finish();
}

}  // namespace gnnplan::data
