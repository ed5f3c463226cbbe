#include "runtime/calibrate/probe.hpp"

#include "planner/calibrate/quantile.hpp"
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/collective.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t megabyte = 1 << 20;  // 2^20 bytes
constexpr std::int64_t width = 128;         // columns of every matrix
constexpr std::int64_t row_bytes = width * 4;
constexpr std::int64_t degree = 64;  // nonzeros of a row

}  // namespace

// A product with half as many nonzeros as there are rows that they gather: of 256 MiB, more than caches hold.
class Gathering {
public:
    Gathering(kernels::Device& device, std::int64_t bytes)
        : columns_(std::max<std::int64_t>(1, bytes / row_bytes)),
          matrix_(device,
                  {std::max<std::int64_t>(1, std::max(columns_ / 2, least_nonzeros) / degree), columns_, degree}),
          dense_(device, columns_ * width, 1.0F),
          result_(device, matrix_.rows() * width) {
        device.choose(matrix_.view(), dense(), result(), {}, {});
    }

    void run(const kernels::Table& kernels) const { kernels.spmm(matrix_.view(), dense(), result(), false, {}); }
    double bytes() const { return static_cast<double>(matrix_.nonzeros() * row_bytes); }

private:
    static constexpr std::int64_t least_nonzeros = 1 << 14;

    kernels::Matrix dense() const { return {dense_.data(), columns_, width, width}; }
    kernels::Matrix result() const { return {result_.data(), matrix_.rows(), width, width}; }

    std::int64_t columns_;
    RandomMatrix matrix_;
    Array<float> dense_;
    Array<float> result_;
};

struct Probe::Operands {
    Operands(const Setting& setting, const Nodes& nodes, std::int64_t largest)
        : rows(std::max<std::int64_t>(1, std::min(4 * megabyte, largest) / row_bytes)),
          copied_rows(std::max<std::int64_t>(1, std::min(32 * megabyte, largest / 2) / row_bytes)),
          long_side(setting.device, rows * width, 1.0F),
          product(setting.device, rows * width),
          weights(setting.device, width * width, 1.0F),
          source(setting.device, copied_rows * width, 1.0F),
          target(setting.device, copied_rows * width),
          near(setting.device, std::min(8 * megabyte, largest)),
          far(setting.device, std::min(256 * megabyte, largest)),
          message(std::min(megabyte, std::max<std::int64_t>(1, largest / setting.comm.size()))) {
        const std::int64_t cold_bytes = std::min(48 * megabyte, largest / 2);
        if (nodes.ranks_per_node() > 1)
            exchange = make_collective("exchange", *nodes.own, setting.device, message * nodes.own->size(), cold_bytes);
        if (nodes.count > 1)
            between = make_exchange(setting.comm, setting.device, nodes.first_elsewhere(setting.comm.rank()), message,
                                    cold_bytes);
        in_node = nodes.ranks_per_node() - 1;
        elsewhere = nodes.count - 1;
    }

    std::int64_t rows;
    std::int64_t copied_rows;
    Array<float> long_side, product, weights;
    Array<float> source, target;
    Gathering near, far;
    std::int64_t message;  // bytes
    std::unique_ptr<Collective> exchange, between;
    int in_node = 0;    // messages of a rank one after the other
    int elsewhere = 0;  // of the first rank of a node, which sends to those of other nodes
};

Probe::Probe(const Setting& setting, const Nodes& nodes, std::int64_t largest)
    : setting_(setting),
      largest_(std::min(256 * megabyte, largest)),
      operands_(std::make_unique<Operands>(setting, nodes, largest_)) {}

Probe::~Probe() = default;

ProbeFigures Probe::measure() {
    const Operands& on = *operands_;
    const kernels::Table& kernels = setting_.kernels();
    const auto rate = [&](double amount, const Work& work) {
        return amount / std::max(median(seconds_together(setting_, work)), 1e-12);
    };
    const auto message_rate = [&](const std::unique_ptr<Collective>& collective,
                                  int messages) -> std::optional<double> {
        if (!collective) return std::nullopt;
        const double seconds = median(seconds_of_collective(setting_, [&] { collective->run(); }));
        return static_cast<double>(on.message * messages) / std::max(seconds, 1e-12);
    };
    using kernels::Transpose;
    const auto matrix = [](const Array<float>& values, std::int64_t rows) {
        return kernels::Matrix{values.data(), rows, width, width};
    };
    ProbeFigures figures;
    figures.largest_bytes = largest_;
    figures.gemm_flops_per_second = rate(2.0 * static_cast<double>(on.rows * width * width), [&] {
        kernels.gemm(Transpose::no, Transpose::no, matrix(on.long_side, on.rows), matrix(on.weights, width),
                     matrix(on.product, on.rows), false);
    });
    figures.copy_bytes_per_second = rate(static_cast<double>(2 * on.copied_rows * row_bytes), [&] {
        kernels.copy(matrix(on.source, on.copied_rows), matrix(on.target, on.copied_rows));
    });
    figures.near_bytes_per_second = rate(on.near.bytes(), [&] { on.near.run(kernels); });
    figures.far_bytes_per_second = rate(on.far.bytes(), [&] { on.far.run(kernels); });
    figures.exchange_bytes_per_second = message_rate(on.exchange, on.in_node);
    figures.between_bytes_per_second = message_rate(on.between, on.elsewhere);
    return figures;
}

}  // namespace gnnplan::calibrate
