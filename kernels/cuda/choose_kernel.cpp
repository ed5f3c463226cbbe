// Reading guide: the kernels that can compute a product are candidates; each computes it some times, and the one whose
// median is least is taken.
#include "kernels/cuda/library_spmm.hpp"
#include "kernels/cuda/prepared.hpp"
#include "kernels/cuda/queue.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace gnnplan::kernels::cuda {
namespace {

constexpr std::size_t repetitions = 5;

class CusparseProduct : public LibraryProduct {
public:
    CusparseProduct(const Csr& a, std::int64_t nonzeros, const ConstMatrix& b, const Matrix& c)
        : a_(a), b_stride_(b.stride), c_stride_(c.stride), product_(a, nonzeros, b, c, LibraryAlgorithm::csr3) {}

    std::int64_t buffer_bytes() const { return static_cast<std::int64_t>(product_.buffer_bytes()); }
    void prepare(std::unique_ptr<DeviceMemory> buffer) {
        buffer_ = std::move(buffer);
        product_.prepare({buffer_->data(), buffer_->size()});
    }
    bool fits(const Csr& a, const ConstMatrix& b, const Matrix& c) const override {
        return a.value == a_.value && a.column == a_.column && b.stride == b_stride_ && c.stride == c_stride_;
    }
    void multiply(ConstMatrix b, Matrix c, bool accumulate) override { product_.multiply(b, c, accumulate); }

private:
    std::unique_ptr<DeviceMemory> buffer_;
    Csr a_;
    std::int64_t b_stride_, c_stride_;
    LibrarySpmm product_;
};

std::string no_room(std::int64_t bytes, const PreparedRoom& room) {
    return "wants " + std::to_string(bytes) + " bytes, and " + std::to_string(room.left()) + " are left";
}

// cuSPARSE's product, or why there is none.
struct FromLibrary {
    std::shared_ptr<LibraryProduct> product;
    std::string why_not{};
};

FromLibrary from_library(PreparedRoom& room, const PreparedMatrix& prepared, const Csr& a, const ConstMatrix& b,
                         const Matrix& c, bool bf16) {
    if (a.value == nullptr) return {nullptr, "values are factored"};
    if (a.panels > 1) return {nullptr, "the matrix is in panels"};
    if (bf16) return {nullptr, "the operand is rounded to bf16"};
    if (a.narrow_row_start == nullptr) return {nullptr, "it reads row starts of 32 bits, and these have 64"};
    try {
        auto product = std::make_shared<CusparseProduct>(a, prepared.nonzeros(0), b, c);
        auto buffer = room.take(product->buffer_bytes());
        if (buffer == nullptr) return {nullptr, no_room(product->buffer_bytes(), room)};
        product->prepare(std::move(buffer));
        return {product};
    } catch (const Error& error) {
        return {nullptr, error.what()};
    }
}

// The call is repeated; the first one warms up.
template <class Call>
double median_seconds(Device& device, const Call& call) {
    call();
    for (std::size_t i = 0; i < repetitions; ++i) device.mark(i, 0), call();
    device.mark(repetitions, 0);
    device.finish();
    std::array<double, repetitions> seconds{};
    for (std::size_t i = 0; i < repetitions; ++i) seconds[i] = device.seconds(i, i + 1);
    std::ranges::nth_element(seconds, seconds.begin() + repetitions / 2);
    return seconds[repetitions / 2];
}

// A call that a library refuses leaves the GPU as it was, and there are other kernels.
template <class Call>
void time_kernel(ProductKernel& kernel, Device& device, const Call& call) {
    try {
        kernel.seconds = median_seconds(device, call);
    } catch (const Error& error) {
        Queue& on = queue();
        if (on.failed_status == nullptr) throw;
        on.failed = cudaSuccess, on.failed_in = on.failed_status = nullptr;
        kernel.why_not = error.what();
    }
}

}  // namespace

std::vector<ProductKernel> choose_kernel(Device& device, PreparedRoom& room, const Csr& a, ConstMatrix b, Matrix c,
                                         PanelRoom panel_room, std::string_view wanted) {
    auto& prepared = *static_cast<PreparedMatrix*>(a.prepared);
    const auto& known = PreparedMatrix::choice(a, c.columns).found;
    if (!known.empty() || c.rows == 0 || c.columns == 0) return known;
    const bool asks_library = wanted.empty() || wanted == product_kernel_names[2];
    const FromLibrary library =
        asks_library ? from_library(room, prepared, a, b, c, panel_room.bf16) : FromLibrary{nullptr, "not asked for"};
    const std::array<PreparedMatrix::Choice, 3> choices = {{{SpmmKernel::sliced, nullptr, {}},
                                                            {SpmmKernel::whole, nullptr, {}},
                                                            {SpmmKernel::library, library.product, {}}}};
    std::array<ProductKernel, 3> kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].name = product_kernel_names[k];
    if (!cuts_columns(a, b, panel_room))
        kernels[0].why_not = "all columns of the operand stay in the L2, or too few would";
    if (panel_room.bf16) kernels[1].why_not = "the operand is rounded to bf16, a slice at a time";
    if (library.product == nullptr) kernels[2].why_not = library.why_not;

    const auto possible = [](const ProductKernel& kernel) { return !kernel.why_not; };
    auto taken = std::ranges::find_if(kernels, [&](const auto& k) { return k.name == wanted && possible(k); });
    if (taken == kernels.end() && !wanted.empty()) taken = std::ranges::find_if(kernels, possible);
    if (taken == kernels.end()) {
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            if (!possible(kernels[k])) continue;
            prepared.choose(c.columns, choices[k]);
            time_kernel(kernels[k], device, [&] { device.table().spmm(a, b, c, false, panel_room); });
        }
        static constexpr double never = std::numeric_limits<double>::infinity();
        taken = std::ranges::min_element(kernels, {}, [](const auto& k) { return k.seconds.value_or(never); });
    }
    PreparedMatrix::Choice choice = choices[static_cast<std::size_t>(taken - kernels.begin())];
    std::rotate(kernels.begin(), taken, taken + 1);
    choice.found.assign(kernels.begin(), kernels.end());
    prepared.choose(c.columns, choice);
    device.finish();  // what was queued for a product of cuSPARSE that goes now
    return choice.found;
}

}  // namespace gnnplan::kernels::cuda
