// The common parts of benchmarks of GPU kernels: the device, its measured rates, operands, and times by the device's
// clock.
#pragma once

#include "bench/kernels/card.hpp"
#include "bench/kernels/gpu_figures.hpp"
#include "kernels/cuda/library_spmm.hpp"
#include "kernels/device.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::bench {

// Floats on the device, some columns a row and nothing in between.
class DeviceMatrix {
public:
    DeviceMatrix(kernels::Device& device, std::int64_t rows, std::int64_t columns);
    // Random numbers of [low, high), none of them 0; long matrices repeat them after some millions.
    DeviceMatrix(kernels::Device& device, std::int64_t rows, std::int64_t columns, float low, float high);

    kernels::Matrix view() const { return {floats(), rows_, columns_, columns_}; }
    std::vector<float> read(kernels::Device& device, std::int64_t first_row, std::int64_t rows) const;

private:
    float* floats() const { return reinterpret_cast<float*>(memory_->data()); }

    std::int64_t rows_, columns_;
    std::unique_ptr<kernels::DeviceMemory> memory_;
};

// A matrix of one panel with values on the device, whose row starts have 32 bits.
class DeviceCsr {
public:
    DeviceCsr(kernels::Device& device, const kernels::Csr& on_host);

    const kernels::Csr& view() const { return view_; }
    std::int64_t nonzeros() const { return nonzeros_; }

private:
    std::unique_ptr<kernels::DeviceMemory> row_start_, column_, value_;
    std::int64_t nonzeros_;
    kernels::Csr view_;
};

// The matrix, to be multiplied with operands like `b` by a kernel of Device::choose(): by `kernel`, if it can.
class ChosenProduct {
public:
    ChosenProduct(kernels::Device& device, const DeviceCsr& a, kernels::ConstMatrix b, kernels::Matrix c,
                  kernels::PanelRoom room, std::string_view kernel);

    const kernels::Csr& matrix() const { return a_; }
    const std::string& kernel() const { return kernel_; }

private:
    kernels::Csr a_;
    std::unique_ptr<kernels::Prepared> prepared_;
    std::string kernel_;
};

// The rows of a result that are compared: all where it is small, else some from everywhere.
std::vector<float> sample(kernels::Device& device, const DeviceMatrix& matrix);
bool same_bits(const std::vector<float>& x, const std::vector<float>& y);

// A product of cuSPARSE with memory of its own, made ready.
class LibraryProduct {
public:
    LibraryProduct(kernels::Device& device, const DeviceCsr& a, kernels::ConstMatrix b, kernels::Matrix c,
                   kernels::cuda::LibraryAlgorithm algorithm);

    std::size_t buffer_bytes() const { return product_->buffer_bytes(); }
    void queue(kernels::ConstMatrix b, kernels::Matrix c) const { product_->multiply(b, c, false); }

private:
    std::unique_ptr<kernels::cuda::LibrarySpmm> product_;
    std::unique_ptr<kernels::DeviceMemory> buffer_;
};

// The options of each benchmark.
struct Options {
    double scale = 1;  // of the sizes measured
    int repeats = 9;
    std::string json;  // the file for all figures; empty: none
};
void add_options(CLI::App& app, Options& options);

// Work to time: `queue` queues it once.
struct Contender {
    std::string name;
    std::function<void()> queue;
    std::vector<double> seconds{};
};

// Queues each once to warm up, and then all of them in turn, `repeats` times; what is short is queued several times for
// each measurement, so that marks and launches do not show.
void alternate(kernels::Device& device, std::vector<Contender>& contenders, int repeats);

// Rows of `width` floats that our SpMM reads out of a window, `bytes` of them all in all: one after the other, from the
// beginning again where the window ends, or at random.
struct Visits {
    std::int64_t window_bytes, width, bytes;
    bool random;
};
// Bytes per second of these rows and of the columns and values of the nonzeros. The matrix is prepared, and the operand
// is not cut into slices that fit the L2 ("whole"), or else the rate would not fall where the L2 ends.
double visit_rate(kernels::Device& device, const Visits& visits, int repeats);

// The rate of memory is that of the fastest copies, by the driver or by our kernel. The rate of the L2 is that of the
// fastest of the same copies of what fits it and of our SpMM's gathers of rows that fit it: launches do not show there.
Rates measure_rates(kernels::Device& device, const Card& card, int repeats);

// The main function of a benchmark: opens the first GPU and calls `body`. One line and exit code 77 where there is
// none.
int on_gpu(const char* program, const std::function<int(kernels::Device&, const Card&)>& body);

nlohmann::ordered_json json_of(const Times& times);

void print_card(const Card& card, const Rates& rates);

struct Outcome {
    std::string program;
    std::vector<Bar> bars;
    nlohmann::ordered_json cases;
    bool right = true;
    std::string wrong;
};
// Writes options.json, if there is one, with the documents of the cases so far. After each case, so that what ends the
// program early takes none of them with it. Throws Error{io}.
void write_figures(const Outcome& outcome, const Options& options, const Card& card, const Rates& rates);
// The end of a benchmark: prints the bars and, where results are wrong, `wrong`; writes the figures. Returns the exit
// code; throws Error{io}.
int conclude(const Outcome& outcome, const Options& options, const Card& card, const Rates& rates);

}  // namespace gnnplan::bench
