// A configuration: every decision about how a model is distributed, in the terms of the papers.
#pragma once

#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/switches.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

// A layer computes A^T H W in one of two orders: S multiplies by the sparse matrix first, D by the weights. In the full
// space layer 1 has no input gradient: its backward letter is '-'.
enum class Order : char { sparse_first = 'S', dense_first = 'D', none = '-' };

using Orders = std::vector<Order>;

// "SD" <-> {sparse_first, dense_first}. parse_orders throws Error{usage} on letters other than S, D and -.
std::string text(const Orders& orders);
Orders parse_orders(std::string_view letters);

// How the weight gradient of a layer is made: Y = T^T G with T = A^T H^(l-1), or Y = H^(l-1)^T (A G). The product that
// a pass makes anyway is kept (T of a forward S, A G of a backward S); otherwise it is made again.
enum class Operand : char { product = 'T', gradient = 'G' };

using OperandChoice = std::vector<Operand>;

// "TG" <-> {product, gradient}. parse_operands throws Error{usage} on other letters.
std::string text(const OperandChoice& operands);
OperandChoice parse_operands(std::string_view letters);

// How ranks share the nonzeros of the adjacency (ir/pieces.hpp): those of a y-group, which work on the same
// rows of it, or, by a vertex cut, those of an x-group.
enum class Sharing : std::uint8_t {
    replicated,         // each has them all, of its slice z of the columns; dense operands are split over y by columns
    sharded,            // each stores a part, and gets the others' while it multiplies; dense operands as above
    block_distributed,  // each has those in its blocks of columns, and multiplies by whole rows of the dense operand
    cut,  // each rank along x has a part of the edges (CutRule), whatever their rows; those of a y-group have the same
};

// How work is spread over the ranks. The schemes of the papers are distributions on some grids.
struct Distribution {
    Sharing sharing = Sharing::replicated;
    Grid grid;
    bool operator==(const Distribution&) const = default;

    // Whether nonzeros are sent, and whether dense rows are: of groups, where they evaluate on the graph.
    bool sends_nonzeros() const { return sharing == Sharing::sharded && grid.y > 1; }
    bool sends_rows() const { return grid.x > 1; }
    // Whether there is anybody to send anything to.
    bool sends() const { return grid.size() > 1; }
    // Whether a product waits for anything that the next one's transfer could be hidden behind.
    bool can_overlap() const { return sends_rows() || sends_nonzeros(); }
    // Whether edges are dealt to parts of a vertex cut: to ranks that multiply together, or to groups that train apart.
    bool deals_edges() const { return sharing == Sharing::cut || grid.grouped(); }
    // Whether the columns of dense operands are split over y.
    bool splits_columns() const { return grid.y > 1 && sharing != Sharing::block_distributed; }
    // Whether ranks have parts of a vertex's neighbours, so that products are partial sums.
    bool splits_neighbourhoods() const {
        return grid.z > 1 || (grid.y > 1 && sharing == Sharing::block_distributed) || sharing == Sharing::cut;
    }
};

// A distribution, the orders of products, what is kept, and the switches.
struct Configuration : Switches {
    std::optional<std::int64_t> id;  // in the paper space: RDM Table IV's number
    Sharing sharing = Sharing::replicated;
    Grid grid;
    Orders forward;               // layers 1 .. L
    Orders backward;              // in execution order, layers L .. 1; none of an inference, which has no backward pass
    bool constant_input = false;  // the features never change between epochs: no dropout on them

    // Beyond the papers (docs/cost-model.md, "The full space").
    OperandChoice operands;           // layers 1 .. L; none of an inference
    bool cached_aggregation = false;  // T^1 = A^T H^0 is made once, before the first epoch; needs constant_input
    bool replicated_input = false;    // T^1 or H^0 lies in F: layer 1's product is column-parallel
    bool column_loss = false;         // softmax cross-entropy on logits in C

    Switches& switches() { return *this; }
    const Switches& switches() const { return *this; }
    bool operator==(const Configuration&) const = default;
    auto operator<=>(const Configuration&) const = delete;  // their switches alone are in an order

    Distribution on() const { return {sharing, grid}; }
    // The grid with its ranks in their order.
    Grid grid_of_ranks() const;
};

// Whether products round their dense operands where they can.
inline bool rounds(const Configuration& configuration) { return configuration.bf16; }

// Whether the computation equals the serial one up to rounding: on the graph or, where the problem says so, on batches.
inline bool exact(const Configuration& configuration) {
    return !rounds(configuration) && configuration.wire == Wire::fp32 && !configuration.trains_apart();
}

// Says that a run trains on other graphs than on the whole one in every epoch, for people; "" where it does not.
std::string other_results(const Configuration& configuration);

// The forward products that are kept for the backward pass, in words: "T1 across epochs", "T2".
std::vector<std::string> kept_products(const Configuration& configuration);

// Schemes, the papers' names of distributions, are for people and for filters; nothing else asks for them.
//   name   grid                           nonzeros
//   rdm    (P / R_A, R_A, z)              replicated; z > 1 splits the contraction side too
//   1d     (P, 1, 1)                      replicated
//   1.5d   (P / c, c, 1): CAGNET's        dealt; dense operands are there c times
//          (P / c, 1, c)                  replicated
//   2d     (p_r, p_c, 1)                  sharded
//   3d     (p_x, p_y, p_z)                sharded
//   cut    (p, y, 1): DistGNN's cut,      in parts of the edges, p > 1
//          computed by owners
//   groups (g, k, 1): g groups of k ranks, replicated in a group; nobody names it to a search
//          with RDM on 1 x k in each, and 1D or RDM on the graph to evaluate
const std::vector<std::string>& scheme_names();

// The simplest name of a distribution: schemes contain each other (3d with z = 1 is 2d, rdm with R_A = 1 is 1d).
std::string scheme_of(const Distribution& on);

// The distribution that a scheme is on a grid; none where it has no such grid.
std::optional<Distribution> distribution_of(std::string_view scheme, const Grid& grid);

// R_A of rdm, c of 1.5d, 1 of the others, on a grid that the scheme has.
int replication_of(std::string_view scheme, const Grid& grid);
inline int replication_of(const Distribution& on) { return replication_of(scheme_of(on), on.grid); }

inline std::string scheme_of(const Configuration& configuration) { return scheme_of(configuration.on()); }
inline int replication_of(const Configuration& configuration) { return replication_of(configuration.on()); }

// The number whose binary digits are the backward letters then the forward letters, first letter most significant, S=0,
// D=1.
std::int64_t paper_id(const Orders& forward, const Orders& backward);

}  // namespace gnnplan
