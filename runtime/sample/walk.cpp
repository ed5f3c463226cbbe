#include "runtime/sample/walk.hpp"

#include <gnnplan/base/at.hpp>

#include <numeric>
#include <random>
#include <utility>

namespace gnnplan::sample {

// std::shuffle differs from one library to the next.
void Walk::draw_order(std::int64_t round) {
    if (round == round_) return;
    round_ = round;
    order_.resize(at(batches_));
    std::iota(order_.begin(), order_.end(), 0);
    std::seed_seq words{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U),
                        static_cast<std::uint32_t>(round)};
    std::mt19937_64 random(words);
    for (std::int64_t i = batches_ - 1; i > 0; --i)
        std::swap(order_[at(i)], order_[random() % static_cast<std::uint64_t>(i + 1)]);
}

std::vector<std::int64_t> Walk::of_update(std::int64_t update, int per_update) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t place = update * per_update; place < (update + 1) * per_update; ++place) {
        if (batches_ == 0) {
            numbers.push_back(place);
            continue;
        }
        draw_order(place / batches_);
        numbers.push_back(order_[at(place % batches_)]);
    }
    return numbers;
}

}  // namespace gnnplan::sample
