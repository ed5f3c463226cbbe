#include "bench/prediction/sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

namespace gnnplan::bench {
namespace {

constexpr std::size_t contenders_of = 3;  // every third is the fastest of its kind

// Positions not looked at yet, and those chosen. Asking whether one fits may take long, so each is asked for once.
class Pool {
public:
    Pool(const std::vector<Predicted>& by_time, const std::function<bool(std::size_t)>& fits)
        : by_time_(by_time), fits_(fits), left_(by_time.size()) {
        std::iota(left_.begin(), left_.end(), std::size_t{0});
    }

    void take_fastest_of_kinds(std::size_t most) {
        std::set<std::string> kinds;
        std::vector<std::size_t> passed_over;
        for (const std::size_t position : left_) {
            const bool wanted = chosen_.size() < most && !kinds.contains(by_time_[position].kind);
            if (!wanted) {
                passed_over.push_back(position);
            } else if (fits_(position)) {
                kinds.insert(by_time_[position].kind);
                chosen_.push_back(position);
            }
        }
        left_ = std::move(passed_over);
    }

    // The one that fits whose time is nearest in ratio.
    void take_nearest(double seconds) {
        const auto distance = [&](std::size_t position) {
            return std::abs(std::log(by_time_[position].seconds / seconds));
        };
        while (!left_.empty()) {
            const auto nearest = std::min_element(
                left_.begin(), left_.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
            const std::size_t position = *nearest;
            left_.erase(nearest);
            if (!fits_(position)) continue;
            chosen_.push_back(position);
            return;
        }
    }

    std::vector<std::size_t> take_all() {
        for (const std::size_t position : left_) {
            if (fits_(position)) chosen_.push_back(position);
        }
        return chosen();
    }

    std::vector<std::size_t> chosen() {
        std::sort(chosen_.begin(), chosen_.end());
        return chosen_;
    }

private:
    const std::vector<Predicted>& by_time_;
    const std::function<bool(std::size_t)>& fits_;
    std::vector<std::size_t> left_, chosen_;
};

}  // namespace

std::vector<std::size_t> choose_sample(const std::vector<Predicted>& by_time, std::size_t most,
                                       const std::function<bool(std::size_t)>& fits) {
    Pool pool(by_time, fits);
    if (most == 0 || by_time.size() <= most) return pool.take_all();
    pool.take_fastest_of_kinds((most + contenders_of - 1) / contenders_of);
    const std::size_t spread = most - pool.chosen().size();
    const double first = std::log(by_time.front().seconds);
    const double range = std::log(by_time.back().seconds) - first;
    for (std::size_t i = 1; i <= spread; ++i) {
        pool.take_nearest(std::exp(first + range * static_cast<double>(i) / static_cast<double>(spread)));
    }
    return pool.chosen();
}

}  // namespace gnnplan::bench
