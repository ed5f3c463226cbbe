#include "kernels/cuda/prepared.hpp"

#include "kernels/cuda/spmm_shares.cuh"

#include <gnnplan/base/out_of_memory.hpp>

#include <span>
#include <utility>

namespace gnnplan::kernels::cuda {
namespace {

// known_row[i] = Place::row after i * share_unit steps, i < count.
__global__ void __launch_bounds__(block_threads) find_rows(Csr a, std::int64_t count, std::int32_t* known_row) {
    for (std::int64_t i = thread_number(); i < count; i += thread_count())
        known_row[i] = static_cast<std::int32_t>(place_after(a, i * share_unit).row);
}

__global__ void __launch_bounds__(block_threads) narrow(Csr a, std::int32_t* row_start) {
    for (std::int64_t i = thread_number(); i <= a.rows; i += thread_count())
        row_start[i] = static_cast<std::int32_t>(a.row_start[i] - a.row_start[0]);
}

class TakenMemory : public DeviceMemory {
public:
    TakenMemory(std::unique_ptr<DeviceMemory> memory, std::shared_ptr<std::int64_t> left)
        : memory_(std::move(memory)), left_(std::move(left)) {
        *left_ -= static_cast<std::int64_t>(memory_->size());
    }
    TakenMemory(const TakenMemory&) = delete;
    TakenMemory& operator=(const TakenMemory&) = delete;
    ~TakenMemory() override { *left_ += static_cast<std::int64_t>(memory_->size()); }
    std::byte* data() const override { return memory_->data(); }
    std::size_t size() const override { return memory_->size(); }

private:
    std::unique_ptr<DeviceMemory> memory_;
    std::shared_ptr<std::int64_t> left_;
};

}  // namespace

std::unique_ptr<DeviceMemory> PreparedRoom::take(std::int64_t bytes) {
    if (bytes > *left_) return nullptr;
    try {
        return std::make_unique<TakenMemory>(device_.allocate(static_cast<std::size_t>(bytes)), left_);
    } catch (const OutOfMemory&) {  // another program was faster: it is done without
        return nullptr;
    }
}

std::int64_t PreparedMatrix::bytes(const Csr& a) {
    const std::int64_t steps = a.panels * a.rows + a.most_nonzeros;
    return std::int64_t{sizeof(std::int32_t)} * (steps / share_unit + a.panels);
}

PreparedMatrix::PreparedMatrix(Device& device, const Csr& a, std::unique_ptr<DeviceMemory> rows)
    : rows_(std::move(rows)) {
    std::vector<std::int64_t> ends(2 * static_cast<std::size_t>(a.panels));  // the first and the last of row_start
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(ends));
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const std::int64_t* const first = a.row_start + p * a.panel_stride;
        const auto at = static_cast<std::size_t>(p) * 2 * sizeof *first;
        device.download(reinterpret_cast<const std::byte*>(first), bytes.subspan(at, sizeof *first));
        device.download(reinterpret_cast<const std::byte*>(first + a.rows),
                        bytes.subspan(at + sizeof *first, sizeof *first));
    }
    device.finish();
    std::int64_t first = 0;
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const auto at = 2 * static_cast<std::size_t>(p);
        nonzeros_.push_back(ends[at + 1] - ends[at]);
        first_.push_back(first);
        const std::int64_t count = (a.rows + nonzeros_.back()) / share_unit + 1;
        launch("preparing a matrix", blocks_for(count), find_rows, a.panel(p), count,
               reinterpret_cast<std::int32_t*>(rows_->data()) + first);
        first += count;
    }
}

const std::int32_t* PreparedMatrix::known_row(std::int64_t panel) const {
    return reinterpret_cast<const std::int32_t*>(rows_->data()) + first_[static_cast<std::size_t>(panel)];
}

const PreparedMatrix::Choice& PreparedMatrix::choice(const Csr& a, std::int64_t columns) {
    static const Choice usual;
    if (a.prepared == nullptr) return usual;
    const auto& choices = static_cast<const PreparedMatrix*>(a.prepared)->choices_;
    const auto found = choices.find(columns);
    return found != choices.end() ? found->second : usual;
}

void narrow_row_starts(const Csr& a, std::int32_t* row_start) {
    launch("preparing a matrix", blocks_for(a.rows + 1), narrow, a, row_start);
}

}  // namespace gnnplan::kernels::cuda
