// Measures the assumptions of plans and kernels about a GPU and its libraries:
//
//     card_gpu [--scale 1] [--repeats 9] [--json FILE]
//
// Memory: what a context takes, what the first use of each library takes, and what cudaMalloc takes for blocks of
// several sizes. Rates: bytes per second of the rows that our SpMM reads out of a window of 1 to 512 MiB, one after the
// other or at random, by their width; they fall where the L2 ends. cuSPARSE: the buffers that CSR_ALG2 and CSR_ALG3
// want for R-MAT graphs, and whether two products have the same bits. --scale 0.01 makes windows and graphs a hundredth
// as large.
#include "bench/kernels/card_memory.hpp"
#include "bench/kernels/gpu_bench.hpp"
#include "bench/kernels/rmat_block.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <fmt/format.h>

#include <cmath>

namespace {

using namespace gnnplan;
using namespace gnnplan::bench;
using Json = nlohmann::ordered_json;
using kernels::Device;
using kernels::cuda::LibraryAlgorithm;

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t vertices[] = {20'000, 200'000, 2'000'000};  // with eight times as many edges
constexpr std::int64_t product_widths[] = {16, 41, 128, 256};

struct Row {
    bool random;
    std::int64_t width;
};
constexpr Row read_rows[] = {{false, 128}, {true, 16}, {true, 32}, {true, 128}};

std::int64_t scaled(std::int64_t count, const Options& options) {
    return std::max<std::int64_t>(std::llround(static_cast<double>(count) * options.scale), 1);
}

// In MiB, with more of them where caches of GPUs end.
std::vector<std::int64_t> windows() {
    std::vector<std::int64_t> all = {1, 2, 4, 8, 12};
    for (std::int64_t window = 16; window <= 64; window += 4) all.push_back(window);
    all.insert(all.end(), {80, 96, 128, 192, 256, 384, 512});
    return all;
}

Json taken(const char* kind, const Taken& each) {
    fmt::print("{:<32} {:>12} bytes, {:>12} beyond what was asked for\n", each.what, each.bytes,
               each.bytes - each.asked);
    return {{"what", kind}, {"of", each.what}, {"bytes", each.bytes}, {"asked_bytes", each.asked}};
}

void measure_rates_of_rows(Device& device, const Options& options, Json& cases) {
    for (const Row& row : read_rows) {
        for (const std::int64_t window : windows()) {
            const std::int64_t bytes = scaled(window * mib, options);
            const double rate =
                visit_rate(device, {bytes, row.width, scaled(512 * mib, options), row.random}, options.repeats);
            fmt::print("{} rows of {:>3} floats in {:>3} MiB: {:8.0f} GB/s\n", row.random ? "random " : "ordered",
                       row.width, window, rate / 1e9);
            cases.push_back({{"what", "rows"},
                             {"random", row.random},
                             {"width", row.width},
                             {"window_bytes", bytes},
                             {"bytes_per_second", rate}});
        }
    }
}

Json measure_library(Device& device, const DeviceCsr& a, std::int64_t width, LibraryAlgorithm algorithm) {
    const DeviceMatrix b(device, a.view().columns, width, 0.5F, 1.5F), c(device, a.view().rows, width);
    const LibraryProduct product(device, a, b.view(), c.view(), algorithm);
    product.queue(b.view(), c.view());
    const std::vector<float> first = sample(device, c);
    product.queue(b.view(), c.view());
    const bool same = same_bits(first, sample(device, c));
    const char* name = algorithm == LibraryAlgorithm::csr2 ? "CSR_ALG2" : "CSR_ALG3";
    fmt::print("{} {} rows, {} nonzeros, {:>3} columns: a buffer of {} bytes, {} bits\n", name, a.view().rows,
               a.nonzeros(), width, product.buffer_bytes(), same ? "the same" : "other");
    return {{"what", "cusparse"},       {"algorithm", name}, {"rows", a.view().rows},
            {"nonzeros", a.nonzeros()}, {"width", width},    {"buffer_bytes", product.buffer_bytes()},
            {"same_bits", same}};
}

int run(Device& device, const Card& card, const ContextMemory& context, const Options& options) {
    Outcome outcome{"card_gpu", {}, Json::array(), true, {}};
    Rates rates;
    if (context.bytes) outcome.cases.push_back(taken("memory", {"context", *context.bytes, 0}));
    for (const Taken& each : measure_first_uses(device, context.free)) outcome.cases.push_back(taken("memory", each));
    for (const Taken& each : measure_allocations(device)) outcome.cases.push_back(taken("allocation", each));
    write_figures(outcome, options, card, rates);
    rates = measure_rates(device, card, options.repeats);
    print_card(card, rates);
    measure_rates_of_rows(device, options, outcome.cases);
    write_figures(outcome, options, card, rates);
    for (const std::int64_t count : vertices) {
        const std::int64_t rows = scaled(count, options);
        const DeviceCsr a(device, rmat_block(rows, 8 * rows).view());
        for (const std::int64_t width : product_widths) {
            for (const LibraryAlgorithm algorithm : {LibraryAlgorithm::csr2, LibraryAlgorithm::csr3})
                outcome.cases.push_back(measure_library(device, a, width, algorithm));
        }
        write_figures(outcome, options, card, rates);
    }
    return conclude(outcome, options, card, rates);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("What plans and kernels assume about a GPU and its libraries, measured");
    add_options(app, options);
    CLI11_PARSE(app, argc, argv);
    ContextMemory context;
    try {
        context = measure_context();
    } catch (const Error&) {  // on_gpu says it
    }
    return on_gpu("card_gpu", [&](Device& device, const Card& card) { return run(device, card, context, options); });
}
