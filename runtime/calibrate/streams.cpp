// Elementwise work. A Pass owns operands of a size and runs one kernel on them.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t hidden = 128;  // columns of what is activated
constexpr std::int64_t classes = 40;  // columns of what is scored
constexpr float drop_probability = 0.5F;

struct Kind {
    ElementwiseKind stream;
    const char* name;
    std::int64_t columns;
    double bytes_per_row;  // read and written, as ir/work.hpp counts them
};

constexpr double element = sizeof(float);
constexpr double half = sizeof(kernels::Bf16);
constexpr double bit = 1.0 / 8;
constexpr double vertex = sizeof(std::int32_t) + sizeof(std::uint8_t);  // label and subset
constexpr Kind kinds[] = {
    {ElementwiseKind::copy, "stream.copy", hidden, hidden * 2 * element},
    {ElementwiseKind::narrow, "stream.narrow", hidden, hidden*(element + half)},
    {ElementwiseKind::widen, "stream.widen", hidden, hidden*(element + half)},
    {ElementwiseKind::activate, "stream.activate", hidden, hidden * 2 * element},
    {ElementwiseKind::activate_dropout, "stream.activate_dropout", hidden, hidden * 2 * element},
    {ElementwiseKind::dropout, "stream.dropout", hidden, hidden * 2 * element},
    {ElementwiseKind::positive_mask, "stream.positive_mask", hidden, hidden*(element + bit)},
    {ElementwiseKind::apply_mask, "stream.apply_mask", hidden, hidden*(2 * element + bit)},
    {ElementwiseKind::column_sum, "stream.column_sum", hidden, hidden* element},
    {ElementwiseKind::score, "stream.score", classes, classes* element + vertex},
    {ElementwiseKind::update, "stream.update", hidden, hidden * 7 * element},
};

const Kind& kind_of(ElementwiseKind stream) {
    const auto* kind = std::ranges::find(kinds, stream, &Kind::stream);
    ensure(kind != std::end(kinds), "no such stream");
    return *kind;
}

// Values of both signs, none of which a repetition makes infinite or denormal.
Array<float> values(kernels::Device& device, std::int64_t count) {
    return {device, count, [](std::size_t i) { return i % 3 == 0 ? -0.5F : 0.5F; }};
}

// No branch predictor guesses them.
Array<std::uint8_t> random_bits(kernels::Device& device, std::int64_t count) {
    std::vector<std::uint8_t> bits(static_cast<std::size_t>((count + 7) / 8));
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bits) {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes
        byte = static_cast<std::uint8_t>(state >> 24U);
    }
    return {device, std::ssize(bits), [&](std::size_t i) { return bits[i]; }};
}

class Pass {
public:
    Pass(kernels::Device& device, ElementwiseKind stream, std::int64_t rows, std::int64_t columns,
         std::int64_t cold_floats)
        : table_(device.table()),
          pass_(device.begin_pass(kernels::pass_values(1))),
          stream_(stream),
          rows_(rows),
          columns_(columns),
          slots_(stream == ElementwiseKind::dropout ? std::max<std::int64_t>(1, cold_floats / (rows * columns)) : 1),
          a_(values(device, slots_ * rows * columns)),
          bits_(random_bits(device, rows * columns)),
          sums_(device, columns),
          label_(device, rows),
          subset_(device, rows, std::uint8_t{1}),
          correct_(device, 3) {
        if (stream == ElementwiseKind::copy || stream == ElementwiseKind::dropout ||
            stream == ElementwiseKind::update) {
            b_ = values(device, slots_ * rows * columns);
        }
        if (stream == ElementwiseKind::update) {
            m1_ = Array<float>(device, rows * columns);
            m2_ = Array<float>(device, rows * columns);
        }
        if (stream == ElementwiseKind::narrow || stream == ElementwiseKind::widen) {
            constexpr kernels::Bf16 one{0x3f80};
            halves_ = Array<kernels::Bf16>(device, rows * columns, one);
        }
    }

    void run() {
        const kernels::Matrix a{a_.data() + slot_ * rows_ * columns_, rows_, columns_, columns_};
        const kernels::DropoutKey keep{};
        kernels::DropoutKey drop{};
        drop.probability = drop_probability;
        drop.pass = pass_;
        switch (stream_) {
            case ElementwiseKind::copy: return table_.copy(a, second());
            case ElementwiseKind::narrow: return table_.narrow(a, {halves_.data(), rows_, columns_, columns_});
            case ElementwiseKind::widen: return table_.widen({halves_.data(), rows_, columns_, columns_}, a);
            case ElementwiseKind::activate: return table_.activate(a, nullptr, Activation::relu, keep, nullptr);
            case ElementwiseKind::activate_dropout: return table_.activate(a, nullptr, Activation::relu, drop, nullptr);
            case ElementwiseKind::dropout: table_.dropout(a, second(), drop); return advance();
            case ElementwiseKind::positive_mask: return table_.positive_mask(a, bits_.data());
            case ElementwiseKind::apply_mask: return table_.apply_mask(a, bits_.data(), 1.0F);
            case ElementwiseKind::column_sum: return table_.column_sum(a, sums_.data());
            case ElementwiseKind::loss: break;  // by rows and columns, not by bytes
            case ElementwiseKind::score: return table_.count_correct(a, label_.data(), subset_.data(), correct_.data());
            case ElementwiseKind::update: return update();
            // Measured in edges.cpp, heads.cpp and norms.cpp.
            case ElementwiseKind::edge_softmax:
            case ElementwiseKind::edge_softmax_back:
            case ElementwiseKind::edge_transpose:
            case ElementwiseKind::head_dot:
            case ElementwiseKind::head_spread:
            case ElementwiseKind::head_fold:
            case ElementwiseKind::head_unit:
            case ElementwiseKind::head_unit_back:
            case ElementwiseKind::norm_rows:
            case ElementwiseKind::norm_rows_back:
            case ElementwiseKind::norm_moments:
            case ElementwiseKind::norm_scale:
            case ElementwiseKind::norm_sums:
            case ElementwiseKind::norm_back: break;
        }
        ensure(false, "no such stream");
    }

private:
    kernels::Matrix second() { return {b_.data() + slot_ * rows_ * columns_, rows_, columns_, columns_}; }
    void advance() { slot_ = (slot_ + 1) % slots_; }
    void update() {
        table_.update(Optimiser::adam, a_.data(), b_.data(), m1_.data(), m2_.data(),
                      static_cast<std::int64_t>(a_.size()), {.pass = pass_});
    }

    const kernels::Table& table_;
    const kernels::PassValues* pass_;
    ElementwiseKind stream_;
    std::int64_t rows_;
    std::int64_t columns_;
    std::int64_t slots_;
    std::int64_t slot_ = 0;
    Array<float> a_;
    Array<float> b_;
    Array<float> m1_;
    Array<float> m2_;
    Array<kernels::Bf16> halves_;
    Array<std::uint8_t> bits_;
    Array<float> sums_;
    Array<std::int32_t> label_;
    Array<std::uint8_t> subset_;
    Array<double> correct_;
};

}  // namespace

Sample measure_loss(const Setting& setting, std::int64_t rows, std::int64_t columns) {
    const Array<float> logits = values(setting.device, rows * columns);
    const Array<std::int32_t> label(setting.device, rows);
    const Array<std::uint8_t> split(setting.device, rows, kernels::training_split);
    const Array<double> loss(setting.device, 1);
    const double scale = 1.0 / static_cast<double>(rows);
    return {"loss", {rows, columns}, seconds_together(setting, [&] {
                setting.kernels().softmax_cross_entropy({logits.data(), rows, columns, columns},
                                                        {label.data(), split.data(), scale}, loss.data());
            })};
}

Sample measure_stream(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t cold_bytes) {
    const Kind& kind = kind_of(stream);
    const auto rows =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(bytes) / kind.bytes_per_row));
    constexpr std::int64_t enough = 64 << 20;
    Pass pass(setting.device, stream, rows, kind.columns, std::min(enough, cold_bytes) / 4);
    const auto counted = static_cast<std::int64_t>(static_cast<double>(rows) * kind.bytes_per_row);
    return {kind.name, {counted}, seconds_together(setting, [&] { pass.run(); })};
}

}  // namespace gnnplan::calibrate
