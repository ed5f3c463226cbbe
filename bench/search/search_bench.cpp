// How long planning takes: select() on sizes alone, the whole full space. Bars: under a second for two layers on 1024
// ranks and for 100 layers.
#include "planner/catalog/machines.hpp"

#include <gnnplan/models.hpp>
#include <gnnplan/select.hpp>

#include <benchmark/benchmark.h>

namespace gnnplan {
namespace {

// ogbn-products as RDM's Table V has it, hidden layers of 128.
void plan(benchmark::State& state, const char* machine, int layers, int ranks) {
    std::vector<std::int64_t> widths(static_cast<std::size_t>(layers) + 1, 128);
    widths.front() = 100;
    widths.back() = 47;
    const UniformStats graph(2'449'029, 61'859'140, true);
    Problem problem;
    problem.ops = models::gcn(widths, false);
    problem.graph = &graph;
    problem.record.ranks = ranks;
    const Machine profile = catalog::find_machine(machine);
    for (auto _ : state) {
        const SelectResult result = select(problem, profile);
        if (!result) state.SkipWithError(result.message.c_str());
        benchmark::DoNotOptimize(result);
    }
}

BENCHMARK_CAPTURE(plan, two_layers_8_ranks, "dgx-a100", 2, 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, two_layers_64_ranks, "dgx-a100", 2, 64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, two_layers_1024_ranks, "dgx-a100", 2, 1024)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, two_layers_1000_ranks, "dgx-a100", 2, 1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, three_layers_64_ranks, "dgx-a100", 3, 64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, hundred_layers_8_ranks, "dgx-a100", 100, 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, hundred_layers_64_ranks, "dgx-a100", 100, 64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gnnplan

BENCHMARK_MAIN();
