#include "tools/advise/pytorch/pytorch_layout.hpp"

#include "tools/advise/explanation.hpp"
#include "tools/text/format.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gnnplan::tools {
namespace {

char letter(Axis axis) { return axis == Axis::x ? 'x' : axis == Axis::y ? 'y' : 'z'; }

// In the order in which ranks are numbered, the last one fastest; all three of a single rank.
std::vector<Axis> mesh_axes(const Grid& grid) {
    std::vector<Axis> axes;
    for (const Axis axis : grid.slowest_first()) {
        if (grid.extent(axis) > 1) axes.push_back(axis);
    }
    return axes;
}

std::string adjacency_text(const Tensor& matrix, const Grid& grid) {
    std::string text = placements(matrix.layout, grid);
    if (matrix.layout.columns.contains(Axis::y) && grid.y > 1) {
        text += matrix.layout.columns.contains(Axis::z) || gathers_matrix(grid, matrix)
                    ? "; the nonzeros of a block are stored once in its y-group"
                    : "; its blocks of columns are dealt out over y";
    }
    return text;
}

// The exchange that a product waits for.
std::string exchange_text(const Schedule& schedule, const SpmmStep& spmm) {
    const Grid& grid = schedule.grid;
    std::vector<std::string> parts;
    if (spmm.exchange == Exchange::panels || spmm.exchange == Exchange::relay) {
        parts.emplace_back("all_gather_into_tensor of dense rows over x, or panels by isend and irecv");
    }
    if (by_need(spmm.exchange)) {
        parts.emplace_back("all_to_all_single over x, of the dense rows only that a rank's nonzeros meet");
    }
    if (gathers_matrix(grid, tensor_of(schedule, spmm.matrix))) {
        parts.emplace_back("all_gather of the block's nonzeros over y");
    }
    std::string text = fmt::format("{}", fmt::join(parts, "; "));
    return text + (spmm.overlap ? ", async_op=True, in pieces" : "");
}

// Between layouts over y: to one that is split otherwise, or to whole rows on every rank.
std::string redistribution(const Layout& from, const Layout& to, const Grid& grid) {
    const bool splits = to.rows.contains(Axis::y) || to.columns.contains(Axis::y);
    return fmt::format("{} over y: {} -> {}", splits ? "all_to_all_single" : "all_gather_into_tensor",
                       placements(from, grid), placements(to, grid));
}

std::string summed_axes(const Layout& layout, const Grid& grid) {
    std::string axes;
    for (const Axis axis : mesh_axes(grid)) {
        if (layout.partial.contains(axis)) axes += fmt::format("{}{}", axes.empty() ? "" : " and ", letter(axis));
    }
    return axes;
}

std::string collective(const Schedule& schedule, const Step& step) {
    const Grid& grid = schedule.grid;
    const auto layout = [&](TensorId tensor) -> const Layout& { return tensor_of(schedule, tensor).layout; };
    if (const SpmmStep* spmm = product_of(step.operation)) return exchange_text(schedule, *spmm);
    if (const auto* move = std::get_if<RedistributeStep>(&step.operation))
        return redistribution(layout(move->in), layout(move->out), grid);
    if (const auto* sum = std::get_if<ReduceScatterStep>(&step.operation))
        return fmt::format("reduce_scatter_tensor over {}", letter(partial_axis(tensor_of(schedule, sum->in))));
    if (const auto* sum = std::get_if<AllReduceStep>(&step.operation)) {
        return sum->over_all_ranks(schedule) ? "all_reduce over all ranks (a sum, no mean)"
                                             : "all_reduce over " + summed_axes(layout(sum->tensor), grid);
    }
    if (std::holds_alternative<LossStep>(step.operation))
        return "all_reduce over y of each row's maximum and sum of exponentials";
    if (std::holds_alternative<EdgeTransposeStep>(step.operation))
        return "all_to_all_single over x of the edges' values, to the ranks that have their sources";
    if (std::holds_alternative<EdgeGatherStep>(step.operation))
        return "all_gather over y of the edges' values, of each rank's share of the rows";
    if (std::holds_alternative<SumRowsStep>(step.operation))
        return "all_to_all_single over x of sums of rows, to the rows' owners, who add them (index_add_)";
    if (std::holds_alternative<RingGemmStep>(step.operation))
        return "isend and irecv over y, tile by tile, of rows before the product and of columns after it";
    return std::string(kind_of(step.operation));
}

// The layers' outputs H1, H2, .. by where they are produced.
std::map<std::string, std::string> outputs_by_place(const Schedule& schedule) {
    constexpr std::size_t named = 4;
    std::map<std::string, std::vector<std::string>> names;
    for (const Step& step : schedule.steps) {
        const auto* map = std::get_if<MapStep>(&step.operation);
        if (step.phase != Phase::epoch || map == nullptr || map->op != MapOp::activate) continue;
        names[placements(tensor_of(schedule, map->tensor).layout, schedule.grid)].push_back(
            "H" + std::to_string(step.origin.layer));
    }
    std::map<std::string, std::string> texts;
    for (auto& [where, list] : names) {
        if (list.size() > named) list = {list[0], list[1], "..", list.back()};
        texts[where] = fmt::format("{}", fmt::join(list, " "));
    }
    return texts;
}

}  // namespace

std::string device_mesh(const Grid& grid) {
    std::vector<std::string> sizes, names;
    for (const Axis axis : mesh_axes(grid)) {
        sizes.push_back(std::to_string(grid.extent(axis)));
        names.push_back(fmt::format("\"{}\"", letter(axis)));
    }
    const char* comma = sizes.size() == 1 ? "," : "";
    return fmt::format("init_device_mesh(\"cuda\", ({}{}), mesh_dim_names=({}{}))", fmt::join(sizes, ", "), comma,
                       fmt::join(names, ", "), comma);
}

std::string placements(const Layout& layout, const Grid& grid) {
    std::vector<std::string> words;
    for (const Axis axis : mesh_axes(grid)) {
        if (layout.rows.contains(axis)) {
            words.emplace_back("Shard(0)");
        } else if (layout.columns.contains(axis)) {
            words.emplace_back("Shard(1)");
        } else {
            words.emplace_back(layout.partial.contains(axis) ? "Partial()" : "Replicate()");
        }
    }
    return fmt::format("[{}]", fmt::join(words, ", "));
}

std::vector<Line> placed_matrices(const Plan& plan) {
    const Schedule& schedule = plan.candidates.front().schedule;
    std::vector<Line> lines;
    const auto add = [&](const std::string& name, const std::string& text) {
        const bool known = std::any_of(lines.begin(), lines.end(),
                                       [&](const Line& line) { return line.name == name && line.text == text; });
        if (!known) lines.push_back({name, text});
    };
    for (const Tensor& tensor : schedule.tensors) {
        const std::string where = placements(tensor.layout, schedule.grid);
        if (tensor.role == Role::adjacency) {
            add(tensor.transposed ? "A" : "A.T", adjacency_text(tensor, schedule.grid));
        }
        if (tensor.role == Role::features) add("X", where);
        if (tensor.role == Role::cached) add("A @ X", where);
        if (tensor.role == Role::weight) add("every W", where);
    }
    for (const auto& [where, names] : outputs_by_place(schedule)) add(names, where);
    return lines;
}

std::vector<Line> collectives(const Plan& plan) {
    const Schedule& schedule = plan.candidates.front().schedule;
    const std::vector<StepCost> costs = explain(plan).steps;
    std::vector<Line> lines;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const StepCost& cost = costs[i];
        if (cost.phase != Phase::epoch || cost.total_bytes == 0) continue;
        lines.push_back({cost.name, fmt::format("{}: {}", collective(schedule, schedule.steps[i]),
                                                format_bytes(cost.max_rank_bytes))});
    }
    return lines;
}

std::string launch_line(const Plan& plan) {
    const int ranks = plan.problem.ranks;
    const int node = plan.machine.ranks_per_node;
    if (ranks <= node) return fmt::format("torchrun --nproc-per-node {} train.py GRAPH, once it is distributed", ranks);
    return fmt::format(
        "torchrun --nnodes {} --nproc-per-node {} --rdzv-backend c10d --rdzv-endpoint HOST:29500 train.py GRAPH, once "
        "it is distributed",
        (ranks + node - 1) / node, node);
}

}  // namespace gnnplan::tools
