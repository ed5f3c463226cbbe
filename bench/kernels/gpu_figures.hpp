// The figures by which kernels on a GPU are judged: medians and spreads, bounds by the measured rates of the card,
// and the bars that a kernel is held to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::bench {

// Repeated measurements, in seconds.
struct Times {
    double median = 0, least = 0, most = 0;
    double low = 0, high = 0;  // quartiles

    double spread() const { return high - low; }
};
Times summary(std::vector<double> seconds);  // of one at least

double geometric_mean(const std::vector<double>& values);  // NaN of none

// Bytes per second, reads and writes added up.
struct Rates {
    double memory = 0;
    double l2 = 0;
};

struct Timed {
    std::string name;
    Times times;
    double buffer_bytes = 0;  // of the device's memory, beside the operands
    double difference = 0;    // the largest relative one of its results from ours
    bool same_bits = true;    // of two products
};

// One graph and width: our SpMM, and cuSPARSE's algorithms for the same product.
struct SpmmCase {
    std::string graph;
    std::int64_t width = 0, nonzeros = 0;
    Timed ours;
    std::vector<Timed> library;
    std::optional<Timed> copied{};  // ours where rows of the operand are copied that a plan reads as they are

    // Each nonzero reads its column, its value and a row of the dense operand: nonzeros * (4 width + 8).
    double bytes() const;
    double over_no_reuse(const Rates& rates) const { return ours.times.median / (bytes() / rates.memory); }
    double over_l2(const Rates& rates) const { return ours.times.median / (bytes() / rates.l2); }
    const Timed& fastest() const;  // of the library's
    double gain() const { return fastest().times.median / ours.times.median; }
    // By how much ours is slower than the fastest, over the larger spread of the two; at most 1 is no difference.
    double slower_over_spread() const;
};

// A dense product c = op(a) op(b), where op(a) is rows x inner and c rows x columns.
struct GemmCase {
    std::string name;
    std::int64_t rows = 0, inner = 0, columns = 0;
    Times times;
    double error = 0;     // the largest, over the sum of the absolute products
    Times usual_times{};  // in cuBLAS's usual mode; the others are in its pedantic one
    double usual_error = 0;

    double operations() const;
    double bytes() const;  // every operand once
    // This is the time that the peak or the memory's rate allows, whichever is longer, over the time measured.
    double share(double peak, const Rates& rates) const;
};

struct Bar {
    std::string what;
    double value = 0, wanted = 0;
    bool at_least = true;  // else at most

    bool met() const { return at_least ? value >= wanted : value <= wanted; }
};
// Those that the measured cases say something about.
std::vector<Bar> spmm_bars(const std::vector<SpmmCase>& cases, const Rates& rates);
std::vector<Bar> gemm_bars(const std::vector<GemmCase>& cases, double peak, const Rates& rates);

}  // namespace gnnplan::bench
