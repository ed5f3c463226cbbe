#include "runtime/calibrate/points.hpp"

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

// First, middle and last say most of a curve.
template <class T>
bool outlines(const std::vector<T>& values, const T& value) {
    return value == values.front() || value == values[values.size() / 2] || value == values.back();
}

constexpr std::int64_t dense_degree = 64;
constexpr std::int64_t sparse_degree = 8;
constexpr std::int64_t panel_degree = 2;
constexpr std::int64_t edge_degree = 16;  // of rows whose softmax is taken

// So many that indices come from memory, as those of a graph do, and that they are worth timing when they are few; but
// no more than a result of scope.largest takes.
std::int64_t nonzeros_for(std::int64_t width, std::int64_t degree, const Scope& scope) {
    constexpr std::int64_t gathered = 1024 * mib;
    const std::int64_t row_bytes = 4 * width;
    const std::int64_t wanted = std::min(gathered, 16 * scope.largest) / row_bytes;
    return std::min(std::clamp<std::int64_t>(wanted, 1 << 14, 1 << 22),
                    degree * std::max<std::int64_t>(1, scope.largest / row_bytes));
}

void add_spmm(Points& points, const Setting& setting, const Scope& scope) {
    const std::size_t middle = (scope.windows.size() - 1) / 2;
    const auto add = [&](std::int64_t width, std::int64_t window, std::int64_t degree, bool adding = false,
                         std::int64_t one_in = 1) {
        const SpmmPoint point{width, window, nonzeros_for(width, degree, scope) / one_in, degree, adding, one_in};
        const bool needed = outlines(scope.widths, width) && degree != sparse_degree &&
                            (window == scope.windows[middle] || window == scope.windows.back());
        points.push_back(
            {"SpMM", needed, [&setting, point](auto& samples) { samples.push_back(measure_spmm(setting, point)); }});
    };
    for (const std::int64_t width : scope.widths) {
        for (const std::int64_t window : scope.windows) add(width, window, dense_degree);
        // The cost of a row shows where rows are short; three windows will do.
        for (const std::size_t i : {std::size_t{0}, middle, scope.windows.size() - 1}) {
            add(width, scope.windows[i], sparse_degree);
        }
        // As in a source panel: what it gathers is in cache, the rows it adds to come from memory.
        for (const bool adding : {false, true}) add(width, scope.windows[middle], panel_degree, adding);
        // And where most rows have nothing in the panel, or one in two.
        for (const std::int64_t one_in : {2, 32}) add(width, scope.windows[middle], panel_degree, true, one_in);
    }
}

// Their time for a nonzero besides a sum shows where they gather from the cache and rows are long; their time for a
// row, and for data from memory, shows against that. Dropping weights is done to nonzeros.
void add_programs(Points& points, const Setting& setting, const Scope& scope) {
    const std::int64_t near = scope.windows[(scope.windows.size() - 1) / 2], far = scope.windows.back();
    const auto add = [&](Program program, std::int64_t heads, bool dropout = false) {
        const auto point = [&](std::int64_t width, std::int64_t window, std::int64_t degree, bool needed) {
            const ProgramPoint at{program, width,  heads,
                                  dropout, window, std::min<std::int64_t>(nonzeros_for(width, degree, scope), 1 << 21),
                                  degree};
            points.push_back({"programs over edges", needed && heads != 4,
                              [&setting, at](auto& samples) { samples.push_back(measure_program(setting, at)); }});
        };
        for (const std::int64_t width : {16, 64, 256}) {
            point(width, near, dense_degree, width != 16);
            if (dropout) continue;
            if (far > near) point(width, far, dense_degree, width == 64);
            if (width != 16) point(width, near, sparse_degree, true);
        }
    };
    for (const Program program : {Program::max, Program::max_back, Program::dot}) add(program, 0);
    for (const Program program : {Program::attend, Program::attend_back}) {
        for (const bool dropout : {false, true}) {
            for (const std::int64_t heads : {1, 4, 8}) add(program, heads, dropout);
        }
    }
}

void add_gemm(Points& points, const Setting& setting, const Scope& scope) {
    // Operands come from memory, as they do in an epoch.
    const std::int64_t bytes = std::min(128 * mib, scope.largest);
    for (const GemmKind product : {GemmKind::forward, GemmKind::input_gradient, GemmKind::weight_gradient}) {
        for (const std::int64_t inner : scope.sides) {
            for (const std::int64_t columns : scope.sides) {
                const std::int64_t n = std::max<std::int64_t>(64, bytes / 4 / (inner + columns));
                points.push_back({"GEMM", inner == columns, [&setting, product, n, inner, columns](auto& samples) {
                                      samples.push_back(measure_gemm(setting, product, n, inner, columns));
                                  }});
            }
        }
    }
}

void add_streams(Points& points, const Setting& setting, const Scope& scope) {
    if (!setting.device.memory().accelerator) {
        points.push_back({"reading", true, [&setting, &scope](auto& samples) {
                              samples.push_back(measure_read(setting, scope.largest));
                          }});
    }
    const auto add = [&](std::int64_t bytes, const auto& measure) {
        const bool needed = bytes == scope.streams[scope.streams.size() / 2];
        points.push_back({"elementwise", needed, [measure](auto& samples) { samples.push_back(measure()); }});
    };
    for (const ElementwiseKind stream :
         {ElementwiseKind::copy, ElementwiseKind::narrow, ElementwiseKind::widen, ElementwiseKind::activate,
          ElementwiseKind::activate_dropout, ElementwiseKind::dropout, ElementwiseKind::positive_mask,
          ElementwiseKind::apply_mask, ElementwiseKind::column_sum, ElementwiseKind::score, ElementwiseKind::update}) {
        for (const std::int64_t bytes : scope.streams)
            add(bytes,
                [&setting, &scope, stream, bytes] { return measure_stream(setting, stream, bytes, scope.largest); });
    }
    for (const ElementwiseKind stream :
         {ElementwiseKind::edge_softmax, ElementwiseKind::edge_softmax_back, ElementwiseKind::edge_transpose}) {
        for (const std::int64_t bytes : scope.streams)
            add(bytes, [&setting, stream, bytes] { return measure_edges(setting, stream, bytes, edge_degree); });
    }
    for (const ElementwiseKind stream :
         {ElementwiseKind::head_dot, ElementwiseKind::head_spread, ElementwiseKind::head_fold,
          ElementwiseKind::head_unit, ElementwiseKind::head_unit_back}) {
        for (const std::int64_t bytes : scope.streams)
            add(bytes, [&setting, stream, bytes] { return measure_heads(setting, stream, bytes); });
    }
    for (const ElementwiseKind stream :
         {ElementwiseKind::norm_rows, ElementwiseKind::norm_rows_back, ElementwiseKind::norm_moments,
          ElementwiseKind::norm_scale, ElementwiseKind::norm_sums, ElementwiseKind::norm_back}) {
        for (const std::int64_t bytes : scope.streams)
            add(bytes, [&setting, stream, bytes] { return measure_norms(setting, stream, bytes); });
    }
}

void add_loss(Points& points, const Setting& setting, const Scope& scope) {
    for (const std::int64_t columns : {8, 16, 40, 100, 200}) {
        const std::int64_t rows = std::max<std::int64_t>(1, std::min(8 * mib, scope.largest) / 4 / columns);
        const bool needed = columns == 8 || columns == 200;
        points.push_back({"elementwise", needed, [&setting, rows, columns](auto& samples) {
                              samples.push_back(measure_loss(setting, rows, columns));
                          }});
    }
}

// So many edges that rows do not lie in the caches of a core; they, their text and their rows take about 32 bytes each.
void add_loading(Points& points, const Setting& setting, const Scope& scope) {
    constexpr std::int64_t edge_bytes = 32, most = 1 << 20;
    const std::int64_t edges = std::clamp<std::int64_t>(scope.largest / edge_bytes, 1, most);
    points.push_back({"loading", true, [&setting, edges](auto& samples) { measure_loading(setting, edges, samples); }});
}

void add_links(Points& points, const Setting& setting, const Nodes& nodes, const Scope& scope) {
    const std::int64_t ranks = setting.comm.size();
    if (ranks == 1) return;
    for (const std::int64_t bytes : scope.messages) {
        if (bytes * ranks > std::max(scope.largest, scope.messages.front() * ranks)) break;
        points.push_back(
            {"messages", outlines(scope.messages, bytes), [&setting, &nodes, &scope, bytes](auto& samples) {
                 measure_messages(setting, nodes, bytes, scope.largest / 2, samples);
             }});
    }
    if (nodes.count == 1)
        points.push_back({"messages", true, [&setting](auto& samples) { measure_lending(setting, samples); }});
    for (const std::int64_t microseconds : {100, 1000, 10000}) {
        points.push_back({"waiting", microseconds != 1000, [&setting, microseconds](auto& samples) {
                              measure_waiting(setting, microseconds, samples);
                          }});
    }
    // Two ratios at least: one where looking costs most, and one where messages do.
    for (const double ratio : {0.1, 0.5, 1.0, 2.0}) {
        points.push_back({"overlap", ratio == 0.1 || ratio == 1.0, [&setting, ratio, &scope](auto& samples) {
                              measure_overlap(setting, ratio, scope.messages.back(), samples);
                          }});
    }
}

}  // namespace

Points points_of(const Setting& setting, const Nodes& nodes, const Scope& scope) {
    Points points;
    add_streams(points, setting, scope);
    add_loss(points, setting, scope);
    add_spmm(points, setting, scope);
    add_programs(points, setting, scope);
    add_loading(points, setting, scope);
    add_gemm(points, setting, scope);
    add_links(points, setting, nodes, scope);
    return points;
}

}  // namespace gnnplan::calibrate
