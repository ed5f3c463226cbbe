// OpReaders lists, for each operation of a graph, the operations that read its result.
#pragma once

#include <gnnplan/ir/op_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gnnplan {

class OpReaders {
public:
    // The graph outlives the object. Inputs that do not come before the operation are left out.
    explicit OpReaders(const OpGraph& graph) : readers_(graph.ops.size()) {
        for (std::size_t id = 0; id < graph.ops.size(); ++id) {
            for (const int input : graph.ops[id].inputs) {
                if (input >= 0 && static_cast<std::size_t>(input) < id)
                    readers_[static_cast<std::size_t>(input)].push_back(&graph.ops[id]);
            }
        }
    }

    // Whether all but one of those that read operation `id` map it, or add it to something else.
    bool goes_on_once(std::size_t id) const {
        const auto goes_on = [id](const Op* op) {
            const bool first = op->inputs.front() == static_cast<int>(id);
            return op->kind != OpKind::add && op->kind != OpKind::linear && first;
        };
        return std::ranges::count_if(readers_[id], goes_on) <= 1;
    }
    // Whether nothing reads operation `id`.
    bool none(std::size_t id) const { return readers_[id].empty(); }
    // The one operation that reads operation `id`; null where there is none, or several.
    const Op* sole(std::size_t id) const { return readers_[id].size() == 1 ? readers_[id].front() : nullptr; }

private:
    std::vector<std::vector<const Op*>> readers_;
};

}  // namespace gnnplan
