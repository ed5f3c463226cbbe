// Dense products against the FMA peak, OpenBLAS and oneDNN (where found at build time), alternately in one run:
//
//   OMP_PROC_BIND=true gemm_bench [THREADS] [REPEATS] [SHAPES]
//
// n vertices, W is k x m: X W (forward), G W^T (input gradient), X^T G (weight gradient). Prints a Markdown table of
// median times, rates and shares of the peak measured in the same repeats. Large matrices are backed by huge pages.
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/fma_peak.hpp"
#include "kernels/table.hpp"

#ifdef GNNPLAN_BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef GNNPLAN_BENCH_ONEDNN
#include <dnnl.h>
#endif

namespace {

using namespace gnnplan;
using kernels::ConstMatrix;
using kernels::Matrix;
using kernels::Transpose;

using Gemm = std::function<void(Transpose, Transpose, ConstMatrix, ConstMatrix, Matrix)>;

struct Library {
    std::string name;
    Gemm gemm;
};

#if defined(GNNPLAN_BENCH_OPENBLAS) || defined(GNNPLAN_BENCH_ONEDNN)
std::int64_t inner_of(Transpose transpose, ConstMatrix a) { return transpose == Transpose::yes ? a.rows : a.columns; }
#endif

std::vector<Library> libraries(int threads) {
    std::vector<Library> all = {{"gnnplan", [](Transpose ta, Transpose tb, ConstMatrix a, ConstMatrix b, Matrix c) {
                                     kernels::cpu_table().gemm(ta, tb, a, b, c, false);
                                 }}};
    static_cast<void>(threads);
#ifdef GNNPLAN_BENCH_OPENBLAS
    // One serial call per thread on its panel of c: OpenBLAS' own threads know nothing of ours or of where they are
    // bound.
    openblas_set_num_threads(1);
    all.push_back({"OpenBLAS", [threads](Transpose ta, Transpose tb, ConstMatrix a, ConstMatrix b, Matrix c) {
                       const auto turn = [](Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; };
                       const auto size = [](std::int64_t x) { return static_cast<blasint>(x); };
#pragma omp parallel for
                       for (int t = 0; t < threads; ++t) {
                           const std::int64_t first = c.rows * t / threads;
                           const std::int64_t rows = c.rows * (t + 1) / threads - first;
                           const float* left = ta == Transpose::yes ? a.data + first : a.row(first);
                           cblas_sgemm(CblasRowMajor, turn(ta), turn(tb), size(rows), size(c.columns),
                                       size(inner_of(ta, a)), 1, left, size(a.stride), b.data, size(b.stride), 0,
                                       c.row(first), size(c.stride));
                       }
                   }});
#endif
#ifdef GNNPLAN_BENCH_ONEDNN
    all.push_back({"oneDNN", [](Transpose ta, Transpose tb, ConstMatrix a, ConstMatrix b, Matrix c) {
                       const auto turned = [](Transpose t) { return t == Transpose::yes ? 'T' : 'N'; };
                       dnnl_sgemm(turned(ta), turned(tb), c.rows, c.columns, inner_of(ta, a), 1, a.data, a.stride,
                                  b.data, b.stride, 0, c.data, c.stride);
                   }});
#endif
    return all;
}

struct Free {
    void operator()(void* data) const { std::free(data); }
};

class Owned {
public:
    Owned(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {
        constexpr std::size_t page = std::size_t{2} << 20U;
        const std::size_t bytes = (static_cast<std::size_t>(rows * columns) * sizeof(float) + page - 1) / page * page;
        data_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
        madvise(data_.get(), bytes, MADV_HUGEPAGE);
#pragma omp parallel for
        for (std::int64_t i = 0; i < rows * columns; ++i) data_.get()[i] = static_cast<float>(i % 1000) * 0.001F;
    }
    Matrix view() const { return {data_.get(), rows_, columns_, columns_}; }

private:
    std::int64_t rows_, columns_;
    std::unique_ptr<float, Free> data_;
};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

struct Shape {
    std::int64_t n, k, m;
};

void run(const Shape& shape, const std::vector<Library>& all, int repeats) {
    const Owned x(shape.n, shape.k);
    const Owned g(shape.n, shape.m);
    const Owned w(shape.k, shape.m);
    const auto [no, yes] = std::pair(Transpose::no, Transpose::yes);
    const std::vector<std::pair<std::string, std::function<void(const Gemm&)>>> products = {
        {"X W", [&](const Gemm& gemm) { gemm(no, no, x.view(), w.view(), g.view()); }},
        {"G W^T", [&](const Gemm& gemm) { gemm(no, yes, g.view(), w.view(), x.view()); }},
        {"X^T G", [&](const Gemm& gemm) { gemm(yes, no, x.view(), g.view(), w.view()); }}};
    const double operations = 2 * static_cast<double>(shape.n) * static_cast<double>(shape.k * shape.m);
    // Small products are called often enough to be timed.
    const int calls = std::max(1, static_cast<int>(1e9 / operations));
    for (const auto& [name, product] : products) {
        std::vector<double> peak;
        std::vector<std::vector<double>> seconds(all.size());
        for (int repeat = -1; repeat < repeats; ++repeat) {  // the first warms up
            if (repeat >= 0) peak.push_back(bench::fma_peak());
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto start = std::chrono::steady_clock::now();
                for (int call = 0; call < calls; ++call) product(all[i].gemm);
                const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
                if (repeat >= 0) seconds[i].push_back(taken.count() / calls);
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double time = median(seconds[i]);
            fmt::print("| {} {} {} | {} | {} | {:.3f} | {:.0f} | {:.2f} |\n", shape.n, shape.k, shape.m, name,
                       all[i].name, 1e3 * time, 1e-9 * operations / time, operations / time / median(peak));
        }
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 9;
    int shapes = argc > 3 ? std::atoi(argv[3]) : 100;  // the first so many of the list
    kernels::set_threads(threads);
    const std::vector<Library> all = libraries(threads);
    fmt::print("{} threads, medians of {}, FMA peak {:.0f} GF/s\n\n", threads, repeats, 1e-9 * bench::fma_peak());
    fmt::print("| n k m | product | by | ms | GF/s | of peak |\n|---|---|---|---|---|---|\n");
    for (const Shape& shape : {Shape{200'000, 128, 128},
                               {200'000, 602, 128},
                               {200'000, 256, 256},
                               {200'000, 128, 41},
                               {200'000, 128, 40},
                               {200'000, 128, 16},
                               {2'708, 1'433, 16},
                               {2'708, 16, 7}}) {
        if (shapes-- > 0) run(shape, all, repeats);
    }
    return 0;
}
