// The switches of a configuration: choices that hold for all of its layers. A switch is a member and a row of `fields`;
// plan files, equality and the keys of memoised searches are made from the rows.
#pragma once

#include <gnnplan/ir/cut_rule.hpp>
#include <gnnplan/ir/wire.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gnnplan {

// How a distributed SpMM gets the dense operand's row panels of other ranks.
enum class Exchange : std::uint8_t {
    none,          // nothing to get: every rank has all rows that its sparse block meets
    panels,        // whole panels, straight from their owners, one after the other
    rows,          // of each panel only the rows that the receiver's sparse block has nonzeros for
    relay,         // whole panels, which enter a node once: its ranks pass on what they have got (panel_relay.hpp)
    relayed_rows,  // needed rows that enter a node once (row_relay.hpp)
};

// How the ranks of a y-group, which have some columns of the rows that an edge joins, make the products of these rows,
// on which its weight depends (SDDMM). In the terms of DEAL: its two distributions are made of whole rows.
enum class Scores : std::uint8_t {
    columns,     // each of its own columns; the products are summed over the group, a value for each edge
    whole_rows,  // whole rows are gathered on every rank of the group, and each makes all products (DEAL's duplication)
    dealt_rows,  // each those of its part of the rows, of whole rows; the products are gathered, a value for each edge
};

// How the backward pass of additive attention gets the scores of edges, and knows which of them dropout drops.
enum class AttentionScores : std::uint8_t {
    recompute,  // it makes and draws them again, from numbers of vertices
    stored,     // the forward pass keeps a number for each edge and head, which goes to where the edge's source is
};

// The axis along which ranks are numbered first (Grid::nearest), so that a node has ranks that differ in it.
enum class NodeAxis : std::uint8_t {
    y,  // ranks that share rows, which redistribute among each other
    x,  // ranks that have different rows, and send each other panels
    z,  // ranks that have different parts of a product's sum
};

// Whether only the rows are sent that the receiver needs.
constexpr bool by_need(Exchange exchange) { return exchange == Exchange::rows || exchange == Exchange::relayed_rows; }

// Whether ranks of a node pass on what they have got, so that messages follow from which ranks share one.
constexpr bool relays(Exchange exchange) { return exchange == Exchange::relay || exchange == Exchange::relayed_rows; }

// Whether a product can pack panels under these switches.
constexpr bool packs_panels(Exchange exchange, bool overlap) { return !overlap && !by_need(exchange); }

// The parts of a search that a switch makes a difference to. Each part keeps results for configurations that differ
// only in switches that it does not feel, so a switch is felt by all of them unless its row says otherwise.
struct FeltBy {
    bool lowering = true;    // which steps a schedule has; else the steps are the same, and products alone feel it
    bool memory = true;      // how much memory a rank needs
    bool loading = true;     // how long an inference takes to load the graph
    bool candidates = true;  // a plan may carry candidates that differ in nothing else, for autotuning to try
};

inline constexpr int remade_from_norms = -1;  // of Switches::remade

struct Switches {
    Exchange exchange = Exchange::none;
    bool overlap = false;             // the next panel is on its way while one is multiplied
    bool permutation = false;         // vertices are shuffled
    bool loss_rows = false;           // only the rows that the loss needs are computed
    int parts = 0;                    // > 1: the partitioner numbers vertices by this many parts
    bool factored_values = false;     // of the nonzeros only columns are stored; values are products of two scales
    bool bf16 = false;                // products that pack panels round their dense operand to bfloat16: inexact
    Scores scores = Scores::columns;  // of layers that weigh by cosines, where y splits columns
    bool ring = false;                // of an inference: dense products between columns exchange tiles (RingGemmStep)
    // How layers with additive attention get their scores in training.
    AttentionScores attention = AttentionScores::recompute;
    NodeAxis node_axis = NodeAxis::y;
    // > 0: training keeps what every so many layers read, and makes these layers again before their backward pass; the
    // last ones follow it at once. Chen et al. 2016, "Training deep nets with sublinear memory cost".
    // remade_from_norms: it keeps the sums that norms read, and makes what follows them again.
    int remade = 0;
    CutRule cut_rule = CutRule::none;  // how edges are dealt to `parts` parts, where ranks share them so (Sharing::cut)

    CloneLoss clones = CloneLoss::none;  // groups of ranks train on parts of a cut with clones of vertices
    std::optional<int> delay = {};       // after how many epochs clones of a vertex get sums of each other's

    Wire wire = Wire::fp32;  // in which messages carry elements of matrices, where they may be rounded

    // Whether groups train on parts of the graph in place of the whole one, without each other's sums in every product.
    bool trains_apart() const { return clones != CloneLoss::none && delay != 0; }

    // The same with bfloat16 only where products pack panels.
    Switches rounded_where_packed() const {
        Switches switches = *this;
        switches.bf16 = bf16 && packs_panels(exchange, overlap);
        return switches;
    }

    // The same where vertices are numbered by no parts, of a partitioner or of a cut.
    Switches without_parts() const {
        Switches switches = *this;
        switches.parts = 0;
        switches.cut_rule = CutRule::none;
        return switches;
    }

    // Compared by the members in this order: of two, the one that leaves the earlier switch off is less.
    auto operator<=>(const Switches&) const = default;  // NOLINT(modernize-use-nullptr): there is none

    // A row calls archive.value(key, member, felt by), or archive.optional where a plan file has no key unless the
    // switch is on.
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("exchange", self.exchange, FeltBy{.lowering = false, .loading = false});
        archive.value("overlap", self.overlap, FeltBy{.lowering = false, .memory = false, .loading = false});
        archive.value("permutation", self.permutation, FeltBy{.memory = false});
        archive.value("loss_rows", self.loss_rows, FeltBy{});
        archive.value("parts", self.parts, FeltBy{.memory = false, .candidates = false});
        archive.value("factored_values", self.factored_values, FeltBy{.loading = false, .candidates = false});
        archive.optional("bf16", self.bf16,
                         FeltBy{.lowering = false, .memory = false, .loading = false, .candidates = false});
        archive.optional("scores", self.scores, FeltBy{.candidates = false});
        archive.optional("ring", self.ring, FeltBy{.loading = false, .candidates = false});
        archive.optional("attention", self.attention, FeltBy{.loading = false, .candidates = false});
        archive.optional("node_axis", self.node_axis, FeltBy{.memory = false});
        archive.optional("remade", self.remade, FeltBy{.loading = false, .candidates = false});
        archive.optional("cut_rule", self.cut_rule, FeltBy{.candidates = false});
        archive.optional("clones", self.clones, FeltBy{.candidates = false});
        archive.optional("delay", self.delay, FeltBy{.candidates = false});
        archive.optional("wire", self.wire, FeltBy{.loading = false, .candidates = false});
    }
};

// Pinned values of the switches; unset: searched.
struct Pins {
    std::optional<Exchange> exchange;  // any but none, where a grid has panels to exchange
    std::optional<bool> overlap;
    std::optional<bool> permutation;
    std::optional<bool> loss_rows;  // whether layers work on the rows only that the loss needs
    std::optional<bool> factored_values;
    std::optional<AttentionScores> attention;  // where backward passes of additive attention have scores from
    std::optional<Scores> scores;              // how ranks make scores of edges together, in models that have any
    std::optional<NodeAxis> node_axis;         // along which ranks are numbered first, on grids that have such ranks
    std::optional<CutRule> cut_rule;           // how edges are dealt to the parts of a cut; any but none
    std::optional<CloneLoss> clones;           // groups of ranks train on clones, which nothing does unasked
    std::optional<int> delay;                  // of sums that clones get of each other's; unset: they get none
    std::optional<int> remade;                 // of how many layers at a time the forward pass is made again
    std::optional<Wire> wire;                  // in which messages may carry elements: bf16 allows both
    std::optional<bool> ring;                  // whether dense products of an inference exchange tiles where they can
    bool bf16 = false;                         // dense operands of products rounded to bfloat16 where panels are packed
    bool partition = false;  // vertices numbered by a partitioner, where the graph is there to be partitioned

    // Pins to off what no published system does, unless it is pinned; only training has rows that the loss needs.
    void pin_as_published(bool trains) {
        factored_values = factored_values.value_or(false);
        if (trains) loss_rows = loss_rows.value_or(false);
    }

    // The switches of the paper's space, on a grid with `x` ranks along x, which searches none of them and has no use
    // for the others: whole panels are exchanged, and all else is off, unless it is pinned.
    Switches unsearched(int x) const {
        Switches switches;
        if (x > 1) switches.exchange = exchange.value_or(Exchange::panels);
        switches.overlap = overlap.value_or(false);
        switches.permutation = permutation.value_or(false);
        switches.factored_values = factored_values.value_or(false);
        switches.bf16 = bf16;
        switches.node_axis = node_axis.value_or(NodeAxis::y);
        switches.wire = wire.value_or(Wire::fp32);
        switches.parts = partition ? x : 0;
        return switches.rounded_where_packed();
    }
};

// The value of the row with this key.
FeltBy felt_by(std::string_view key);

// The switches with those at their defaults that this part of a search does not feel.
Switches as_felt(const Switches& switches, bool FeltBy::*by);

}  // namespace gnnplan
