#include <gnnplan/ir/operation.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace gnnplan {
namespace {

constexpr std::array<std::pair<std::string_view, ModelPart>, 14> parts_by_kind{
    {{GemmStep::kind, ModelPart::gemm},
     {RingGemmStep::kind, ModelPart::gemm},
     {WeightGradStep::kind, ModelPart::weight_gradient},
     {LossStep::kind, ModelPart::loss},
     {RedistributeStep::kind, ModelPart::redistribution},
     {ReduceScatterStep::kind, ModelPart::reduce_scatter},
     {SumRowsStep::kind, ModelPart::reduce_scatter},
     {SyncRowsStep::kind, ModelPart::reduce_scatter},
     {AllReduceStep::kind, ModelPart::all_reduce},
     {UpdateStep::kind, ModelPart::update},
     {EdgeStep::kind, ModelPart::edge_values},
     {EdgeGatherStep::kind, ModelPart::edge_values},
     {EdgeTransposeStep::kind, ModelPart::edge_values},
     {HeadStep::kind, ModelPart::heads}}};

ModelPart part_of(const SpmmStep& product) {
    switch (product.program) {
        case Program::sum: break;
        case Program::max:
        case Program::max_back: return ModelPart::maxima;
        case Program::edge_sum:
        case Program::dot: return ModelPart::edge_values;
        case Program::attend:
        case Program::attend_back: return ModelPart::programs;
    }
    if (product.overlap) return ModelPart::spmm_overlapped;
    switch (product.exchange) {
        case Exchange::none: return ModelPart::spmm;
        case Exchange::rows:
        case Exchange::relayed_rows: return ModelPart::spmm_rows;
        default: return ModelPart::spmm_panels;
    }
}

}  // namespace

ModelPart part_of(const Operation& operation) {
    if (const SpmmStep* product = product_of(operation)) return part_of(*product);
    const auto* map = std::get_if<MapStep>(&operation);
    if (map != nullptr && map->done_before) return ModelPart::gemm;
    const std::string_view kind = kind_of(operation);
    const auto* const found = std::ranges::find(parts_by_kind, kind, &std::pair<std::string_view, ModelPart>::first);
    return found == parts_by_kind.end() ? ModelPart::elementwise : found->second;
}

}  // namespace gnnplan
