// Speed of the readers and builders on one core. Bytes per second are bytes of text, after decompression.
#include "runtime/blocks/block.hpp"
#include "runtime/generate/generate.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/read/edge_list.hpp"
#include "runtime/read/matrix_market.hpp"
#include "runtime/read/ogb.hpp"

#include <benchmark/benchmark.h>

#include <zlib.h>

#include <filesystem>
#include <string>

namespace {

using namespace gnnplan::data;
namespace fs = std::filesystem;

const GeneratedGraph& rmat() {
    static const GeneratedGraph graph = generate_rmat({.vertices = 1 << 18, .nonzeros = 1 << 22, .seed = 1});
    return graph;
}

std::string edge_text(char separator, int base) {
    std::string text;
    rmat().edges.for_each([&](Edge e) {
        text += std::to_string(e.from + base);
        text += separator;
        text += std::to_string(e.to + base) + '\n';
    });
    return text;
}

void set_bytes(benchmark::State& state, std::size_t bytes) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void parse_edge_list(benchmark::State& state) {
    const std::string text = edge_text('\t', 0);
    for ([[maybe_unused]] auto _ : state) {
        TextReader reader(memory_input("text", text));
        benchmark::DoNotOptimize(read_edge_list(reader).vertices);
    }
    set_bytes(state, text.size());
}
BENCHMARK(parse_edge_list)->Unit(benchmark::kMillisecond);

void parse_matrix_market(benchmark::State& state) {
    const std::string n = std::to_string(rmat().vertices);
    const std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + n + " " + n + " " +
                             std::to_string(rmat().edges.size()) + "\n" + edge_text(' ', 1);
    for ([[maybe_unused]] auto _ : state) {
        TextReader reader(memory_input("text", text));
        benchmark::DoNotOptimize(read_matrix_market(reader).vertices);
    }
    set_bytes(state, text.size());
}
BENCHMARK(parse_matrix_market)->Unit(benchmark::kMillisecond);

// Decompression included.
void parse_gzip_edge_list(benchmark::State& state) {
    const std::string text = edge_text('\t', 0);
    const fs::path path = fs::temp_directory_path() / "gnnplan-data-bench.txt.gz";
    gzFile file = gzopen(path.c_str(), "wb6");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    for ([[maybe_unused]] auto _ : state) {
        TextReader reader(open_input(path));
        benchmark::DoNotOptimize(read_edge_list(reader).vertices);
    }
    fs::remove(path);
    set_bytes(state, text.size());
}
BENCHMARK(parse_gzip_edge_list)->Unit(benchmark::kMillisecond);

// Numbers as printed from 32-bit floats, e.g. 0.12345679.
void parse_features(benchmark::State& state) {
    constexpr std::int64_t rows = 2000, columns = 500;
    const fs::path folder = fs::temp_directory_path() / "gnnplan-data-bench";
    fs::create_directories(folder / "raw");
    std::string text;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
        text += std::to_string(static_cast<double>(i * 7919 % 1000003) / 1000003);
        text += i % columns == columns - 1 ? '\n' : ',';
    }
    gzFile file = gzopen((folder / "raw/node-feat.csv").c_str(), "wbT");  // T: not compressed
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    const auto features = open_ogb_features(folder, rows);
    for ([[maybe_unused]] auto _ : state) {
        float sum = 0;
        features->visit_rows({0, rows}, {0, columns}, [&](std::int64_t, const float* row) { sum += row[0]; });
        benchmark::DoNotOptimize(sum);
    }
    fs::remove_all(folder);
    set_bytes(state, text.size());
}
BENCHMARK(parse_features)->Unit(benchmark::kMillisecond);

EdgeList copy_of(const EdgeList& edges) {
    EdgeList copy;
    edges.for_each([&](Edge e) { copy.add(e.from, e.to); });
    return copy;
}

void build(benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) {
        PreparationCounts counts;
        benchmark::DoNotOptimize(build_graph(copy_of(rmat().edges), rmat().vertices, {}, counts).nonzeros());
    }
    state.SetItemsProcessed(state.iterations() * rmat().edges.size());
}
BENCHMARK(build)->Unit(benchmark::kMillisecond);

void normalised_block(benchmark::State& state) {
    PreparationCounts counts;
    const Graph graph = build_graph(copy_of(rmat().edges), rmat().vertices, {}, counts);
    const gnnplan::Range all = {0, graph.vertices()};
    for ([[maybe_unused]] auto _ : state) {
        const DegreeScales scales = compute_scales(graph, gnnplan::Normalisation::symmetric);
        benchmark::DoNotOptimize(
            build_block(graph, gnnplan::forward_matrix, all, gnnplan::balanced_block(all, 0, state.range(0)), scales)
                .nonzeros());
    }
    state.SetItemsProcessed(state.iterations() * graph.nonzeros() / state.range(0));
}
BENCHMARK(normalised_block)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

void fingerprint_of_graph(benchmark::State& state) {
    PreparationCounts counts;
    const Graph graph = build_graph(copy_of(rmat().edges), rmat().vertices, {}, counts);
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(fingerprint(graph));
    set_bytes(state, graph.out.column.size() * 4 + graph.out.row_start.size() * 8);
}
BENCHMARK(fingerprint_of_graph)->Unit(benchmark::kMillisecond);

void draw_rmat(benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(generate_rmat({.vertices = 1 << 18, .nonzeros = 1 << 20}).edges.size());
    state.SetItemsProcessed(state.iterations() << 20);
}
BENCHMARK(draw_rmat)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
