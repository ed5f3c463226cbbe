// Programs over nonzeros other than sums, with all that a training pass makes of them.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan::calibrate {
namespace {

std::string name_of(Program program) {
    switch (program) {
        case Program::max: return "program.max";
        case Program::max_back: return "program.max_back";
        case Program::attend: return "program.attend";
        case Program::attend_back: return "program.attend_back";
        case Program::dot: return "program.dot";
        default: break;
    }
    ensure(false, "sums are measured as such");
    return "";
}

class ProgramRun {
public:
    ProgramRun(kernels::Device& device, const ProgramPoint& point)
        : device_(device),
          kernels_(device.table()),
          point_(point),
          columns_(std::max<std::int64_t>(1, point.working_set_bytes / (4 * gathered()))),
          rows_(std::max<std::int64_t>(1, point.nonzeros / point.degree)),
          matrix_(device, {rows_, columns_, point.degree}),
          ids_(device, std::max(rows_, columns_), [](std::size_t i) { return static_cast<std::int32_t>(i); }),
          pass_(device.begin_pass(kernels::pass_values(1))) {}

    // Columns that are gathered for a nonzero.
    std::int64_t gathered() const {
        switch (point_.program) {
            case Program::max_back: return 2 * point_.width;
            case Program::attend: return point_.width + point_.heads;
            case Program::attend_back: return point_.width + 3 * point_.heads;
            default: return point_.width;
        }
    }
    Sample sample(std::vector<double> seconds) const {
        return {name_of(point_.program) + (point_.dropout ? ".dropout" : ""),
                {point_.width, point_.heads, gathered(), 4 * gathered() * columns_, matrix_.nonzeros(), rows_},
                std::move(seconds)};
    }

    // Makes the operands and results, then a function that runs the program on them.
    std::function<void()> prepare() {
        const auto gathers = [&](std::int64_t width) { return add(columns_, width); };
        const auto stays = [&](std::int64_t width) { return add(rows_, width); };
        const std::int64_t w = point_.width, k = point_.heads;
        const kernels::Csr a = matrix_.view();
        constexpr bool accumulate = false, last = true;
        const kernels::Attention how = attention();
        switch (point_.program) {
            case Program::max: {
                const auto in = gathers(w), maxima = stays(w), ties = stays(w);
                return [=, this] { kernels_.spmm_max(a, in, maxima, ties, accumulate, {}); };
            }
            case Program::max_back: {
                const auto share = gathers(w), maxima = gathers(w), own = stays(w), out = stays(w);
                return [=, this] { kernels_.spmm_max_back(a, share, maxima, own, out, accumulate); };
            }
            case Program::attend: {
                const kernels::AttendOperands in{gathers(w), gathers(k), stays(k)};
                const kernels::AttendResults to{stays(w), stays(k), stays(k), stays(w), stays(k)};
                return [=, this] { kernels_.attend(a, in, to, how, accumulate, last); };
            }
            case Program::attend_back: {
                const kernels::AttendBackOperands in{gathers(w), gathers(k), gathers(k),
                                                     gathers(k), stays(w),   stays(k)};
                const kernels::AttendBackResults to{stays(w), stays(k)};
                return [=, this] { kernels_.attend_back(a, in, to, how, accumulate); };
            }
            case Program::dot: {
                const auto x = gathers(w), y = stays(w);
                float* scores = add(matrix_.nonzeros(), 1).data;
                return [=, this] { kernels_.edge_dot(a, x, y, scores); };
            }
            default: break;
        }
        ensure(false, "sums are measured as such");
        return {};
    }

private:
    kernels::Attention attention() const {
        const std::int64_t heads = point_.heads;
        kernels::Attention how{{heads > 0 ? point_.width / heads : point_.width, 0}, 0.2F, {}};
        if (point_.dropout) {
            how.dropout = {.pass = pass_,
                           .probability = 0.5F,
                           .all_heads = heads,
                           .row_ids = ids_.data(),
                           .column_ids = ids_.data()};
        }
        return how;
    }
    kernels::Matrix add(std::int64_t rows, std::int64_t columns) {
        arrays_.emplace_back(device_, rows * columns, 1.0F);
        return {arrays_.back().data(), rows, columns, columns};
    }

    kernels::Device& device_;
    const kernels::Table& kernels_;
    const ProgramPoint& point_;
    std::int64_t columns_, rows_;
    RandomMatrix matrix_;
    Array<std::int32_t> ids_;
    const kernels::PassValues* pass_;
    std::vector<Array<float>> arrays_;
};

}  // namespace

Sample measure_program(const Setting& setting, const ProgramPoint& point) {
    ProgramRun run(setting.device, point);
    const std::function<void()> program = run.prepare();
    return run.sample(seconds_together(setting, program));
}

}  // namespace gnnplan::calibrate
