#include "runtime/exec/program_kernels.hpp"

namespace gnnplan::exec {

kernels::Attention ProgramKernels::attention(TensorId wide, TensorId by_heads) const {
    const Store& store = context_.store;
    const std::int64_t columns = tensor_of(store.schedule(), wide).columns / step_.attending.heads;
    const std::int64_t first_head = store.block(by_heads).columns.begin;
    kernels::Attention how;
    how.heads = {columns, store.block(wide).columns.begin - columns * first_head};
    how.slope = static_cast<float>(step_.attending.slope);
    return how;
}

template <class Vertices>
kernels::AttentionDropout ProgramKernels::dropout(TensorId by_heads, const Vertices& rows,
                                                  const Vertices& columns) const {
    const auto numbers = [](const Vertices& of) {
        return of ? reinterpret_cast<const std::int32_t*>(of->data) : nullptr;
    };
    return {context_.settings.seed,
            context_.pass,
            static_cast<std::uint32_t>(step_.attending.layer),
            context_.settings.attention_dropout,
            context_.store.block(by_heads).columns.begin,
            step_.attending.heads,
            numbers(rows),
            numbers(columns)};
}

void ProgramKernels::compute(const kernels::Csr& nonzeros, const Views& views, bool accumulate,
                             kernels::PanelRoom room) const {
    const kernels::Table& kernels = context_.kernels;
    switch (step_.program) {
        case Program::sum: {
            const auto of = named<SumOperands>(views);
            return kernels.spmm(nonzeros, of.in, of.out, accumulate, room);
        }
        case Program::edge_sum: {
            const auto of = named<EdgeSumOperands>(views);
            return kernels.spmm(nonzeros, of.in, of.out, accumulate, room);
        }
        case Program::dot: {
            const auto of = named<DotOperands>(views);
            return kernels.edge_dot(nonzeros, of.x, of.y, of_edges_.data);
        }
        case Program::max: {
            const auto of = named<MaxOperands>(views);
            return kernels.spmm_max(nonzeros, of.in, of.maxima, of.ties, accumulate, room.memory);
        }
        case Program::max_back: {
            const auto of = named<MaxBackOperands>(views);
            return kernels.spmm_max_back(nonzeros, of.share, of.maxima, of.in, of.gradient, accumulate);
        }
        case Program::attend: return attend(nonzeros, views, accumulate);
        case Program::attend_back: return attend_back(nonzeros, views, accumulate);
    }
    ensure(false, "a program has no kernel");
}

void ProgramKernels::attend(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const {
    const auto of = named<AttendOperands>(views);
    const auto ids = step_.named<AttendOperands<TensorId>>();
    kernels::Attention how = attention(ids.h, ids.source);
    if (drops(step_.attending.dropout)) how.dropout = dropout(ids.source, of.row_vertices, of.column_vertices);
    kernels::AttendResults to{of.sums, of.log_total, of.total};
    if (of.by_target) to.by_target = *of.by_target, to.negative_share = *of.negative_share;
    if (of.scores) to.scores = of_edges_;
    context_.kernels.attend(nonzeros, {of.h, of.source, of.target}, to, how, accumulate, last_);
}

// Stored scores say themselves what was dropped.
void ProgramKernels::attend_back(const kernels::Csr& nonzeros, const Views& views, bool accumulate) const {
    const auto of = named<AttendBackOperands>(views);
    const auto ids = step_.named<AttendBackOperands<TensorId>>();
    kernels::Attention how = attention(ids.gradient, ids.log_total);
    if (drops(step_.attending.dropout || step_.attending.stored))
        how.dropout = dropout(ids.log_total, of.row_vertices, of.column_vertices);
    kernels::AttendBackOperands in{.gradient = of.gradient, .log_total = of.log_total, .inner = of.inner, .h = of.h};
    if (of.scores) in.scores = of_edges_;
    if (of.target) in.target = *of.target, in.source = *of.source;
    context_.kernels.attend_back(nonzeros, in, {of.of_h, of.of_source}, how, accumulate);
}

}  // namespace gnnplan::exec
