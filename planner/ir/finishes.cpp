#include <gnnplan/ir/finishes.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace gnnplan {
namespace {

bool contains(const std::vector<TensorId>& ids, TensorId id) { return std::ranges::find(ids, id) != ids.end(); }

bool finishes(const MapStep& map) {
    return map.op == MapOp::activate || map.op == MapOp::activation_gradient || map.op == MapOp::apply_mask;
}

class Marking {
public:
    explicit Marking(std::vector<Step>& steps) : steps_(steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            for (const TensorId id : operands_of(steps[i].operation).reads) last_read_[{steps[i].phase, id}] = i;
        }
    }

    void mark(std::size_t i) {
        auto* product = std::get_if<GemmStep>(&steps_[i].operation);
        if (product == nullptr || product->accumulate) return;
        const std::size_t j = next_use(product->out, i);
        MapStep* map = j < steps_.size() ? std::get_if<MapStep>(&steps_[j].operation) : nullptr;
        if (map == nullptr || !finishes(*map) || map->tensor != product->out || made_between(*map, i, j)) return;
        if (map->out && (j != i + 1 || last_read_.at({steps_[i].phase, product->in}) < j)) return;
        product->then = *map;
        map->done_before = true;
    }

private:
    // The first step behind step `i`, in its phase, that uses the tensor; the number of steps if none does.
    std::size_t next_use(TensorId id, std::size_t i) const {
        for (std::size_t j = i + 1; j < steps_.size(); ++j) {
            if (steps_[j].phase != steps_[i].phase) continue;
            const Operands operands = operands_of(steps_[j].operation);
            if (contains(operands.reads, id) || contains(operands.writes, id)) return j;
        }
        return steps_.size();
    }
    // Whether a step between the two writes what the map reads.
    bool made_between(const MapStep& map, std::size_t i, std::size_t j) const {
        const std::vector<TensorId> reads = operands_of(map).reads;
        for (std::size_t k = i + 1; k < j; ++k) {
            const std::vector<TensorId> writes = operands_of(steps_[k].operation).writes;
            if (std::ranges::any_of(writes, [&](TensorId id) { return contains(reads, id); })) return true;
        }
        return false;
    }

    std::vector<Step>& steps_;
    std::map<std::pair<Phase, TensorId>, std::size_t> last_read_;
};

}  // namespace

void mark_finishes(Schedule& schedule) {
    if (!schedule.blocking.finishes_products()) return;
    Marking marking(schedule.steps);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) marking.mark(i);
}

}  // namespace gnnplan
