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

// Waits for the queue.
template <class Start>
std::vector<std::int64_t> panel_nonzeros(Device& device, const Csr& a, const Start* row_start) {
    std::vector<Start> ends(2 * static_cast<std::size_t>(a.panels));  // the first and the last start of each panel
    std::span<std::byte> bytes = std::as_writable_bytes(std::span(ends));
    for (std::int64_t p = 0; p < a.panels; ++p) {
        for (const Start* end : {row_start + p * a.panel_stride, row_start + p * a.panel_stride + a.rows}) {
            device.download(reinterpret_cast<const std::byte*>(end), bytes.first(sizeof *end));
            bytes = bytes.subspan(sizeof *end);
        }
    }
    device.finish();
    std::vector<std::int64_t> nonzeros;
    for (std::size_t end = 0; end < ends.size(); end += 2) nonzeros.push_back(ends[end + 1] - ends[end]);
    return nonzeros;
}

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
    : nonzeros_(a.row_start != nullptr ? panel_nonzeros(device, a, a.row_start)
                                       : panel_nonzeros(device, a, a.narrow_row_start)),
      rows_(std::move(rows)) {
    std::int64_t first = 0;
    for (std::int64_t p = 0; p < a.panels; ++p) {
        first_.push_back(first);
        const std::int64_t count = (a.rows + nonzeros(p)) / share_unit + 1;
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

}  // namespace gnnplan::kernels::cuda
