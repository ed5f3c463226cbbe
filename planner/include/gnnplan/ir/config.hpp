// A configuration: every decision about how a model is distributed, in the terms of the papers.
#pragma once

#include <gnnplan/ir/layout.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

// Which operand the sparse matrix meets first in A^T H W: S multiplies by the sparse matrix first, D by the weights.
// In the full space layer 1 has no input gradient: its backward letter is '-'.
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

// How a distributed SpMM gets the dense operand's row panels of other ranks.
enum class Exchange : std::uint8_t {
    none,    // nothing to get: every rank has all rows that its sparse block meets
    panels,  // whole panels, straight from their owners, one after the other
    rows,    // of each panel only the rows that the receiver's sparse block has nonzeros for
};

struct Configuration {
    std::optional<std::int64_t> id;  // in the paper space: RDM Table IV's number
    std::string scheme = "rdm";
    Grid grid;
    int replication = 1;            // R_A
    Orders forward;                 // layers 1 .. L
    Orders backward;                // in execution order, layers L .. 1
    std::vector<std::string> kept;  // what is kept, for people: kept_products(operands ..), "T1 across epochs"
    Exchange exchange = Exchange::none;
    bool overlap = false;         // the next panel is on its way while one is multiplied
    bool permutation = false;     // vertices are shuffled
    bool exact = true;            // equals the serial computation up to rounding
    bool constant_input = false;  // the features never change between epochs: no dropout on them

    // Beyond the papers (docs/cost-model.md, "The full space").
    OperandChoice operands;           // layers 1 .. L
    bool cached_aggregation = false;  // T^1 = A^T H^0 is made once, before the first epoch; needs constant_input
    bool replicated_input = false;    // T^1 or H^0 lies in F: layer 1's product is column-parallel
    bool column_loss = false;         // softmax cross-entropy on logits in C
    bool loss_rows = false;           // only the rows that the loss needs are computed
    int parts = 0;                    // > 1: the partitioner numbers vertices by this many parts
    bool bf16 = false;                // products that pack panels round their dense operand to bfloat16: inexact
    bool factored_values = false;     // of the nonzeros only columns are stored; values are products of two scales
};

// Whether an epoch performs exactly what the RDM paper counts, the unused input gradient included.
inline bool paper_semantics(const Configuration& configuration) {
    return configuration.backward.empty() || configuration.backward.back() != Order::none;
}

// The schemes by name: rdm, 1d, 1.5d, 2d, 3d.
const std::vector<std::string>& scheme_names();

// Whether a scheme shards the nonzeros over y: 2d and 3d.
bool shards_nonzeros(std::string_view scheme);

// R_A of rdm, c of 1.5d, 1 of the others. Throws Error{data} when the scheme is unknown or has no such grid:
//   rdm   (P / R_A, R_A, z)   z > 1 splits the contraction side too
//   1d    (P, 1, 1)
//   1.5d  (P / c, c, 1) CAGNET's, dense operands replicated c times; (P / c, 1, c) without replication
//   2d    (p_r, p_c, 1)       nonzeros sharded over y
//   3d    (p_x, p_y, p_z)     nonzeros sharded over y
int replication_of(const std::string& scheme, const Grid& grid);

// The number whose binary digits are the backward letters then the forward letters, first letter most significant, S=0,
// D=1.
std::int64_t paper_id(const Orders& forward, const Orders& backward);

}  // namespace gnnplan
