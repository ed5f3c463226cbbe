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
enum class Order : char { sparse_first = 'S', dense_first = 'D' };

using Orders = std::vector<Order>;

// "SD" <-> {sparse_first, dense_first}. parse_orders throws Error{usage} on other letters.
std::string text(const Orders& orders);
Orders parse_orders(std::string_view letters);

// How a distributed SpMM gets the dense operand's row panels of other ranks.
enum class Exchange : std::uint8_t {
    none,    // p_x = 1: nothing to get
    panels,  // each rank of an x-group broadcasts its panel in turn
};

struct Configuration {
    std::optional<std::int64_t> id;  // in the paper space: RDM Table IV's number
    std::string scheme = "rdm";
    Grid grid;
    int replication = 1;            // R_A
    Orders forward;                 // layers 1 .. L
    Orders backward;                // in execution order, layers L .. 1
    std::vector<std::string> kept;  // forward products kept for the backward pass, e.g. "T1" = A^T H^0
    Exchange exchange = Exchange::none;
    bool overlap = false;
    bool permutation = false;
    bool exact = true;            // equals the serial computation up to rounding
    bool constant_input = false;  // the features never change between epochs: no dropout on them
};

// The number whose binary digits are the backward letters then the forward letters, first letter most significant, S=0,
// D=1.
std::int64_t paper_id(const Orders& forward, const Orders& backward);

}  // namespace gnnplan
