// Communication while computing, by a product that looks after it as that of runtime/exec/spmm.cpp does.
#include "kernels/look.hpp"
#include "kernels/parallel.hpp"
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/range.hpp>

#include <algorithm>
#include <span>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t dense_width = 64;
constexpr std::int64_t matrix_degree = 16;
constexpr std::int64_t most_rows = 1 << 16;
constexpr std::int64_t first_bytes = 1 << 20;
constexpr std::int64_t pipeline = 8;  // pieces

class OverlappedSpmm {
public:
    // At most `largest` bytes of result, and half as many of the dense operand: 16 MiB and 8 MiB.
    OverlappedSpmm(kernels::Device& device, std::int64_t largest)
        : table_(device.table()),
          rows_(std::clamp<std::int64_t>(largest / 4 / dense_width, 2, most_rows)),
          matrix_(device, {rows_, rows_ / 2, matrix_degree}),
          dense_(device, rows_ / 2 * dense_width, 1.0F),
          result_(device, rows_ * dense_width) {
        device.choose(matrix_.view(), dense(), result(), {}, {});
    }

    std::int64_t nonzeros() const { return matrix_.nonzeros(); }
    std::int64_t looks() const { return 2 * nonzeros() * dense_width / (flops_per_look * kernels::max_threads()); }
    // `look` is null or called so often, about.
    void run(const Work& look) {
        kernels::Look often(flops_per_look, look);
        kernels::Csr matrix = matrix_.view();
        matrix.look = look ? &often : nullptr;
        table_.spmm(matrix, dense(), result(), false, {});
        often.rethrow();
    }

private:
    kernels::Matrix dense() const { return {dense_.data(), rows_ / 2, dense_width, dense_width}; }
    kernels::Matrix result() const { return {result_.data(), rows_, dense_width, dense_width}; }

    const kernels::Table& table_;
    std::int64_t rows_;
    RandomMatrix matrix_;
    Array<float> dense_;
    Array<float> result_;
};

// Messages from each rank to the next, of `bytes` together.
class Shift {
public:
    Shift(const Setting& setting, std::int64_t bytes)
        : comm_(setting.comm), out_(setting.device, bytes), in_(setting.device, bytes) {}

    void start() {
        const int ranks = comm_.size();
        for (std::int64_t i = 0; i < pipeline; ++i) {
            const Range piece = balanced_block({0, static_cast<std::int64_t>(out_.size())}, i, pipeline);
            const auto of = [&](Array<std::byte>& all) {
                return std::span(all.data() + piece.begin, static_cast<std::size_t>(piece.size()));
            };
            const comm::Send send{(comm_.rank() + 1) % ranks, of(out_)};
            const comm::Receive receive{(comm_.rank() + ranks - 1) % ranks, of(in_)};
            under_way_.push_back(comm_.start_exchange({&send, 1}, {&receive, 1}));
        }
    }
    void progress() const {
        for (const auto& piece : under_way_) piece->progress();
    }
    void finish() {
        for (const auto& piece : under_way_) piece->wait();
        under_way_.clear();
    }

private:
    comm::Communicator& comm_;
    Array<std::byte> out_;
    Array<std::byte> in_;
    std::vector<std::unique_ptr<comm::PendingExchange>> under_way_;
};

}  // namespace

void measure_overlap(const Setting& setting, double ratio, std::int64_t largest, std::vector<Sample>& samples) {
    OverlappedSpmm product(setting.device, largest);
    const auto exchange = [&](Shift& shift) {
        return seconds_of_collective(setting, [&] {
            shift.start();
            shift.finish();
        });
    };
    // Messages that move by themselves need no look.
    const bool looks = setting.comm.needs_progress();
    const auto whole = seconds_of_collective(setting, [&] { product.run({}); });
    const auto compute = seconds_of_collective(setting, [&] { product.run(looks ? Work([] {}) : Work()); });
    Shift trial(setting, std::min(first_bytes, largest));
    const auto tried = exchange(trial);
    const double fitting = ratio * static_cast<double>(first_bytes) * measure::median(compute) / measure::median(tried);
    const auto bytes = static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(largest)));

    Shift shift(setting, bytes);
    const std::vector<std::int64_t> at{product.nonzeros(), bytes, looks ? product.looks() : 0};
    samples.push_back({"overlap.whole", at, whole});
    samples.push_back({"overlap.portions", at, compute});
    samples.push_back({"overlap.exchange", at, exchange(shift)});
    samples.push_back({"overlap.both", at, seconds_of_collective(setting, [&] {
                           shift.start();
                           product.run(looks ? Work([&] { shift.progress(); }) : Work());
                           shift.finish();
                       })});
}

}  // namespace gnnplan::calibrate
