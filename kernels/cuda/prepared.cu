#include "kernels/cuda/prepared.hpp"

#include "kernels/cuda/spmm_shares.cuh"

#include <span>

namespace gnnplan::kernels::cuda {
namespace {

// known_row[i] = Place::row after i * share_unit steps, i < count.
__global__ void __launch_bounds__(block_threads) find_rows(Csr a, std::int64_t count, std::int32_t* known_row) {
    for (std::int64_t i = thread_number(); i < count; i += thread_count())
        known_row[i] = static_cast<std::int32_t>(place_after(a, i * share_unit).row);
}

std::int64_t places(std::int64_t steps) { return steps / share_unit + 1; }

template <class T>
std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

std::int64_t PreparedRows::bytes(const Csr& a) {
    const std::int64_t steps = a.panels * a.rows + a.most_nonzeros;
    return std::int64_t{sizeof(std::int32_t)} * (steps / share_unit + a.panels);
}

PreparedRows::PreparedRows(Device& device, const Csr& a) : rows_(device.allocate(static_cast<std::size_t>(bytes(a)))) {
    std::vector<std::int64_t> begins(static_cast<std::size_t>(a.panels)), ends(begins);
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const auto* panel = reinterpret_cast<const std::byte*>(a.row_start + p * a.panel_stride);
        device.download(panel, bytes_of(begins[static_cast<std::size_t>(p)]));
        device.download(panel + a.rows * std::int64_t{sizeof(std::int64_t)},
                        bytes_of(ends[static_cast<std::size_t>(p)]));
    }
    device.finish();
    std::int64_t first = 0;
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const auto i = static_cast<std::size_t>(p);
        steps_.push_back(a.rows + ends[i] - begins[i]);
        first_.push_back(first);
        const std::int64_t count = places(steps_.back());
        launch("preparing a matrix", blocks_for(count), find_rows, a.panel(p), count,
               reinterpret_cast<std::int32_t*>(rows_->data()) + first);
        first += count;
    }
}

const std::int32_t* PreparedRows::known_row(std::int64_t panel) const {
    return reinterpret_cast<const std::int32_t*>(rows_->data()) + first_[static_cast<std::size_t>(panel)];
}

}  // namespace gnnplan::kernels::cuda
