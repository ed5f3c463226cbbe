// Which operations of a graph read which.
#pragma once

#include <gnnplan/ir/op_graph.hpp>

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

    // Whether nothing reads operation `id`.
    bool none(std::size_t id) const { return readers_[id].empty(); }
    // The one operation that reads operation `id`; null where there is none, or several.
    const Op* sole(std::size_t id) const { return readers_[id].size() == 1 ? readers_[id].front() : nullptr; }

private:
    std::vector<std::vector<const Op*>> readers_;
};

}  // namespace gnnplan
