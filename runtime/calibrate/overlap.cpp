// Communication while computing, in portions as runtime/exec/spmm.cpp has them.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t width = 64;
constexpr std::int64_t degree = 16;
constexpr std::int64_t rows = 1 << 16;
constexpr std::int64_t columns = 1 << 15;  // 8 MiB of dense operand
constexpr std::int64_t flops_per_look = 8'000'000;
constexpr std::int64_t first_bytes = 1 << 20;

class Product {
public:
    explicit Product(const kernels::Table& table)
        : table_(table), matrix_(rows, columns, degree), dense_(columns * width, 1.0F), result_(rows * width) {}

    std::int64_t nonzeros() const { return matrix_.nonzeros(); }
    // `look` is called after each portion.
    void run(const Work& look) {
        const std::int64_t portions = 2 * nonzeros() * width / flops_per_look;
        for (std::int64_t i = 0; i < portions; ++i) {
            const Range part = balanced_block({0, rows}, i, portions);
            table_.spmm(matrix_.view().row_slice(part.begin, part.size()), {dense_.data(), columns, width, width},
                        {result_.data() + part.begin * width, part.size(), width, width}, false, {});
            look();
        }
    }

private:
    const kernels::Table& table_;
    RandomMatrix matrix_;
    Array<float> dense_;
    Array<float> result_;
};

// A message from each rank to the next.
class Shift {
public:
    Shift(comm::Communicator& comm, std::int64_t bytes) : comm_(comm), out_(bytes), in_(bytes) {}

    std::unique_ptr<comm::PendingExchange> start() {
        const int ranks = comm_.size();
        const comm::Send send{(comm_.rank() + 1) % ranks, out_.span()};
        const comm::Receive receive{(comm_.rank() + ranks - 1) % ranks, in_.span()};
        return comm_.start_exchange({&send, 1}, {&receive, 1});
    }

private:
    comm::Communicator& comm_;
    Array<std::byte> out_;
    Array<std::byte> in_;
};

}  // namespace

void measure_overlap(const Setting& setting, double ratio, std::int64_t largest, std::vector<Sample>& samples) {
    Product product(setting.kernels);
    const auto compute = seconds_of_collective(setting, [&] { product.run([] {}); });
    Shift trial(setting.comm, std::min(first_bytes, largest));
    const auto tried = seconds_of_collective(setting, [&] { trial.start()->wait(); });
    const double fitting = ratio * static_cast<double>(first_bytes) * measure::median(compute) / measure::median(tried);
    const auto bytes = static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(largest)));

    Shift shift(setting.comm, bytes);
    const std::vector<std::int64_t> at{product.nonzeros(), bytes};
    samples.push_back({"overlap.compute", at, compute});
    samples.push_back({"overlap.exchange", at, seconds_of_collective(setting, [&] { shift.start()->wait(); })});
    samples.push_back({"overlap.both", at, seconds_of_collective(setting, [&] {
                           const auto pending = shift.start();
                           product.run([&] { pending->progress(); });
                           pending->wait();
                       })});
}

}  // namespace gnnplan::calibrate
