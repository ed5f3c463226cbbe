// The kernels of attention beside a product of the same width, alternating in one run:
//
//     attend_bench [--vertices 170000] [--edges 1200000] [--shapes 8x8,4x32,...] [--threads 2]
//
// The graph is an R-MAT graph of so many drawn edges, in both directions, with self loops. A shape is heads x columns
// of a head. Medians of `--repeats` rounds, and the least times, as other programs disturb both; ratios are to the
// product with values as one panel.
#include "bench/kernels/alternate.hpp"
#include "bench/kernels/huge_buffer.hpp"
#include "kernels/table.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/generate/generate.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace gnnplan;
using bench::Case;
using bench::HugeMatrix;
using kernels::ConstMatrix;
using kernels::Csr;
using kernels::Matrix;

struct Options {
    std::int64_t vertices = 170'000;
    std::int64_t edges = 1'200'000;
    std::vector<std::string> shapes = {"8x8", "4x32", "8x32", "1x7", "1x64"};
    int threads = 2;
    int repeats = 9;
    double dropout = 0.6;
    bool processor_time = false;
};

// Operands and results of a layer of attention, forward and back, of `n` columns in `k` heads.
struct Layer {
    std::int64_t k, n;
    HugeMatrix h, z, parts, source, target, log_total, total, share, inner, of_source;

    Layer(std::int64_t vertices, std::int64_t heads, std::int64_t columns)
        : k(heads),
          n(heads * columns),
          h(vertices, n),
          z(vertices, n),
          parts(vertices, n),
          source(vertices, k),
          target(vertices, k),
          log_total(vertices, k),
          total(vertices, k),
          share(vertices, k),
          inner(vertices, k),
          of_source(vertices, k) {}
};

void add_attention(const std::string& suffix, const Csr& a, Layer& x, const kernels::Attention& how,
                   std::vector<Case>& cases) {
    const kernels::Table& table = kernels::cpu_table();
    const kernels::AttendOperands in{x.h.matrix, x.source.matrix, x.target.matrix};
    const kernels::AttendResults to{x.z.matrix, x.log_total.matrix, x.total.matrix};
    kernels::AttendResults both = to;
    both.by_target = x.parts.matrix;
    both.negative_share = x.share.matrix;
    cases.push_back({"attend, by target" + suffix, [=, &table] { table.attend(a, in, both, how, false, true); }, {}});
    cases.push_back({"attend" + suffix, [=, &table] { table.attend(a, in, to, how, false, true); }, {}});
    const kernels::AttendBackOperands back{x.h.matrix,     x.target.matrix, x.log_total.matrix,
                                           x.inner.matrix, x.z.matrix,      x.source.matrix};
    cases.push_back({"attend back" + suffix,
                     [=, &table, &x] {
                         table.attend_back(a, back, {x.parts.matrix, x.of_source.matrix}, how, false);
                     },
                     {}});
}

void add_heads(Layer& x, const kernels::Heads& heads, std::vector<Case>& cases) {
    const kernels::Table& table = kernels::cpu_table();
    cases.push_back({"add", [&] { table.add(x.h.matrix, x.z.matrix); }, {}});
    cases.push_back({"head dot", [&, heads] { table.head_dot(x.h.matrix, x.z.matrix, heads, x.total.matrix); }, {}});
    cases.push_back(
        {"head spread", [&, heads] { table.head_spread(x.source.matrix, x.h.matrix, heads, x.z.matrix); }, {}});
    cases.push_back(
        {"head fold", [&, heads] { table.head_fold(x.h.matrix, x.source.matrix, heads, x.parts.matrix.data); }, {}});
}

void measure(const Options& options, const Csr& a, std::int64_t heads, std::int64_t columns) {
    Layer x(a.rows, heads, columns);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(a.rows));
    std::iota(ids.begin(), ids.end(), 0);
    const kernels::PassValues pass = kernels::pass_values(3);
    const kernels::Attention plain{.heads = {columns, 0}};
    kernels::Attention drops = plain;
    drops.dropout = {.seed = 1,
                     .pass = &pass,
                     .probability = static_cast<float>(options.dropout),
                     .all_heads = heads,
                     .row_ids = ids.data(),
                     .column_ids = ids.data()};
    std::vector<Case> cases;
    cases.push_back({"product", [&] { kernels::cpu_table().spmm(a, x.h.matrix, x.z.matrix, false, {}); }, {}});
    add_attention("", a, x, plain, cases);
    add_attention(", dropout", a, x, drops, cases);
    add_heads(x, plain.heads, cases);
    bench::alternate(cases, options.repeats, options.processor_time);
    const double product = cases.front().median();
    const double least = cases.front().least();
    fmt::print("{} x {}\n", heads, columns);
    for (Case& each : cases) {
        fmt::print("  {:<28} {:9.2f} ms   {:5.2f} x product   least {:9.2f} ms   {:5.2f} x product\n", each.name,
                   each.median() * 1e3, each.median() / product, each.least() * 1e3, each.least() / least);
    }
}

void run(const Options& options) {
    kernels::set_threads(options.threads);
    data::GeneratedGraph generated =
        data::generate_rmat({.vertices = options.vertices, .nonzeros = 2 * options.edges, .seed = 1});
    data::PreparationCounts counts;
    const data::Graph graph = data::build_graph(std::move(generated.edges), generated.vertices, {}, counts);
    const data::DegreeScales scales = data::compute_scales(graph, Normalisation::symmetric);
    const Range all{0, graph.vertices()};
    const data::LocalBlock block = data::build_block(graph, forward_matrix, all, all, scales, nullptr, {true, 0});
    const Csr a = block.view();
    fmt::print("{} vertices, {} nonzeros; {} threads, medians of {}\n", a.rows, a.nonzeros(), options.threads,
               options.repeats);
    for (const std::string& shape : options.shapes) {
        const auto cross = shape.find('x');
        if (cross == std::string::npos) throw Error(ErrorCode::usage, "HEADSxCOLUMNS expected", shape);
        measure(options, a, std::stoll(shape.substr(0, cross)), std::stoll(shape.substr(cross + 1)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Kernels of attention beside a product");
    app.add_option("--vertices", options.vertices)->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--edges", options.edges, "drawn, in both directions")->capture_default_str();
    app.add_option("--shapes", options.shapes, "heads x columns of each")->delimiter(',')->capture_default_str();
    app.add_option("--threads", options.threads)->capture_default_str();
    app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--dropout", options.dropout, "of the weights, in its own cases")->capture_default_str();
    app.add_flag("--processor-time", options.processor_time, "of all threads, whatever else the machine computes");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const Error& error) {
        fmt::print(stderr, "attend_bench: {}\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
