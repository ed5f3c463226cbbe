// Reading guide: values of nonzeros lie as a rank's pieces do, stage after stage (SparseStage::first_edge), and within
// a piece in the order of its nonzeros.
#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::exec {
namespace {

// The values of a matrix's nonzeros, stage by stage.
class Edges {
public:
    Edges(const StepContext& context, TensorId matrix) : store_(context.store), part_(store_.part(matrix)) {}

    // body(nonzeros, first edge) for each stage with a piece.
    template <class Body>
    void for_stages(const Body& body) const {
        for (const SparseStage& stage : part_.stages()) {
            if (stage.piece) body(part_.nonzeros(stage, nullptr), stage.first_edge);
        }
    }
    float* of(TensorId id) const { return store_.data<float>(id); }

private:
    const Store& store_;
    const SparsePart& part_;
};

// A row of the matrix may have nonzeros in several pieces: totals come first.
void softmax(const EdgeStep& step, const StepContext& context) {
    const Edges edges(context, step.matrix);
    const float* scores = edges.of(step.in[0]);
    const float* beta = edges.of(step.in[1]);
    float *weights = edges.of(step.out[0]), *largest = edges.of(step.out[1]), *total = edges.of(step.out[2]);
    bool accumulate = false;
    edges.for_stages([&](const kernels::Csr& nonzeros, std::int64_t first) {
        context.kernels.edge_totals(nonzeros, scores + first, beta, {largest, total}, accumulate);
        accumulate = true;
    });
    edges.for_stages([&](const kernels::Csr& nonzeros, std::int64_t first) {
        context.kernels.edge_softmax(nonzeros, scores + first, beta, {largest, total}, weights + first);
    });
}

void softmax_back(const EdgeStep& step, const StepContext& context) {
    const Edges edges(context, step.matrix);
    kernels::EdgeSoftmaxBack back{edges.of(step.in[0]), edges.of(step.in[1]),     edges.of(step.in[2]),
                                  edges.of(step.in[3]), edges.of(*step.gradient), edges.of(step.out[0])};
    bool accumulate = false;
    edges.for_stages([&](const kernels::Csr& nonzeros, std::int64_t first) {
        kernels::EdgeSoftmaxBack of_stage = back;
        of_stage.scores += first, of_stage.weights += first, of_stage.gradient += first;
        context.kernels.edge_softmax_back(nonzeros, of_stage, accumulate);
        accumulate = true;
    });
}

}  // namespace

void run_step(const EdgeStep& step, const StepContext& context) {
    switch (step.op) {
        case EdgeOp::softmax: return softmax(step, context);
        case EdgeOp::softmax_back: return softmax_back(step, context);
    }
    ensure(false, "an operation on edges has no handler");
}

namespace {

// Values of what a rank has of one root: those of the root's pieces follow each other.
struct OfRoot {
    int root = 0;
    std::size_t first_stage = 0, end_stage = 0;
    std::int64_t first_edge = 0, nonzeros = 0;
};
std::vector<OfRoot> by_root(const SparsePart& part) {
    std::vector<OfRoot> found;
    for (std::size_t k = 0; k < part.stages().size(); ++k) {
        const SparseStage& stage = part.stages()[k];
        if (!stage.piece) continue;
        if (found.empty() || found.back().root != stage.piece->dense_root)
            found.push_back({stage.piece->dense_root, k, k, stage.first_edge, 0});
        found.back().end_stage = k + 1;
        found.back().nonzeros += stage.nonzeros;
    }
    return found;
}

}  // namespace

// The values of others for this rank's rows arrive one rank after the other; its own values stay where they are.
void run_step(const EdgeTransposeStep& step, const StepContext& context) {
    const Store& store = context.store;
    const auto [from, to] = step.reordered_edges(store.schedule());
    const EdgeOrder& order = store.edge_order(from, to);
    const std::int64_t columns = store.block(step.in).columns.size();
    const auto bytes = [&](std::int64_t edges) { return static_cast<std::size_t>(4 * columns * edges); };
    std::vector<comm::Send> sends;
    const std::byte* own = nullptr;
    for (const OfRoot& of : by_root(store.part(from))) {
        const std::byte* values = store.bytes(step.in) + bytes(of.first_edge);
        if (of.root == store.rank()) own = values;
        if (of.root == store.rank() || of.nonzeros == 0) continue;
        sends.push_back({of.root, {values, bytes(of.nonzeros)}});
    }
    std::vector<comm::Receive> receives;
    const std::vector<OfRoot> made = by_root(store.part(to));
    std::vector<const float*> sources;  // by root
    std::byte* received = store.staging(context.step);
    for (const OfRoot& of : made) {
        const bool mine = of.root == store.rank();
        sources.push_back(reinterpret_cast<const float*>(mine ? own : received));
        if (mine || of.nonzeros == 0) continue;
        receives.push_back({of.root, {received, bytes(of.nonzeros)}});
        received += bytes(of.nonzeros);
    }
    context.world.exchange(sends, receives);
    for (std::size_t i = 0; i < made.size(); ++i) {
        for (std::size_t k = made[i].first_stage; k < made[i].end_stage; ++k) {
            const SparseStage& stage = store.part(to).stages()[k];
            context.kernels.gather_rows(
                {sources[i], made[i].nonzeros, columns, columns}, order.stage(k),
                {store.data<float>(step.out) + stage.first_edge * columns, stage.nonzeros, columns, columns});
        }
    }
}

// The values of the ranks of the group arrive one rank after the other, with this rank's own in its place.
void run_step(const EdgeGatherStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Grid& grid = store.schedule().grid;
    const auto [from, to] = step.reordered_edges(store.schedule());
    const EdgeOrder& order = store.edge_order(from, to);
    const std::span<float> own = store.values<float>(step.in);
    std::vector<comm::Send> sends;
    std::vector<comm::Receive> receives;
    auto* all = reinterpret_cast<float*>(store.staging(context.step));
    float* next = all;
    for (int y = 0; y < grid.y; ++y) {
        const int peer = grid.neighbour(store.rank(), Axis::y, y);
        const std::int64_t edges = order.edges_of(y);
        if (peer == store.rank()) {
            context.kernels.copy({own.data(), 1, edges, edges}, {next, 1, edges, edges});
        } else {
            if (!own.empty()) sends.push_back({peer, std::as_bytes(own)});
            if (edges > 0) receives.push_back({peer, std::as_writable_bytes(std::span(next, next + edges))});
        }
        next += edges;
    }
    context.world.exchange(sends, receives);
    for (std::size_t k = 0; k < store.part(to).stages().size(); ++k) {
        const SparseStage& stage = store.part(to).stages()[k];
        context.kernels.gather_rows({all, next - all, 1, 1}, order.stage(k),
                                    {store.data<float>(step.out) + stage.first_edge, stage.nonzeros, 1, 1});
    }
}

}  // namespace gnnplan::exec
