// How long planning takes: select() on sizes alone, the whole full space or one scheme. Bars, in processor time: a
// second for two and three layers on 1024 ranks, whatever the scheme, and for 100 layers of one width; five seconds for
// two layers on 16384 ranks; a second and a half for 100 layers of as many widths, which is not met.
// commands.py times the whole command.
#include "planner/catalog/machines.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <benchmark/benchmark.h>

#include <functional>

namespace gnnplan {
namespace {

// ogbn-products as RDM's Table V has it.
void plan(benchmark::State& state, const std::vector<std::int64_t>& widths, int ranks, const char* scheme,
          const std::function<void(ModelRecord&)>& change = {}) {
    const UniformStats graph(2'449'029, 61'859'140, true);
    Problem problem;
    ModelRecord& model = problem.record.model;
    model.widths = widths;
    if (change) change(model);
    problem.ops = models::build(model);
    problem.record.graph.normalisation = models::matrix_of(model).normalisation;
    problem.graph = &graph;
    problem.record.ranks = ranks;
    problem.record.run.input_dropout = 0;  // said, so that select() need not ask a second time with dropout
    SelectOptions options;
    if (scheme != nullptr) options.scheme = scheme;
    const Machine profile = catalog::find_machine("dgx-a100");
    for (auto _ : state) {
        const SelectResult result = select(problem, profile, options);
        if (!result) state.SkipWithError(result.message.c_str());
        benchmark::DoNotOptimize(result);
    }
}

// Hidden layers of 128.
void equal(benchmark::State& state, int layers, int ranks, const char* scheme) {
    std::vector<std::int64_t> widths(static_cast<std::size_t>(layers) + 1, 128);
    widths.front() = 100;
    widths.back() = 47;
    plan(state, widths, ranks, scheme);
}

// A hundred layers of other models.
void hundred(benchmark::State& state, const char* name, const char* aggregator, bool residual, bool jk_concat) {
    std::vector<std::int64_t> widths(101, 128);
    widths.front() = 100;
    widths.back() = 47;
    plan(state, widths, 64, nullptr, [&](ModelRecord& model) {
        model.name = name;
        model.aggregator = aggregator;
        model.residual = residual ? Residual::input : Residual::none;
        model.jk = jk_concat ? JumpingKnowledge::concat : JumpingKnowledge::none;
    });
}

// Hidden layers of 100 to 200, no two of them alike up to a hundred.
void different(benchmark::State& state, int layers, int ranks) {
    std::vector<std::int64_t> widths;
    for (std::int64_t l = 0; l <= layers; ++l) widths.push_back(100 + l * 37 % 101);
    plan(state, widths, ranks, nullptr);
}

BENCHMARK_CAPTURE(equal, two_layers_8_ranks, 2, 8, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, two_layers_64_ranks, 2, 64, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, two_layers_1024_ranks, 2, 1024, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, two_layers_1000_ranks, 2, 1000, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, two_layers_16384_ranks, 2, 16384, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_64_ranks, 3, 64, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_1024_ranks_rdm, 3, 1024, "rdm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_1024_ranks_1d, 3, 1024, "1d")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_1024_ranks_1_5d, 3, 1024, "1.5d")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_1024_ranks_2d, 3, 1024, "2d")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, three_layers_1024_ranks_3d, 3, 1024, "3d")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, hundred_layers_8_ranks, 100, 8, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(equal, hundred_layers_64_ranks, 100, 64, nullptr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred, sage_mean, "sage", "mean", false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred, sage_max, "sage", "max", false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred, gin, "gin", "", false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred, gcn_residual, "gcn", "", true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hundred, gcn_jk, "gcn", "", false, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(different, hundred_widths_64_ranks, 100, 64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gnnplan

BENCHMARK_MAIN();
