// Rates of the kernels that an epoch spends its time in. Threads: GNNPLAN_BENCH_THREADS, 1 unless set.
//
// SpMM runs on an R-MAT graph (Chakrabarti et al. 2004; a, b, c = 0.57, 0.19, 0.19) and counts 2 * nnz * width
// operations and the bytes that its loads and stores name (one row of B per nonzero); caches make the memory traffic
// smaller.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "kernels/table.hpp"

namespace {

using namespace gnnplan::kernels;

struct Graph {
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> column;
    std::vector<float> value;

    Csr view() const {
        const auto rows = static_cast<std::int64_t>(row_start.size()) - 1;
        return {rows, rows, row_start.data(), column.data(), value.data()};
    }
};

// 2^scale vertices, `degree` edges each on average, duplicates kept.
Graph rmat(int scale, std::int64_t degree) {
    const std::int64_t vertices = std::int64_t{1} << scale;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;
    for (std::int64_t e = 0; e < vertices * degree; ++e) {
        std::int32_t row = 0;
        std::int32_t column = 0;
        for (int level = 0; level < scale; ++level) {
            const double u = unit(random);
            row = 2 * row + (u >= 0.76 ? 1 : 0);
            column = 2 * column + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
        }
        edges.emplace_back(row, column);
    }
    std::sort(edges.begin(), edges.end());
    Graph graph;
    graph.row_start.assign(static_cast<std::size_t>(vertices) + 1, 0);
    for (const auto& [row, column] : edges) {
        ++graph.row_start[static_cast<std::size_t>(row) + 1];
        graph.column.push_back(column);
        graph.value.push_back(static_cast<float>(unit(random)));
    }
    for (std::size_t i = 1; i < graph.row_start.size(); ++i) graph.row_start[i] += graph.row_start[i - 1];
    return graph;
}

const Graph& graph() {
    static const Graph the_graph = rmat(16, 16);
    return the_graph;
}

Matrix whole(std::vector<float>& data, std::int64_t rows, std::int64_t columns) {
    data.assign(static_cast<std::size_t>(rows * columns), 0.5F);
    return {data.data(), rows, columns, columns};
}

void count(benchmark::State& state, double operations, double bytes) {
    using benchmark::Counter;
    if (operations > 0) {
        state.counters["flop/s"] = Counter(operations, Counter::kIsIterationInvariantRate, Counter::kIs1000);
    }
    state.counters["bytes/s"] = Counter(bytes, Counter::kIsIterationInvariantRate, Counter::kIs1000);
}

// A first attempt at an SpMM: the row's result in memory, one pass over it per nonzero, no threads.
void plain_spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom /*room*/) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        float* out = c.row(i);
        if (!accumulate) std::fill_n(out, c.columns, 0.0F);
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
            const float* x = b.row(a.column[k]);
            for (std::int64_t j = 0; j < c.columns; ++j) out[j] += a.value[k] * x[j];
        }
    }
}

void spmm(benchmark::State& state, decltype(Table::spmm) function) {
    const Csr a = graph().view();
    const std::int64_t width = state.range(0);
    std::vector<float> in;
    std::vector<float> out;
    const Matrix b = whole(in, a.columns, width);
    const Matrix c = whole(out, a.rows, width);
    while (state.KeepRunning()) {
        function(a, b, c, false, {});
        benchmark::DoNotOptimize(c.data);
    }
    const auto nonzeros = static_cast<double>(a.nonzeros());
    const auto rows = static_cast<double>(a.rows);
    const auto w = static_cast<double>(width);
    count(state, 2 * nonzeros * w, nonzeros * (4 * w + 8) + rows * (4 * w + 8));
}

// m x k times k x n; with `turned`, a is stored k x m (a weight gradient).
void gemm(benchmark::State& state, bool turned) {
    const std::int64_t m = state.range(0);
    const std::int64_t n = state.range(1);
    const std::int64_t k = state.range(2);
    std::vector<float> left;
    std::vector<float> right;
    std::vector<float> out;
    const Matrix a = whole(left, turned ? k : m, turned ? m : k);
    const Matrix b = whole(right, k, n);
    const Matrix c = whole(out, m, n);
    while (state.KeepRunning()) {
        cpu_table().gemm(turned ? Transpose::yes : Transpose::no, Transpose::no, a, b, c, false);
        benchmark::DoNotOptimize(c.data);
    }
    count(state, 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
          4 * static_cast<double>(m * k + k * n + m * n));
}

// With `bits`, the mask of the result is taken in the same call.
void activate(benchmark::State& state) {
    const std::int64_t rows = 1 << 16;
    const std::int64_t columns = state.range(0);
    DropoutKey key;
    const PassValues pass = gnnplan::kernels::pass_values(1);
    key.pass = &pass;
    key.probability = state.range(1) == 0 ? 0.0F : 0.5F;
    std::vector<float> data;
    const Matrix z = whole(data, rows, columns);
    const std::vector<float> bias(static_cast<std::size_t>(columns), 0.25F);
    std::vector<std::uint8_t> bits(state.range(2) == 0 ? 0 : static_cast<std::size_t>((rows * columns + 7) / 8));
    while (state.KeepRunning()) {
        cpu_table().activate(z, bias.data(), gnnplan::Activation::relu, key, bits.empty() ? nullptr : bits.data());
        benchmark::DoNotOptimize(z.data);
    }
    count(state, 0, 8 * static_cast<double>(rows * columns));
}

void mask(benchmark::State& state) {
    const std::int64_t rows = 1 << 16;
    const std::int64_t columns = state.range(0);
    std::vector<float> data;
    const Matrix h = whole(data, rows, columns);
    std::vector<std::uint8_t> bits(static_cast<std::size_t>((rows * columns + 7) / 8));
    while (state.KeepRunning()) {
        cpu_table().positive_mask(h, bits.data());
        cpu_table().apply_mask(h, bits.data(), 1);
        benchmark::DoNotOptimize(h.data);
    }
    count(state, 0, (12 + 0.25) * static_cast<double>(rows * columns));
}

// Every row trains, the worst case.
void softmax(benchmark::State& state) {
    const std::int64_t rows = 1 << 14;
    const std::int64_t columns = state.range(0);
    std::vector<float> data;
    const Matrix z = whole(data, rows, columns);
    const std::vector<std::int32_t> label(rows, 0);
    const std::vector<std::uint8_t> split(rows, training_split);
    double loss = 0;
    while (state.KeepRunning()) {
        cpu_table().softmax_cross_entropy(z, {label.data(), split.data(), 1}, &loss);
        benchmark::DoNotOptimize(loss);
    }
    count(state, 0, 8 * static_cast<double>(rows * columns));
}

// Out of the caches, as weights never are: four arrays read, three written.
void adam(benchmark::State& state) {
    const std::int64_t elements = 1 << 23;
    const PassValues pass = gnnplan::kernels::pass_values(1);
    std::vector<float> w(elements, 0.5F);
    const std::vector<float> gradient(elements, 0.25F);
    std::vector<float> m1(elements);
    std::vector<float> m2(elements);
    while (state.KeepRunning()) {
        cpu_table().update(gnnplan::Optimiser::adam, w.data(), gradient.data(), m1.data(), m2.data(), elements,
                           {.pass = &pass});
        benchmark::DoNotOptimize(w.data());
    }
    count(state, 0, 28 * static_cast<double>(elements));
}

enum class Move { copy, narrow, widen };

// The first columns of rows of 128, all or a part, to or from rows without gaps: what a rank packs and unpacks.
void move(benchmark::State& state, Move how) {
    constexpr std::int64_t rows = 1 << 18, all = 128;
    const std::int64_t columns = state.range(0);
    std::vector<float> in;
    std::vector<float> out;
    Matrix apart = whole(in, rows, all);
    apart.columns = columns;
    const Matrix packed = whole(out, rows, columns);
    std::vector<Bf16> numbers(static_cast<std::size_t>(rows * columns));
    const Dense<Bf16> halves{numbers.data(), rows, columns, columns};
    while (state.KeepRunning()) {
        switch (how) {
            case Move::copy: cpu_table().copy(apart, packed); break;
            case Move::narrow: cpu_table().narrow(apart, halves); break;
            case Move::widen: cpu_table().widen(halves, apart); break;
        }
        benchmark::ClobberMemory();
    }
    count(state, 0, (how == Move::copy ? 8 : 6) * static_cast<double>(rows * columns));
}

void widths(benchmark::internal::Benchmark* bench) {
    for (const int width : {16, 41, 128, 602}) bench->Arg(width);
    bench->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
    const char* threads = std::getenv("GNNPLAN_BENCH_THREADS");
    set_threads(threads == nullptr ? 1 : std::atoi(threads));
    benchmark::RegisterBenchmark("spmm/plain", spmm, plain_spmm)->Apply(widths);
    benchmark::RegisterBenchmark("spmm/cpu", spmm, cpu_table().spmm)->Apply(widths);
    benchmark::RegisterBenchmark("gemm/forward", gemm, false)
        ->Args({1 << 16, 128, 602})
        ->Args({1 << 16, 41, 128})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("gemm/weight_gradient", gemm, true)
        ->Args({602, 128, 1 << 16})
        ->Args({16, 16, 1 << 16})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("activate", activate)
        ->ArgsProduct({{16, 128, 602}, {0, 1}, {0, 1}})
        ->ArgNames({"columns", "dropout", "bits"})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark("mask", mask)->Apply(widths);
    benchmark::RegisterBenchmark("softmax", softmax)->Apply(widths);
    benchmark::RegisterBenchmark("adam", adam)->UseRealTime()->Unit(benchmark::kMillisecond);
    for (const auto& [name, how] : {std::pair("copy", Move::copy), {"narrow", Move::narrow}, {"widen", Move::widen}}) {
        benchmark::RegisterBenchmark(name, move, how)->Arg(128)->Arg(41)->UseRealTime()->Unit(benchmark::kMillisecond);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
