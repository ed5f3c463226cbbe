// Where the buffers of a distributed product lie in the staging of its step: packed rows that leave, rows and nonzeros
// that arrive, then rounded own rows, rows that were widened, and packed panels.
#pragma once

#include "runtime/exec/handlers.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan::exec {

class StageBuffers {
public:
    // Both outlive the object.
    StageBuffers(const SpmmStep& step, const StepContext& context);

    // The buffers of stage k. Received rows are those of one operand after the other.
    std::byte* pack(std::size_t k) const;
    std::byte* dense(std::size_t k, std::size_t operand) const;
    std::byte* nonzeros(std::size_t k) const;
    std::size_t packs() const { return static_cast<std::size_t>(buffers_.packs); }

    bool keeps_own() const { return buffers_.own > 0; }
    std::byte* own_rounded() const { return received() + buffers_.received_bytes(); }
    float* widened() const { return reinterpret_cast<float*>(own_rounded() + buffers_.own); }
    kernels::PanelRoom panel_room() const;

    // Bytes of so many rows of an operand as they travel.
    std::size_t row_bytes(std::size_t operand, std::int64_t rows) const {
        return static_cast<std::size_t>(wire_bytes(step_.wire, rows * columns_[operand]));
    }

private:
    std::byte* staging() const { return context_.store.staging(context_.step); }
    std::byte* received() const { return staging() + buffers_.packs * buffers_.pack; }

    const SpmmStep& step_;
    const StepContext& context_;
    const SparsePart& part_;
    std::vector<std::int64_t> columns_;  // of the column operands
    SpmmBuffers buffers_;
};

}  // namespace gnnplan::exec
