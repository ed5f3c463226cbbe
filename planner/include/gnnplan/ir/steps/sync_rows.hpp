#pragma once

#include <gnnplan/ir/steps/step.hpp>
#include <gnnplan/ir/wire.hpp>

namespace gnnplan {

// Clones of a vertex get the sum over all its edges in these parts (DistGNN, algorithm 4). A row of a clone is the sum
// over the edges of its group, scaled as a row of the whole graph is.
enum class SyncPart : std::uint8_t {
    to_owners,  // owners add the sums of other clones to theirs
    to_clones,  // other clones get the owner's sum in place of theirs
    // Clones whose row was not the sum over all edges scale their gradient as that row was. Nothing is sent.
    adjoint,
};

// In place, in groups; the adjoint of both parts with no delay are both parts. With a delay of r (Numbering::delay),
// only vertices of the epoch's bin are sent and change, and what arrives was sent r epochs ago. Then `own` is what the
// product has read, of which owners do not get the self loops again, and rows of all others are scaled as the degree
// that was aggregated asks for, by the last part. `in_flight` keeps what was sent and what will arrive, as it travels.
// In bfloat16, what owners get and what they give is rounded; they add in float32, and keep their own sum as it is.
struct SyncRowsStep {
    SyncPart part = SyncPart::to_owners;
    TensorId rows;
    std::optional<TensorId> own = {};
    std::optional<TensorId> in_flight = {};
    Wire wire = Wire::fp32;

    static constexpr std::string_view kind = "sync_rows";
    static constexpr bool local = false;
    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
        archive.value("part", self.part);
        archive.updates("rows", self.rows);
        archive.may_read("own", self.own);
        archive.may_read("in_flight", self.in_flight);
        archive.optional("wire", self.wire);
    }
    TensorId subject() const { return rows; }
    bool sends() const { return part != SyncPart::adjoint; }
    bool can_narrow(const Schedule&) const { return sends(); }
    void check(const StepCheck& step) const;
    std::vector<int> peers(const Schedule& schedule, int rank) const;
    Message between(const Schedule& schedule, const GraphStats& graph, int from, int to) const;
    Staging staging(const Schedule& schedule, const GraphStats& graph, int rank) const;
    RankWork work(const Schedule& schedule, const GraphStats& graph, int rank) const;
    bool depends_on_graph(const Schedule&) const { return true; }
    // Whether messages travel while epochs go on.
    bool in_background() const { return in_flight.has_value(); }
};

}  // namespace gnnplan
