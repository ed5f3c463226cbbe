#include "bench/kernels/gpu_bench.hpp"

#include "kernels/cuda/device.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

namespace gnnplan::bench {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t random_floats = (std::size_t{1} << 22) + 7;  // no multiple of a usual width

std::vector<float> random_between(float low, float high) {
    std::mt19937 generator(2024);
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> values(random_floats);
    for (float& value : values) {
        do value = distribution(generator);
        while (value == 0);
    }
    return values;
}

double rate_of(kernels::Device& device, std::vector<Contender> copies, std::int64_t bytes, int repeats) {
    alternate(device, copies, repeats);
    double best = 0;
    for (const Contender& each : copies)
        best = std::max(best, static_cast<double>(bytes) / summary(each.seconds).median);
    return best;
}

// Copies of so many bytes, which read and write that many each.
double copy_rate(kernels::Device& device, std::int64_t bytes, int repeats) {
    constexpr std::int64_t columns = 64;
    const std::int64_t rows = std::max<std::int64_t>(bytes / (4 * columns), 1);
    const DeviceMatrix from(device, rows, columns, 0.5F, 1.5F), to(device, rows, columns);
    const auto count = static_cast<std::size_t>(rows * columns) * sizeof(float);
    const auto raw = [](const DeviceMatrix& m) { return reinterpret_cast<std::byte*>(m.view().data); };
    return rate_of(device,
                   {{"driver", [&] { bench::copy_memory(raw(from), raw(to), count); }},
                    {"kernel", [&] { device.table().copy(from.view(), to.view()); }}},
                   2 * static_cast<std::int64_t>(count), repeats);
}

template <class T>
std::unique_ptr<kernels::DeviceMemory> on_device(kernels::Device& device, const T* values, std::int64_t count) {
    auto memory = device.allocate(static_cast<std::size_t>(count) * sizeof(T));
    kernels::upload(device, std::as_bytes(std::span(values, static_cast<std::size_t>(count))), memory->data());
    return memory;
}

std::unique_ptr<kernels::DeviceMemory> narrow(kernels::Device& device, const kernels::Csr& a) {
    std::vector<std::int32_t> row_start;
    for (std::int64_t i = 0; i <= a.rows; ++i) row_start.push_back(checked_cast<std::int32_t>(a.row_start[i]));
    return on_device(device, row_start.data(), a.rows + 1);
}

Json json_of(const Card& card, const Rates& rates) {
    return {{"name", card.name},
            {"capability", card.capability},
            {"driver", card.driver},
            {"libraries", card.libraries},
            {"memory_bytes", card.memory_bytes},
            {"l2_bytes", card.l2_bytes},
            {"fp32_operations_per_second", card.peak},
            {"memory_bytes_per_second", rates.memory},
            {"l2_bytes_per_second", rates.l2}};
}

// A value that is no number becomes null.
Json json_of(const Outcome& outcome, const Options& options, const Card& card, const Rates& rates) {
    Json bars = Json::array();
    for (const Bar& bar : outcome.bars) {
        bars.push_back({{"what", bar.what},
                        {"value", bar.value},
                        {"wanted", bar.wanted},
                        {"at_least", bar.at_least},
                        {"met", bar.met()}});
    }
    return {{"program", outcome.program}, {"scale", options.scale},       {"repeats", options.repeats},
            {"right", outcome.right},     {"card", json_of(card, rates)}, {"bars", bars},
            {"cases", outcome.cases}};
}

}  // namespace

DeviceCsr::DeviceCsr(kernels::Device& device, const kernels::Csr& on_host)
    : row_start_(narrow(device, on_host)),
      column_(on_device(device, on_host.column, on_host.nonzeros())),
      value_(on_device(device, on_host.value, on_host.nonzeros())),
      nonzeros_(on_host.nonzeros()),
      view_{on_host.rows, on_host.columns, nullptr, reinterpret_cast<const std::int32_t*>(column_->data()),
            reinterpret_cast<const float*>(value_->data())} {
    view_.narrow_row_start = reinterpret_cast<const std::int32_t*>(row_start_->data());
    view_.most_nonzeros = nonzeros_;
}

DeviceMatrix::DeviceMatrix(kernels::Device& device, std::int64_t rows, std::int64_t columns)
    : rows_(rows),
      columns_(columns),
      memory_(device.allocate(static_cast<std::size_t>(rows * columns) * sizeof(float))) {}

DeviceMatrix::DeviceMatrix(kernels::Device& device, std::int64_t rows, std::int64_t columns, float low, float high)
    : DeviceMatrix(device, rows, columns) {
    const std::vector<float> values = random_between(low, high);
    const auto count = static_cast<std::size_t>(rows * columns);
    for (std::size_t done = 0; done < count; done += values.size()) {
        const std::size_t now = std::min(values.size(), count - done);
        kernels::upload(device, std::as_bytes(std::span(values).first(now)), memory_->data() + done * sizeof(float));
    }
}

std::vector<float> DeviceMatrix::read(kernels::Device& device, std::int64_t first_row, std::int64_t rows) const {
    std::vector<float> values(static_cast<std::size_t>(rows * columns_));
    device.download(reinterpret_cast<const std::byte*>(floats() + first_row * columns_),
                    std::as_writable_bytes(std::span(values)));
    device.finish();
    return values;
}

ChosenProduct::ChosenProduct(kernels::Device& device, const DeviceCsr& a, kernels::ConstMatrix b, kernels::Matrix c,
                             kernels::PanelRoom room, std::string_view kernel)
    : a_(a.view()), prepared_(device.prepare(a_)) {
    a_.prepared = prepared_.get();
    kernel_ = device.choose(a_, b, c, room, kernel).front().name;
}

std::vector<float> sample(kernels::Device& device, const DeviceMatrix& matrix) {
    constexpr std::int64_t floats = std::int64_t{1} << 24, parts = 16;
    const kernels::Matrix all = matrix.view();
    const std::int64_t rows = std::min(all.rows, floats / all.columns + 1);
    if (rows == all.rows) return matrix.read(device, 0, rows);
    std::vector<float> values;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::vector<float> some = matrix.read(device, (all.rows - rows) * part / (parts - 1), rows / parts);
        values.insert(values.end(), some.begin(), some.end());
    }
    return values;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

LibraryProduct::LibraryProduct(kernels::Device& device, const DeviceCsr& a, kernels::ConstMatrix b, kernels::Matrix c,
                               kernels::cuda::LibraryAlgorithm algorithm)
    : product_(std::make_unique<kernels::cuda::LibrarySpmm>(a.view(), a.nonzeros(), b, c, algorithm)),
      buffer_(device.allocate(product_->buffer_bytes())) {
    product_->prepare({buffer_->data(), buffer_->size()});
}

double visit_rate(kernels::Device& device, const Visits& visits, int repeats) {
    constexpr std::int64_t degree = 64;
    const std::int64_t columns = std::max<std::int64_t>(visits.window_bytes / (4 * visits.width), 1);
    const std::int64_t rows = std::max<std::int64_t>(visits.bytes / (4 * visits.width * degree), 1);
    std::mt19937 generator(2024);
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> column;
    for (std::int64_t i = 0; i <= rows; ++i) row_start.push_back(i * degree);
    for (std::int64_t k = 0; k < rows * degree; ++k)
        column.push_back(
            static_cast<std::int32_t>((visits.random ? static_cast<std::int64_t>(generator()) : k) % columns));
    const std::vector<float> value(column.size(), 0.5F);
    const DeviceCsr a(device, {rows, columns, row_start.data(), column.data(), value.data()});
    const DeviceMatrix b(device, columns, visits.width, 0.5F, 1.5F), c(device, rows, visits.width);
    const ChosenProduct product(device, a, b.view(), c.view(), {}, "whole");
    ensure(product.kernel() == "whole", "rows are read by a kernel that cuts slices");
    return rate_of(device, {{"rows", [&] { device.table().spmm(product.matrix(), b.view(), c.view(), false, {}); }}},
                   a.nonzeros() * (4 * visits.width + 8), repeats);
}

void add_options(CLI::App& app, Options& options) {
    app.add_option("--scale", options.scale, "of the sizes measured")->check(CLI::PositiveNumber);
    app.add_option("--repeats", options.repeats)->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--json", options.json, "the file for all figures");
}

void alternate(kernels::Device& device, std::vector<Contender>& contenders, int repeats) {
    constexpr double worth_measuring = 0.002;
    const auto measure = [&](const Contender& each, int calls) {
        device.mark(0, 0);
        for (int call = 0; call < calls; ++call) each.queue();
        device.mark(1, 0);
        device.finish();
        return device.seconds(0, 1) / calls;
    };
    std::vector<int> calls;
    for (const Contender& each : contenders) {
        measure(each, 1);
        const double once = std::max(measure(each, 1), 1e-7);
        calls.push_back(static_cast<int>(std::clamp(worth_measuring / once, 1.0, 1000.0)));
        measure(each, calls.back());
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (std::size_t i = 0; i < contenders.size(); ++i)
            contenders[i].seconds.push_back(measure(contenders[i], calls[i]));
    }
}

Rates measure_rates(kernels::Device& device, const Card& card, int repeats) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    Rates rates;
    rates.memory = copy_rate(device, std::max(8 * card.l2_bytes, std::min(card.memory_bytes / 64, most)), repeats);
    // How much of the L2 a copy may take differs from card to card; two of its bytes are needed for each that is
    // copied.
    rates.l2 = visit_rate(device, {card.l2_bytes / 8, 128, 32 * card.l2_bytes, true}, repeats);
    for (const std::int64_t part : {16, 8, 6, 4})
        rates.l2 = std::max(rates.l2, copy_rate(device, card.l2_bytes / part, repeats));
    return rates;
}

int on_gpu(const char* program, const std::function<int(kernels::Device&, const Card&)>& body) {
    std::unique_ptr<kernels::Device> device;
    Card card;
    try {
        const kernels::cuda::Gpu gpu = kernels::cuda::choose_gpu(0);
        device = kernels::cuda::cuda_device(gpu);
        card = bench::card(gpu);
    } catch (const Error& error) {
        fmt::print("skipped: {}\n", error.what());
        return 77;
    }
    try {
        return body(*device, card);
    } catch (const Error& error) {
        fmt::print(stderr, "{}: {}\n", program, error.what());
        return static_cast<int>(error.code());
    } catch (const OutOfMemory& error) {
        fmt::print(stderr, "{}: out of memory: {}\n", program, error.what());
        return static_cast<int>(ErrorCode::infeasible);
    }
}

Json json_of(const Times& times) {
    return {{"median", times.median},
            {"least", times.least},
            {"low", times.low},
            {"high", times.high},
            {"most", times.most}};
}

void print_card(const Card& card, const Rates& rates) {
    fmt::print("{}, compute capability {}, driver {}; {}\n", card.name, card.capability, card.driver, card.libraries);
    fmt::print("copies: {:.0f} GB/s in memory, {:.0f} GB/s in the L2 of {:.0f} MB; fp32 peak {:.1f} TF/s\n",
               rates.memory / 1e9, rates.l2 / 1e9, static_cast<double>(card.l2_bytes) / 1e6, card.peak / 1e12);
}

void write_figures(const Outcome& outcome, const Options& options, const Card& card, const Rates& rates) {
    if (options.json.empty()) return;
    std::ofstream out(options.json);
    out << json_of(outcome, options, card, rates).dump(1) << '\n';
    if (!out.flush()) throw Error(ErrorCode::io, "cannot be written", options.json);
}

int conclude(const Outcome& outcome, const Options& options, const Card& card, const Rates& rates) {
    for (const Bar& bar : outcome.bars) {
        fmt::print("{:<62} {:8.3f}, wanted: {} {:<5} {}\n", bar.what, bar.value, bar.at_least ? ">=" : "<=", bar.wanted,
                   bar.met() ? "met" : "missed");
    }
    if (!outcome.right) fmt::print("{}\n", outcome.wrong);
    write_figures(outcome, options, card, rates);
    return outcome.right ? 0 : 1;
}

}  // namespace gnnplan::bench
