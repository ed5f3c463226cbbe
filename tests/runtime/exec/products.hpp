// Schedules of one distributed product, and the product of dense matrices that it must equal.
#pragma once

#include "tests/runtime/exec/harness.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <fmt/format.h>

namespace gnnplan::exec::testing {

struct ProductCase {
    std::string scheme;  // for test messages
    Grid grid;
    std::string contraction;  // the axes over which the contraction side is split
    std::int64_t rows = 23;
    std::int64_t columns = 23;
    std::int64_t width = 6;
    bool transposed = true;
    bool permuted = false;
    Exchange exchange = Exchange::none;
    bool overlap = false;
    Blocking blocking = gnnplan::testing::wanted_blocking();
    int splits = 1;
    int ahead = 0;
    int ranks_per_node = 3;
    Wire wire = Wire::fp32;

    // Whether the grid has rows, or anything, to exchange as said.
    bool switch_to(Exchange wanted, bool overlapped) {
        const bool gathers_nonzeros = contraction == "zy" && grid.y > 1;
        if (wanted != Exchange::panels && grid.x == 1) return false;
        if (wanted == Exchange::relayed_rows && contraction != "z") return false;
        if (overlapped && grid.x == 1 && !gathers_nonzeros) return false;
        exchange = grid.x > 1 ? wanted : Exchange::none;
        overlap = overlapped;
        return true;
    }
    std::string text() const {
        return fmt::format("{} on {}: {}x{} times {} columns{}{}{}{}{}{}, {} splits, {} ahead", scheme, grid.text(),
                           rows, columns, width, transposed ? ", transposed" : "", permuted ? ", permuted" : "",
                           by_need(exchange) ? ", needed rows" : "",
                           exchange == Exchange::relay || exchange == Exchange::relayed_rows
                               ? fmt::format(", relayed on {}", ranks_per_node)
                               : "",
                           overlap ? ", overlap" : "", wire == Wire::bfloat16 ? ", in bf16" : "", splits, ahead);
    }
};

// 1D and RDM keep nonzeros where their rows are, 2D and 3D split them over y, CAGNET's 1.5D deals pieces over y.
inline std::vector<ProductCase> grids_and_contractions(int ranks) {
    std::vector<ProductCase> cases;
    for (const Grid& grid : all_grids_of(ranks)) {
        cases.push_back({"whole", grid, "z"});
        if (grid.y > 1) cases.push_back({"sharded", grid, "zy"});
        if (grid.y > 1 && grid.z == 1) cases.push_back({"dealt", grid, "y"});
    }
    return cases;
}

// Tensors of schedule_of: the last one is the result.
inline constexpr TensorId matrix = 0;
inline constexpr TensorId operand = 1;
inline TensorId result_of(const Schedule& schedule) { return static_cast<TensorId>(schedule.tensors.size()) - 1; }

// The index exchange, where rows are exchanged; the product; the sum of its parts, where there are several.
inline Schedule schedule_of(const ProductCase& product) {
    Schedule schedule;
    schedule.grid = product.grid;
    schedule.blocking = product.blocking;
    schedule.ranks_per_node = product.ranks_per_node;
    schedule.numbering.permuted = product.permuted;
    schedule.numbering.seed = 11;
    const bool dealt = product.contraction == "y";
    add(schedule, "A", Role::adjacency, DType::f32, product.rows, product.columns, matrix_layout(product.contraction));
    schedule.tensors.back().transposed = product.transposed;
    schedule.tensors.back().storage.splits = product.splits;
    schedule.tensors.back().storage.ahead = product.ahead;
    const Layout rest = dealt ? layout_f() : layout_c();
    add(schedule, "H", Role::features, DType::f32, product.columns, product.width, rest);
    const auto axis = contraction_axis(product.grid, schedule.tensors.front());
    const Axes split = Axes::parse(dealt ? "y" : "z");
    Layout out{Axes::parse("x"), rest.columns, axis ? split : Axes()};
    const TensorId made = add(schedule, "T", Role::transient, DType::f32, product.rows, product.width, out);
    const bool relayed = product.exchange == Exchange::relayed_rows;
    if (by_need(product.exchange))
        schedule.steps.push_back({"index", Phase::setup, RowRequestStep{matrix, false, relayed}});
    add_step(schedule, "spmm", SpmmStep{matrix, {operand}, {made}, product.exchange, product.overlap});
    set_wire(schedule, product.wire);  // sums of parts keep all bits, in which they are compared
    if (!axis) return schedule;
    out = {Axes::parse("x" + split.text()), rest.columns, {}};
    const TensorId sum = add(schedule, "T.sum", Role::transient, DType::f32, product.rows, product.width, out);
    add_step(schedule, "sum", ReduceScatterStep{made, sum});
    return schedule;
}

inline float operand_element(std::int64_t i, std::int64_t j) { return static_cast<float>(i % 5 + 2 * (j % 3) - 1); }

// Values that differ from edge to edge and tell both of its ends.
inline data::DegreeScales integer_scales(const data::Graph& graph) {
    data::DegreeScales scales;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        scales.source.push_back(static_cast<double>(1 + v % 3));
        scales.target.push_back(static_cast<double>(1 + v % 4));
    }
    return scales;
}

// The upper left rows x columns block of A or A^T, its vertices in order, times the operand.
class DenseProduct {
public:
    DenseProduct(const data::Graph& graph, const data::DegreeScales& scales, const data::VertexOrder& order,
                 const ProductCase& product)
        : columns_(product.columns), width_(product.width), block_(size(product.rows, columns_)) {
        const auto position = [&](std::int64_t v) {
            return order.identity() ? v : std::int64_t{order.position[static_cast<std::size_t>(v)]};
        };
        for (std::int64_t u = 0; u < graph.vertices(); ++u) {
            const auto from = static_cast<std::size_t>(u);
            for (auto k = graph.out.row_start[from]; k < graph.out.row_start[from + 1]; ++k) {
                const std::int64_t v = graph.out.column[static_cast<std::size_t>(k)];
                const std::int64_t i = position(product.transposed ? v : u);
                const std::int64_t j = position(product.transposed ? u : v);
                if (i >= product.rows || j >= product.columns) continue;
                block_[size(i, columns_) + static_cast<std::size_t>(j)] =
                    static_cast<float>(scales.source[from] * scales.target[static_cast<std::size_t>(v)]);
            }
        }
        multiply(product.rows);
    }

    float at(std::int64_t i, std::int64_t j) const { return product_[size(i, width_) + static_cast<std::size_t>(j)]; }

    // Returns those of `columns`, counted from their begin, that hold a nonzero in `rows`.
    std::vector<std::int32_t> columns_met(Range rows, Range columns) const {
        std::vector<std::int32_t> met;
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            bool found = false;
            for (std::int64_t i = rows.begin; i < rows.end; ++i) {
                found = found || block_[size(i, columns_) + static_cast<std::size_t>(j)] != 0;
            }
            if (found) met.push_back(static_cast<std::int32_t>(j - columns.begin));
        }
        return met;
    }

private:
    static std::size_t size(std::int64_t rows, std::int64_t columns) {
        return static_cast<std::size_t>(rows * columns);
    }

    void multiply(std::int64_t rows) {
        product_.assign(size(rows, width_), 0);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t k = 0; k < columns_; ++k) {
                const float value = block_[size(i, columns_) + static_cast<std::size_t>(k)];
                for (std::int64_t j = 0; value != 0 && j < width_; ++j) {
                    product_[size(i, width_) + static_cast<std::size_t>(j)] += value * operand_element(k, j);
                }
            }
        }
    }

    std::int64_t columns_;
    std::int64_t width_;
    std::vector<float> block_;
    std::vector<float> product_;
};

}  // namespace gnnplan::exec::testing
