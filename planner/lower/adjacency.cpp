// The matrix of a layer as products read it, and products with it: how the configuration's switches have it stored, and
// its operands exchanged.
#include "planner/lower/builder.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan::lower {

// Columns of the widest operand of a product, of those that a rank has.
std::int64_t Builder::widest_product() const {
    const SiteGraph& model = rules_.model();
    std::int64_t widest = 1;
    for (int l = 1; l <= model.depth; ++l) {
        const bool multiplies = l > 1 || !configuration().cached_aggregation;
        if (model.product(l).heads.count > 0) widest = std::max(widest, model.product(l).mapped_width());
        const bool input = rules_.forward(l) == Order::sparse_first;
        const bool output = rules_.backward(l) == Order::sparse_first;
        if (multiplies) widest = std::max(widest, input ? model.in_width(l) : model.out_width(l));
        if (model.orders_backward(l) && rules_.backward(l) != Order::none)
            widest = std::max(widest, output ? model.out_width(l) : model.in_width(l));
    }
    return rules_.block_distributed() ? widest : (widest + schedule_.grid.y - 1) / schedule_.grid.y;
}

// The rows of a slice of the widest dense operand that one source panel meets fill most of the cache; panels with few
// nonzeros a row would be walked for their row starts. (bench/results/spmm.md: within a tenth of the best number of
// panels for widths of 16 to 602.)
std::int64_t Builder::panel_columns() const {
    constexpr std::int64_t slice_columns = 128;  // that the kernel multiplies at a time, or some more
    constexpr std::int64_t least_nonzeros = 20;  // a row and panel, on average
    if (graph_.panel_columns > 0 || graph_.cache_bytes == 0) return graph_.panel_columns;
    const std::int64_t columns = longest_contraction();
    const std::int64_t dense = columns * 4 * std::min(slice_columns, widest_product());
    const std::int64_t room = graph_.cache_bytes / 4 * 3;
    const std::int64_t panels = std::min(dense / room + 1, graph_.nonzeros / graph_.vertices / least_nonzeros);
    return panels < 2 ? 0 : (columns + panels - 1) / panels;
}

// The vertices of the graph, or of the largest one of a group.
std::int64_t Builder::longest_contraction() const {
    const std::vector<std::int64_t>& first = schedule_.grid.groups;
    if (!in_groups()) return graph_.vertices;
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < first.size(); ++i) longest = std::max(longest, first[i] - first[i - 1]);
    return longest;
}

// Rows over x and the contraction side over other axes, or over x as well in groups, or parts of the edges over x.
Layout Builder::adjacency_layout() const {
    const Sharing sharing = configuration().sharing;
    if (sharing == Sharing::cut) return {{}, {}, Axes::parse("x")};
    if (in_groups()) return {Axes::parse("x"), Axes::parse("x"), {}};
    const Axes contraction =
        rules_.block_distributed() ? Axes::parse("y") : Axes::parse(sharing == Sharing::sharded ? "zy" : "z");
    return {Axes::parse("x"), contraction, {}};
}

std::string Builder::adjacency_name(bool transposed, const Rows& rows, const Rows& columns, int sample) const {
    std::string name = transposed ? "A^T" : "A";
    if (sample > 0) name += ".drawn" + std::to_string(sample);
    if (in_groups()) name += ".groups";
    if (rows.count < graph_.vertices || columns.count < graph_.vertices)
        name += "." + std::to_string(rows.count) + "x" + std::to_string(columns.count);
    return name;
}

TensorId Builder::adjacency(int l, Direction direction, int hop, RowSplit split) {
    const bool forward = direction == Direction::forward;
    const int before = space(l - 1, hop - 1), after = space(l - 1, hop);
    const Rows rows = rows_in(forward ? after : before), columns = rows_in(forward ? before : after);
    const bool square = rows.count == columns.count;
    // With coefficients a value of a batch is of its target: it is not that of the reverse edge.
    const bool weighed = in_groups() && schedule_.numbering.weighs_batches();
    const bool transposed = forward || (graph_.symmetric && square && !weighed);  // one copy, named for forward
    const bool factored = configuration().factored_values;
    std::optional<TensorId> structure;
    if (!transposed && factored && graph_.symmetric_pattern && square)
        structure = adjacency(l, Direction::forward, hop);
    const int sample = graph_.samples.empty() ? 0 : graph_.samples[static_cast<std::size_t>(l - 1)];
    ensure(sample == 0 || forward, "edges are drawn of those into a vertex");
    if (sample > 0 && configuration().sharing == Sharing::cut)
        throw Error(ErrorCode::usage, "drawn edges are not dealt to parts of a cut", "scheme cut");
    const bool dealt = split == RowSplit::over_all;
    const std::string name = adjacency_name(transposed, rows, columns, sample) + (dealt ? ".dealt" : "");
    Layout layout = adjacency_layout();
    if (dealt) layout = {layout_r().rows, in_groups() ? layout.columns : Axes(), {}};
    const TensorId id = resident(name, Role::adjacency, DType::f32, rows, columns.count, layout);
    Tensor& matrix = schedule_.tensors[static_cast<std::size_t>(id)];
    matrix.transposed = transposed;
    matrix.sample = sample;
    matrix.column_space = columns.space;
    matrix.storage = {factored, panel_columns(), 1};
    const Reduce reduce = rules_.model().product(l).reduce;
    const bool stores = reduce == Reduce::attention && configuration().attention == AttentionScores::stored;
    const bool edges = reduce == Reduce::cosine || stores;  // values come and go in whole blocks
    if (configuration().overlap && !edges) matrix.storage.splits = splits_for_overlap(schedule_.grid, matrix);
    matrix.structure = structure;
    return id;
}

// Setup steps come first in the list, in the order in which they were found to be needed.
void Builder::request_rows(RowRequestStep request) {
    const std::string name = (request.targets ? "index.targets." : "index.") + tensor(request.matrix).name;
    std::size_t position = 0;
    for (; position < schedule_.steps.size() && schedule_.steps[position].phase == Phase::setup; ++position) {
        if (schedule_.steps[position].name == name) return;
    }
    // Before every product of setup, which may need them.
    schedule_.steps.insert(schedule_.steps.begin(),
                           Step{name, Phase::setup, request, {Pass::forward, layer_, OpKind::aggregate}});
}

SpmmStep Builder::product(int l, Direction direction, int hop) {
    const TensorId matrix = adjacency(l, direction, hop);
    const Tensor& m = tensor(matrix);
    SpmmStep product{matrix, {}, {}, Exchange::none, false};
    product.follow(configuration(), schedule_.grid, m);
    const TensorId stored = m.structure.value_or(matrix);
    if (m.cut()) request_rows({stored, true});
    if (by_need(product.exchange)) request_rows({stored, false, product.exchange == Exchange::relayed_rows});
    return product;
}

}  // namespace gnnplan::lower
