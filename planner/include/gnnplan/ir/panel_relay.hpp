// Relayed panels (Exchange::relay): which rank sends another one the rows of its pieces.
//
// Ranks of a node follow each other, and a rank of an x-group comes to a piece some stages after the rank one further
// along (pieces.hpp). Where both are on one node, and the other is far enough ahead, it passes on what it has got,
// while both multiply; else the rows come straight from the rank that holds them. So a panel of another node enters a
// node once, at the last of its ranks along x, and goes from neighbour to neighbour there. Every row travels once to
// each rank that lacks it, as without: bytes in all are the same.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstddef>
#include <optional>

namespace gnnplan {

// Whether any rank of a grid has its neighbour along x on its node, and others elsewhere: else nothing is relayed, or
// nothing is saved.
bool relay_saves(const Grid& grid, int ranks_per_node);

// The product whose panels are relayed; null of other steps.
const SpmmStep* relaying(const Operation& operation);

// Whether what ranks send each other in a step follows from which of them share a node: panels, or rows, are relayed.
bool by_nodes(const Operation& operation);

class PanelRelay {
public:
    // The product has to relay panels; both arguments outlive the object.
    PanelRelay(const Schedule& schedule, const SpmmStep& product);

    // The rank `from` passes rows on to another one: those of the other's pieces from stage `first` on, which it came
    // to `behind` stages before.
    struct Passing {
        int from = 0;
        std::size_t behind = 0;
        std::size_t first = 0;
    };
    std::optional<Passing> to(int rank) const;
    // The rank that `rank` passes rows on to, and how.
    struct Passed {
        int to = 0;
        Passing how;
    };
    std::optional<Passed> from(int rank) const;

    // For how many pieces a rank has room besides those that are multiplied or on their way: those that it has got and
    // not passed on yet. The same for all ranks of an x-group.
    int kept(int rank) const;

private:
    bool on_one_node(int a, int b) const { return a / schedule_.ranks_per_node == b / schedule_.ranks_per_node; }
    std::size_t pieces(int rank) const;
    std::size_t behind(int rank, int next, std::size_t pieces) const;

    const Schedule& schedule_;
    const Tensor& matrix_;
    bool sharded_;
    std::size_t under_way_;  // pieces on their way at a time
    bool overlap_;
};

}  // namespace gnnplan
