// SpMM beside a plain loop and beside the bytes that it must move, alternating in one run:
//
//     spmm_bench --graph arxiv|mid|VERTICES:NONZEROS [--widths 16,41,...] [--panels 0,65536,...] [--threads 2]
//
// The graph is an R-MAT graph with self loops, normalised symmetrically. For each width the median times of `--repeats`
// rounds. "plain loop" is compiled for this machine and works on memory as the allocator gives it; ratios are to it.
// "bound" is nonzeros * width * 4 bytes over the bandwidth of reading memory in order, measured in the same rounds: the
// time without any reuse of the rows of the dense operand.
#include "bench/kernels/alternate.hpp"
#include "bench/kernels/huge_buffer.hpp"
#include "bench/kernels/named_rmat.hpp"
#include "bench/kernels/plain_spmm.hpp"
#include "kernels/look.hpp"
#include "kernels/table.hpp"
#include "runtime/blocks/block.hpp"
#include "runtime/generate/generate.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/packed_panel.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace gnnplan;
using bench::Case;
using bench::HugeBuffer;
using kernels::Csr;

struct Options {
    std::string graph = "arxiv";
    std::vector<std::int64_t> widths = {16, 41, 64, 128, 256, 602};
    std::vector<std::int64_t> panels = {0, 65536};
    int threads = 2;
    int repeats = 9;
    bool factored = false;
    bool bf16 = false;
    bool max = false;
    bool looks = false;
    bool variants = false;
    bool small_pages = false;
};

// One matrix in the forms under test.
struct Forms {
    std::vector<data::LocalBlock> blocks;  // one panel, with values, first
    std::vector<float> row_scale;
    std::vector<float> column_scale;
    std::vector<std::pair<std::string, Csr>> graphs;
};

Forms build(const Options& options) {
    data::GeneratedGraph generated = data::generate_rmat(bench::named_rmat(options.graph));
    data::PreparationCounts counts;
    const data::Graph graph = data::build_graph(std::move(generated.edges), generated.vertices, {}, counts);
    const data::DegreeScales scales = data::compute_scales(graph, Normalisation::symmetric);
    const Range all{0, graph.vertices()};
    Forms forms;
    forms.row_scale = data::block_scales(scales, true, true, all);
    forms.column_scale = data::block_scales(scales, true, false, all);
    for (const bool values : {true, false}) {
        if (!values && !options.factored) continue;
        for (const std::int64_t columns : options.panels) {
            const data::BlockFormat format{values, columns};
            forms.blocks.push_back(data::build_block(graph, forward_matrix, all, all, scales, nullptr, format));
            Csr view = forms.blocks.back().view();
            if (!values) view.row_scale = forms.row_scale.data();
            if (!values) view.column_scale = forms.column_scale.data();
            forms.graphs.emplace_back(
                fmt::format("{} panel{}{}", view.panels, view.panels == 1 ? "" : "s", values ? "" : ", factored"),
                view);
        }
    }
    if (options.panels.front() != 0) throw Error(ErrorCode::usage, "the plain loop needs 0 as the first of --panels");
    return forms;
}

// Rows of whole cache lines, an odd number of them where a row is longer than the kernel's slices: slices of rows that
// are a power of two apart would share a part of the sets of a cache.
std::int64_t padded_stride(std::int64_t width) {
    const std::int64_t lines = (width + 15) / 16;
    return 16 * (lines > 10 && lines % 2 == 0 ? lines + 1 : lines);
}

// A dense operand and a result of so many columns, each row `stride` floats long.
struct Operands {
    HugeBuffer in, out;
    kernels::ConstMatrix b;
    kernels::Matrix c;

    Operands(const Csr& a, std::int64_t width, std::int64_t stride, bool huge)
        : in(a.columns * stride, huge),
          out(a.rows * stride, huge),
          b{in.data(), a.columns, width, stride},
          c{out.data(), a.rows, width, stride} {
        for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>(i % 7) / 4;
    }
};

// Room for what a plan packs of rows of so many columns for a matrix of these panels.
struct Room {
    PackedPanel packed;
    HugeBuffer memory;

    Room(const Csr& a, std::int64_t width, bool round)
        : packed(packed_panel({}, a.columns, a.panels == 1 ? 0 : (a.columns + a.panels - 1) / a.panels, width, round)),
          memory(packed.bytes() / 4 + 1, true) {}

    kernels::PanelRoom view() const {
        const auto bytes = static_cast<std::size_t>(packed.bytes());
        return {{reinterpret_cast<std::byte*>(memory.data()), bytes}, packed.element_bytes == 2, packed.stride};
    }
};

// The largest neighbours and what goes back from them. `second` has as many columns.
void add_max(const std::string& name, const Csr& a, const Operands& dense, const Operands& second,
             kernels::PanelRoom room, std::vector<Case>& cases) {
    cases.push_back({name + ", max",
                     [&dense, &second, a, room] {
                         kernels::cpu_table().spmm_max(a, dense.b, dense.c, second.c, false, room.memory);
                     },
                     {}});
    cases.push_back(
        {name + ", max back",
         [&dense, &second, a] { kernels::cpu_table().spmm_max_back(a, dense.b, second.b, second.b, dense.c, false); },
         {}});
}

// As the executor multiplies while messages are under way.
void add_looking(const std::string& name, Csr a, const Operands& dense, kernels::Look& look, std::vector<Case>& cases) {
    a.look = &look;
    cases.push_back({name, [&dense, a] { kernels::cpu_table().spmm(a, dense.b, dense.c, false, {}); }, {}});
}

// Prints one width and adds the logarithm of each form's gain over the plain loop to `gains`.
void measure(const Options& options, const Forms& forms, std::int64_t width, std::map<std::string, double>& gains) {
    const Csr& plain = forms.graphs.front().second;
    const Operands small(plain, width, width, false);
    const Operands dense(plain, width, width, true);
    const Operands padded(plain, width, padded_stride(width), true);
    const HugeBuffer memory(std::int64_t{1} << 27, true);
    float sink = 0;
    std::vector<Case> cases;
    cases.push_back({"read", [&] { sink += bench::read_all(memory.data(), memory.size()); }, {}});
    cases.push_back({"plain loop", [&] { bench::plain_spmm(plain, small.b, small.c); }, {}});
    cases.push_back({"plain loop, huge pages", [&] { bench::plain_spmm(plain, dense.b, dense.c); }, {}});
    std::list<Room> rooms;
    std::list<kernels::Look> looks;
    const auto add = [&](const std::string& name, const Csr& a, const Operands& x, kernels::PanelRoom room) {
        cases.push_back({name, [&x, a, room] { kernels::cpu_table().spmm(a, x.b, x.c, false, room); }, {}});
    };
    const Operands second(plain, options.max ? width : 1, options.max ? width : 1, true);
    for (const auto& [name, view] : forms.graphs) {
        const kernels::PanelRoom room = rooms.emplace_back(view, width, false).view();
        add(name, view, dense, room);
        if (options.bf16) add(name + ", bf16", view, dense, rooms.emplace_back(view, width, true).view());
        if (options.max) add_max(name, view, dense, second, room, cases);
        if (options.looks)
            add_looking(name + ", looking", view, dense, looks.emplace_back(flops_per_look, [] {}), cases);
        if (options.small_pages) add(name + ", small pages", view, small, room);
        if (!options.variants) continue;
        if (!room.memory.empty()) add(name + ", not packed", view, dense, {});
        add(name + ", padded", view, padded, {});
    }
    bench::alternate(cases, options.repeats);
    const double bandwidth = 4 * static_cast<double>(memory.size()) / cases[0].median();
    const double bound = 4 * static_cast<double>(plain.nonzeros()) * static_cast<double>(width) / bandwidth;
    const double loop = cases[1].median();
    fmt::print("width {}: read {:.1f} GB/s, bound {:.2f} ms{}\n", width, bandwidth / 1e9, bound * 1e3,
               sink == -1 ? "!" : "");
    for (std::size_t i = 1; i < cases.size(); ++i) {
        const double median = cases[i].median();
        fmt::print("  {:<28} {:9.2f} ms   {:5.2f} x plain loop   {:.3f} of the bound\n", cases[i].name, median * 1e3,
                   loop / median, median / bound);
        gains[cases[i].name] += std::log(loop / median);
    }
}

void run(const Options& options) {
    kernels::set_threads(options.threads);
    const Forms forms = build(options);
    const Csr& plain = forms.graphs.front().second;
    fmt::print("{}: {} vertices, {} nonzeros; {} threads, medians of {}\n", options.graph, plain.rows, plain.nonzeros(),
               options.threads, options.repeats);
    std::map<std::string, double> gains;
    for (const std::int64_t width : options.widths) measure(options, forms, width, gains);
    fmt::print("geometric mean over the plain loop\n");
    for (const auto& [name, gain] : gains) {
        fmt::print("  {:<28} {:.2f}\n", name, std::exp(gain / static_cast<double>(options.widths.size())));
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("SpMM beside a plain loop and the no-reuse bound");
    app.add_option("--graph", options.graph, "arxiv, mid or VERTICES:NONZEROS")->capture_default_str();
    app.add_option("--widths", options.widths, "columns of the dense operand")->delimiter(',')->capture_default_str();
    app.add_option("--panels", options.panels, "columns per source panel, 0 for one panel")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--threads", options.threads)->capture_default_str();
    app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::PositiveNumber);
    app.add_flag("--bf16", options.bf16, "also with the dense operand rounded to bfloat16");
    app.add_flag("--max", options.max, "also the largest neighbours, and their gradient, which reads two operands");
    app.add_flag("--looks", options.looks, "also as while messages are under way, with looks that do nothing");
    app.add_flag("--factored", options.factored, "also without stored values");
    app.add_flag("--variants", options.variants, "also unpacked, and with padded rows of the dense operands");
    app.add_flag("--small-pages", options.small_pages, "also with dense operands on small pages");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const Error& error) {
        fmt::print(stderr, "spmm_bench: {}\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
