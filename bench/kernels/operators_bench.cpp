// Generalised SpMM: every operator with every reduction, beside a product, alternating in one run:
//
//     operators_bench --graph arxiv|mid|VERTICES:NONZEROS [--width 128] [--numbers scalar,vector] [--bf16] [--threads 2]
//
// The graph is an R-MAT graph with self loops in one panel. Entries have one number each (scalar), or one for each column
// (vector): nonzeros * width * 4 bytes more to read. Ratios are to the sum of copies of the vertices (copy_lhs-sum), and
// those of vectors also to that and the sum of copies of the numbers together: the two passes that a pair replaces.
#include "bench/kernels/alternate.hpp"
#include "bench/kernels/huge_buffer.hpp"
#include "bench/kernels/named_rmat.hpp"
#include "kernels/table.hpp"
#include "runtime/blocks/block.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace {

using namespace gnnplan;
using bench::Case;
using bench::HugeBuffer;
using bench::HugeMatrix;
using kernels::Csr;
using kernels::EdgeOp;
using kernels::Matrix;
using kernels::ReduceOp;

struct Options {
    std::string graph = "arxiv";
    std::int64_t width = 128;
    std::vector<std::string> numbers = {"scalar"};
    bool bf16 = false;
    int threads = 2;
    int repeats = 9;
    bool processor_time = false;
};

data::LocalBlock build(const Options& options) {
    data::GeneratedGraph generated = data::generate_rmat(bench::named_rmat(options.graph));
    data::PreparationCounts counts;
    const data::Graph graph = data::build_graph(std::move(generated.edges), generated.vertices, {}, counts);
    const data::DegreeScales scales = data::compute_scales(graph, Normalisation::symmetric);
    const Range all{0, graph.vertices()};
    return data::build_block(graph, forward_matrix, all, all, scales, nullptr, {true, 0});
}

// Prints times and ratios. The first case is the product, the second the sum of copies of the vertices.
void print(std::vector<Case>& cases, const std::string& copies_of_numbers) {
    const double copies = cases[1].median();
    double both = 0;
    for (Case& each : cases) {
        if (each.name == copies_of_numbers) both = copies + each.median();
    }
    for (Case& each : cases) {
        fmt::print("  {:<24} {:9.2f} ms   {:5.2f} x copy_lhs-sum   least {:9.2f} ms", each.name, each.median() * 1e3,
                   each.median() / copies, each.least() * 1e3);
        fmt::print("{}\n", both == 0 ? "" : fmt::format("   {:5.2f} x both passes", each.median() / both));
    }
}

void measure(const Options& options, const Csr& a, bool vectors) {
    const kernels::Table& table = kernels::cpu_table();
    const HugeMatrix x(a.columns, options.width, 1), edge(a.nonzeros(), vectors ? options.width : 1, 1);
    HugeMatrix out(a.rows, options.width);
    HugeBuffer room(a.columns * ((options.width + 31) / 32 * 32) / 2, true);
    std::vector<Case> cases;
    cases.push_back({"spmm", [&] { table.spmm(a, x.matrix, out.matrix, false, {}); }});
    for (const EdgeOp op : kernels::edge_ops) {
        for (const ReduceOp reduce : kernels::reduce_ops) {
            const std::string name = fmt::format("{}-{}", name_of(op), name_of(reduce));
            cases.push_back(
                {name, [&, op, reduce] { table.gspmm(op, reduce, a, x.matrix, edge.matrix, out.matrix, {}); }});
            if (!options.bf16 || !kernels::rounds_vertices(op, reduce)) continue;
            const kernels::PanelRoom rounded{
                {reinterpret_cast<std::byte*>(room.data()), static_cast<std::size_t>(room.size()) * sizeof(float)},
                true,
                (options.width + 31) / 32 * 32};
            cases.push_back({name + ", bf16", [&, op, reduce, rounded] {
                                 table.gspmm(op, reduce, a, x.matrix, edge.matrix, out.matrix, rounded);
                             }});
        }
    }
    bench::alternate(cases, options.repeats, options.processor_time);
    fmt::print("width {}, {}\n", options.width, vectors ? "a number for each column" : "one number of an entry");
    print(cases, vectors ? "copy_rhs-sum" : "");
}

void run(const Options& options) {
    kernels::set_threads(options.threads);
    const data::LocalBlock block = build(options);
    const Csr a = block.view();
    fmt::print("{}: {} vertices, {} nonzeros; {} threads, medians of {}\n", options.graph, a.rows, a.nonzeros(),
               options.threads, options.repeats);
    for (const std::string& numbers : options.numbers) {
        if (numbers != "scalar" && numbers != "vector")
            throw Error(ErrorCode::usage, "scalar or vector expected", numbers);
        measure(options, a, numbers == "vector");
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Generalised SpMM: every operator with every reduction, beside a product");
    app.add_option("--graph", options.graph, "arxiv, mid or VERTICES:NONZEROS")->capture_default_str();
    app.add_option("--width", options.width, "columns of the dense operand")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    app.add_option("--numbers", options.numbers, "of entries: scalar, vector or both")
        ->delimiter(',')
        ->capture_default_str();
    app.add_flag("--bf16", options.bf16, "sums also with the dense operand rounded to bfloat16");
    app.add_option("--threads", options.threads)->capture_default_str();
    app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::PositiveNumber);
    app.add_flag("--processor-time", options.processor_time, "of all threads, whatever else the machine computes");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const Error& error) {
        fmt::print(stderr, "operators_bench: {}\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
