// Rules: which values each switch of a configuration may have, for a model, a distribution and a question, or why none.
// A switch has its rules in a file of switches/, and a row of the table.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/sites.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::enumerate {

// The values of switches depend on this, besides the distribution. The model outlives the object.
struct Asked {
    const SiteGraph& model;
    Pins pins = {};
    // Whether any dense product of a configuration exchanges tiles where it may: lowering knows (lower/rules.hpp).
    bool (*rings)(const SiteGraph& model, const Configuration& configuration) = nullptr;
    int ranks_per_node = 1;        // of the machine
    bool counted = true;           // the graph is there: statistics know no order of vertices
    bool edge_weights = false;     // values are made of weights of edges
    bool cuts_are_known = true;    // why_no_cut() alone asks: by the graph's edges, or by replication factors
    bool draws = false;            // layers draw the edges that they multiply by
    bool drawn_weighted = false;   // or of how many edges a drawn one stands for
    bool batches = false;          // updates are of batches, on which groups train
    bool batch_weights = false;    // whose edges have coefficients
    bool in_shares = false;        // ranks load shares of the graph, and nobody has the whole of it
    bool saves_rows = false;       // there are vertices that the loss does not need
    bool layer_by_layer = false;   // layers are costed one after the other
    bool drops_attention = false;  // runs drop weights of attention
    bool buys_memory = false;      // slower values are searched, too, which need less memory
    bool several_nodes = false;    // ranks are on more than one, of several ranks each
};

// A chosen configuration's switches with one of them otherwise, and that value as it is spelled in plan files, or "on"
// and "off".
struct OtherValue {
    std::string value;
    Switches switches;
};

// A value of a switch that the search has left out.
struct LeftOut {
    std::string what;
    std::string why;
    bool dominated = false;  // else it is not applicable
    std::int64_t grids = 0;  // that are without it
};

struct SwitchRow {
    const char* key;  // as in Switches::fields
    bool (*pinned)(const Pins& pins);
    // The switches so far with each value of this one that a search looks at, in its order.
    std::vector<Switches> (*searched)(const Asked& asked, const Distribution& on, const Switches& so_far);
    // The rest may be null. The other values of a chosen configuration whose worth is of interest, pinned or not:
    std::vector<OtherValue> (*others)(const Asked& asked, const Configuration& chosen) = nullptr;
    // throws Error{usage} where the switch is pinned to something that the question has no use for:
    void (*check)(const Asked& asked) = nullptr;
    std::optional<LeftOut> (*left_out)(const Asked& asked, const std::vector<Distribution>& grids) = nullptr;
};

// In the order in which alternatives are listed.
std::span<const SwitchRow* const> switch_rows();

void check_pins(const Asked& asked);

// Switches that differ in what lowering feels, in the order of the search: the last row varies slowest. Whether values
// are factored is decided before.
std::vector<Switches> lowered_switches(const Asked& asked, const Distribution& on, bool factored_values);
// The same switches with each value of those that products alone feel: the first row varies slowest.
std::vector<Switches> product_switches(const Asked& asked, const Distribution& on, const Switches& lowered);

// The switches with ranks numbered along each other axis first that makes a difference to where they are; none where
// the axis is pinned.
std::vector<Switches> on_other_node_axes(const Asked& asked, const Distribution& on, const Switches& switches);

// Whether to factor values, where the search would have them as `unless_sent` says: factored ones are slower to
// multiply and take less memory, and where nonzeros are sent they are fewer bytes, so that time alone cannot do
// without.
std::vector<bool> factored_values(const Asked& asked, const Distribution& on, const std::vector<bool>& unless_sent);
// The only way to store values, where there is one.
std::optional<bool> only_values(const Asked& asked);

// The numbering of groups that train on clones, as it is asked for.
Numbering numbering_of_groups(const Pins& pins, int groups, std::uint64_t seed);
// The numbering of groups that train on batches.
Numbering numbering_of_batches(const Batches& batches, int groups);

// Whether a rule of vertex cuts is pinned, and why edges cannot be dealt to ranks by a cut; none where they can, of a
// model whose products are sums.
bool asks_for_cut(const Pins& pins);
std::optional<std::string> why_no_cut(const Asked& asked);

std::vector<LeftOut> left_out(const Asked& asked, const std::vector<Distribution>& grids);

// Throws Error{usage} where a ring is asked for, and none of these grids splits columns, or no product rings on them.
void check_ring(const Asked& asked, const std::vector<Distribution>& grids, bool any_product_rings);

}  // namespace gnnplan::enumerate
