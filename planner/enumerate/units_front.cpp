// The units of layer l depend on its own two letters and on those of layer l + 1: where forward l leaves H^l and where
// the gradient comes from. So units are a sum of terms of neighbours, and a term is a difference of paper_units of two
// networks cut out of the whole: layers l and l + 1, less layer l + 1 alone. A state (the letters of one layer) keeps
// the front of what the layers before it can add up to.
#include "planner/enumerate/units_front.hpp"

#include "planner/enumerate/units.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace gnnplan::enumerate {
namespace {

constexpr std::size_t states = 4;
constexpr std::size_t max_points = std::size_t{1} << 25U;  // of all layers together; 4 bytes each

Order forward_of(std::size_t state) { return state < 2 ? Order::sparse_first : Order::dense_first; }
Order backward_of(std::size_t state) { return state % 2 == 0 ? Order::sparse_first : Order::dense_first; }

struct Point {
    Units units;
    std::uint32_t before = 0;  // in the layer before: index in its front * states + state
};

using Front = std::vector<Point>;
using Fronts = std::array<Front, states>;

bool less(const Point& a, const Point& b) {
    return std::pair(a.units.redistribution, a.units.sparse) < std::pair(b.units.redistribution, b.units.sparse);
}

Front merged(const Front& a, const Front& b) {
    Front all;
    all.reserve(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all), less);
    return all;
}

// Keeps the points that need fewer sparse units than all before them; they come by increasing redistribution.
void keep_front(Front& points) {
    double best = std::numeric_limits<double>::infinity();
    std::erase_if(points, [&](const Point& point) {
        if (point.units.sparse >= best) return true;
        best = point.units.sparse;
        return false;
    });
}

Units units_of_one(std::size_t state, std::int64_t in, std::int64_t out) {
    return paper_units({{forward_of(state)}, {backward_of(state)}}, {in, out});
}

class Search {
public:
    explicit Search(const std::vector<std::int64_t>& widths) : widths_(widths), layers_(widths.size() - 1) {}

    std::vector<FrontMember> run() {
        Fronts fronts;
        for (Front& front : fronts) front.push_back({});
        for (std::size_t layer = 1; layer < layers_; ++layer) {
            fronts = next(fronts, layer);
            remember(fronts);
        }
        Front ends;
        for (std::size_t state = 0; state < states; ++state) {
            const Units last = units_of_one(state, widths_[layers_ - 1], widths_[layers_]);
            ends = merged(ends, moved(fronts[state], last, state));
        }
        keep_front(ends);
        std::vector<FrontMember> members;
        members.reserve(ends.size());
        for (const Point& end : ends) members.push_back({trace(end.before), end.units});
        return members;
    }

private:
    // A front with `term` added to each point, pointing back at where it came from.
    static Front moved(const Front& front, const Units& term, std::size_t state) {
        Front out;
        out.reserve(front.size());
        for (std::size_t i = 0; i < front.size(); ++i) {
            const Units& units = front[i].units;
            out.push_back({{units.redistribution + term.redistribution, units.sparse + term.sparse},
                           static_cast<std::uint32_t>(i * states + state)});
        }
        return out;
    }

    // The units that layer `layer` adds in `state` before `after`.
    Units term(std::size_t layer, std::size_t state, std::size_t after) const {
        const Units both =
            paper_units({{forward_of(state), forward_of(after)}, {backward_of(after), backward_of(state)}},
                        {widths_[layer - 1], widths_[layer], widths_[layer + 1]});
        const Units alone = units_of_one(after, widths_[layer], widths_[layer + 1]);
        return {both.redistribution - alone.redistribution, both.sparse - alone.sparse};
    }

    Fronts next(const Fronts& fronts, std::size_t layer) const {
        Fronts longer;
        for (std::size_t after = 0; after < states; ++after) {
            for (std::size_t state = 0; state < states; ++state) {
                longer[after] = merged(longer[after], moved(fronts[state], term(layer, state, after), state));
            }
            keep_front(longer[after]);
        }
        return longer;
    }

    void remember(const Fronts& fronts) {
        auto& layer = before_.emplace_back();
        for (std::size_t state = 0; state < states; ++state) {
            for (const Point& point : fronts[state]) layer[state].push_back(point.before);
            points_ += fronts[state].size();
        }
        if (points_ > max_points) {
            throw Error(ErrorCode::usage,
                        "the Pareto front of " + std::to_string(layers_) + " layers of so many widths is too large",
                        "widths", "let more layers have the same width");
        }
    }

    // The letters of the layers, from the last one back.
    OrderPair trace(std::uint32_t at) const {
        OrderPair orders;
        for (std::size_t layer = layers_;; --layer) {
            const std::size_t state = at % states;
            orders.forward.push_back(forward_of(state));
            orders.backward.push_back(backward_of(state));
            if (layer == 1) break;
            at = before_[layer - 2][state][at / states];
        }
        std::reverse(orders.forward.begin(), orders.forward.end());
        return orders;
    }

    const std::vector<std::int64_t>& widths_;
    std::size_t layers_;
    std::vector<std::array<std::vector<std::uint32_t>, states>> before_;  // of layers 2 .. L
    std::size_t points_ = 0;
};

}  // namespace

std::vector<FrontMember> paper_front(const std::vector<std::int64_t>& widths) {
    ensure(widths.size() >= 2, "a network has at least two widths");
    return Search(widths).run();
}

}  // namespace gnnplan::enumerate
