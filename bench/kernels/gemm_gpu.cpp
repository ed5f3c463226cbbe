// The dense products of layers on a GPU beside what its peak and its memory allow:
//
//     gemm_gpu [--scale 1] [--repeats 9] [--json FILE]
//
// n vertices, W is k x m: X W (forward), G W^T (gradient of the input), X^T G (gradient of the weights), in fp32. The
// bound is the longer of operations over the card's peak and the bytes of all operands over the rate of copies. Times
// are medians by the device's clock, of cuBLAS's pedantic mode, which gnnrun uses, and of its usual one, alternating.
// Some elements of each result are compared with sums in double: TF32 would show.
#include "bench/kernels/gpu_bench.hpp"
#include "kernels/cuda/gemm.hpp"

#include <fmt/format.h>

#include <cmath>

namespace {

using namespace gnnplan;
using namespace gnnplan::bench;
using Json = nlohmann::ordered_json;
using kernels::Device;
using kernels::Transpose;

struct Layer {
    std::int64_t n, k, m;
};
// Reddit's two layers, and one of Products.
constexpr Layer layers[] = {{232'965, 602, 128}, {232'965, 128, 41}, {2'449'029, 256, 256}};

struct Product {
    std::string name;
    Transpose transpose_a, transpose_b;
    const DeviceMatrix &a, &b, &c;

    std::int64_t inner() const { return transpose_a == Transpose::yes ? a.view().rows : a.view().columns; }
};

std::vector<float> all_of(Device& device, const DeviceMatrix& matrix) {
    return matrix.read(device, 0, matrix.view().rows);
}

// The largest error of some elements of `c`, over the sum of the absolute products that each is of. Operands have both
// signs, so that errors do not hide in large sums.
double largest_error(const Product& product, const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& c) {
    const kernels::Matrix out = product.c.view();
    const bool turned_a = product.transpose_a == Transpose::yes, turned_b = product.transpose_b == Transpose::yes;
    const auto element = [](const std::vector<float>& x, const DeviceMatrix& of, bool turned, std::int64_t i,
                            std::int64_t j) {
        const std::int64_t place = turned ? j * of.view().columns + i : i * of.view().columns + j;
        return static_cast<double>(x[static_cast<std::size_t>(place)]);
    };
    constexpr std::int64_t checked = 64;
    double largest = 0;
    for (std::int64_t t = 0; t < checked; ++t) {
        const std::int64_t i = (out.rows - 1) * t / (checked - 1), j = t * 37 % out.columns;
        double sum = 0, absolute = 0;
        for (std::int64_t l = 0; l < product.inner(); ++l) {
            const double term = element(a, product.a, turned_a, i, l) * element(b, product.b, turned_b, l, j);
            sum += term;
            absolute += std::abs(term);
        }
        const double error = std::abs(element(c, product.c, false, i, j) - sum) / absolute;
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

GemmCase measure(Device& device, const Product& product, int repeats) {
    using kernels::cuda::GemmMode;
    const auto multiply = [&](GemmMode mode) {
        kernels::cuda::gemm_in(mode, product.transpose_a, product.transpose_b, product.a.view(), product.b.view(),
                               product.c.view(), false);
    };
    std::vector<Contender> modes = {{"pedantic", [&] { multiply(GemmMode::pedantic); }},
                                    {"usual", [&] { multiply(GemmMode::usual); }}};
    alternate(device, modes, repeats);
    const std::vector<float> a = all_of(device, product.a), b = all_of(device, product.b);
    const auto error_of = [&](GemmMode mode) {
        multiply(mode);
        return largest_error(product, a, b, all_of(device, product.c));
    };
    const kernels::Matrix c = product.c.view();
    return {product.name,
            c.rows,
            product.inner(),
            c.columns,
            summary(modes[0].seconds),
            error_of(GemmMode::pedantic),
            summary(modes[1].seconds),
            error_of(GemmMode::usual)};
}

// Each product overwrites what the next one may read: only shapes and signs of the operands matter.
std::vector<GemmCase> measure(Device& device, const Layer& layer, const Options& options) {
    const auto n = std::llround(static_cast<double>(layer.n) * options.scale);
    const DeviceMatrix x(device, n, layer.k, -1, 1), g(device, n, layer.m, -1, 1), w(device, layer.k, layer.m, -1, 1);
    const DeviceMatrix to_x(device, n, layer.k), to_g(device, n, layer.m), to_w(device, layer.k, layer.m);
    const auto [no, yes] = std::pair(Transpose::no, Transpose::yes);
    std::vector<GemmCase> cases;
    for (const Product& product :
         {Product{"X W", no, no, x, w, to_g}, {"G W^T", no, yes, g, w, to_x}, {"X^T G", yes, no, x, g, to_w}})
        cases.push_back(measure(device, product, options.repeats));
    return cases;
}

Json json_of(const GemmCase& each, double peak, const Rates& rates) {
    return {{"name", each.name},
            {"rows", each.rows},
            {"inner", each.inner},
            {"columns", each.columns},
            {"seconds", bench::json_of(each.times)},
            {"share", each.share(peak, rates)},
            {"error", each.error},
            {"usual_mode", {{"seconds", bench::json_of(each.usual_times)}, {"error", each.usual_error}}}};
}

void print(const GemmCase& each, double peak, const Rates& rates) {
    fmt::print("{:<6} {} x {} x {}: {:.3f} ms [{:.3f} .. {:.3f}], {:.1f} TF/s, {:.2f} of the bound, error {:.1e}",
               each.name, each.rows, each.inner, each.columns, each.times.median * 1e3, each.times.low * 1e3,
               each.times.high * 1e3, each.operations() / each.times.median / 1e12, each.share(peak, rates),
               each.error);
    fmt::print("; usual mode {:.3f} ms [{:.3f} .. {:.3f}], error {:.1e}\n", each.usual_times.median * 1e3,
               each.usual_times.low * 1e3, each.usual_times.high * 1e3, each.usual_error);
}

int run(Device& device, const Card& card, const Options& options) {
    constexpr double tolerance = 5e-6;  // rounding of fp32 stays below, that of TF32 does not
    const Rates rates = measure_rates(device, card, options.repeats);
    print_card(card, rates);
    std::vector<GemmCase> cases;
    Outcome outcome{
        "gemm_gpu", {}, Json::array(), true, "results are further from the sums in double than fp32 explains"};
    for (const Layer& layer : layers) {
        for (const GemmCase& each : measure(device, layer, options)) {
            print(each, card.peak, rates);
            outcome.right = outcome.right && each.error <= tolerance;
            outcome.cases.push_back(json_of(each, card.peak, rates));
            cases.push_back(each);
            write_figures(outcome, options, card, rates);
        }
    }
    outcome.bars = gemm_bars(cases, card.peak, rates);
    return conclude(outcome, options, card, rates);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Dense products of layers on a GPU beside what its peak and its memory allow");
    add_options(app, options);
    CLI11_PARSE(app, argc, argv);
    return on_gpu("gemm_gpu", [&](Device& device, const Card& card) { return run(device, card, options); });
}
