#include "bench/kernels/gpu_figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace gnnplan::bench {
namespace {

// Between neighbours, so that two measurements have a median between them.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

using Of = std::function<double(const SpmmCase&)>;
using Where = std::function<bool(const SpmmCase&)>;

std::vector<double> all_of(const std::vector<SpmmCase>& cases, const Where& where, const Of& of) {
    std::vector<double> values;
    for (const SpmmCase& each : cases) {
        if (where(each)) values.push_back(of(each));
    }
    return values;
}

}  // namespace

Times summary(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {quantile(seconds, 0.5), seconds.front(), seconds.back(), quantile(seconds, 0.25), quantile(seconds, 0.75)};
}

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

double SpmmCase::bytes() const { return static_cast<double>(nonzeros) * (4.0 * static_cast<double>(width) + 8.0); }

const Timed& SpmmCase::fastest() const {
    return *std::ranges::min_element(library, {}, [](const Timed& each) { return each.times.median; });
}

double SpmmCase::slower_over_spread() const {
    const double slower = ours.times.median - fastest().times.median;
    const double spread = std::max(ours.times.spread(), fastest().times.spread());
    if (slower <= 0) return 0;
    return spread > 0 ? slower / spread : std::numeric_limits<double>::infinity();
}

double GemmCase::operations() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
}

double GemmCase::bytes() const {
    const auto r = static_cast<double>(rows), k = static_cast<double>(inner), c = static_cast<double>(columns);
    return 4.0 * (r * k + k * c + r * c);
}

double GemmCase::share(double peak, const Rates& rates) const {
    return std::max(operations() / peak, bytes() / rates.memory) / times.median;
}

std::vector<Bar> spmm_bars(const std::vector<SpmmCase>& cases, const Rates& rates) {
    const auto everywhere = [](const SpmmCase&) { return true; };
    const auto gain = [](const SpmmCase& each) { return each.gain(); };
    const auto over_no_reuse = [&](const SpmmCase& each) { return each.over_no_reuse(rates); };
    const auto narrow = [](const SpmmCase& each) { return each.width <= 32; };
    const auto reddit = [](const SpmmCase& each) { return each.graph == "reddit"; };
    const auto wide = [&](const SpmmCase& each) { return reddit(each) && each.width >= 64; };
    const auto products = [](const SpmmCase& each) { return each.graph == "products"; };
    std::vector<Bar> bars;
    const auto mean = [&](const std::string& what, double wanted, const Where& where) {
        const std::vector<double> values = all_of(cases, where, gain);
        if (!values.empty()) bars.push_back({what, geometric_mean(values), wanted, true});
    };
    const auto largest = [&](const std::string& what, double wanted, const Where& where, const Of& of) {
        const std::vector<double> values = all_of(cases, where, of);
        if (!values.empty()) bars.push_back({what, *std::ranges::max_element(values), wanted, false});
    };
    largest("slower than the fastest of cuSPARSE, over the spread, largest", 1, everywhere,
            [](const SpmmCase& each) { return each.slower_over_spread(); });
    mean("gain over the fastest of cuSPARSE, geometric mean", 1.15, everywhere);
    mean("the same, widths up to 32", 1.3, narrow);
    mean("the same, reddit from 64 columns on", 1.3, wide);
    largest("time over the no-reuse bound, reddit, largest", 0.65, reddit, over_no_reuse);
    largest("time over the no-reuse bound, products, largest", 0.95, products, over_no_reuse);
    return bars;
}

std::vector<Bar> gemm_bars(const std::vector<GemmCase>& cases, double peak, const Rates& rates) {
    double least = std::numeric_limits<double>::infinity();
    for (const GemmCase& each : cases) least = std::min(least, each.share(peak, rates));
    return {{"share of what peak and memory allow, smallest", least, 0.65, true}};
}

}  // namespace gnnplan::bench
