// The messages of a distributed product: at each stage a rank sends what others lack for their piece, and gets what it
// lacks for its own. Ranks that share memory lend each other whole panels for all stages instead.
#pragma once

#include "runtime/exec/stage_buffers.hpp"

#include <gnnplan/ir/panel_relay.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::exec {

class StageTransfers {
public:
    // Both outlive the object.
    StageTransfers(const SpmmStep& step, const StepContext& context);

    // Collective: starts the transfers of all stages up to `last` that are not under way yet.
    void begin_up_to(std::size_t last);
    // Waits for those of the first stage that is under way.
    void finish_first();
    bool under_way() const { return !under_way_.empty(); }
    void progress() const;
    // How many stages are under way while one is multiplied.
    std::size_t ahead() const;
    // After the last stage: nobody reads this rank's panels any more.
    void end();

    // The rows of each column operand that the piece of stage k meets, and room for its nonzeros, where others have
    // sent them.
    std::vector<kernels::ConstMatrix> column_rows(std::size_t k) const;
    const std::byte* nonzeros(std::size_t k) const;
    kernels::PanelRoom panel_room() const { return buffers_.panel_room(); }

private:
    kernels::ConstMatrix own_rows(std::size_t operand, Range rows) const;
    const std::byte* own_bytes(std::size_t operand, Range rows) const;
    bool rounds() const { return step_.wire == Wire::bfloat16; }
    void lend();
    const std::byte* panel(std::size_t k, std::size_t operand) const;
    void round_own() const;
    void widen(std::size_t k) const;
    std::unique_ptr<comm::PendingExchange> begin(std::size_t k, std::size_t operand, std::byte*& packed) const;
    void exchange_nonzeros(std::size_t k, std::vector<comm::Send>& sends, std::vector<comm::Receive>& receives) const;
    void serve_rows(std::size_t k, std::size_t operand, std::byte*& packed, std::vector<comm::Send>& sends) const;
    void pass_on(std::size_t k, std::size_t operand, std::vector<comm::Send>& sends) const;
    void pass_rows_on(std::size_t k, std::size_t operand, std::byte*& packed, std::vector<comm::Send>& sends) const;
    void send_packed(int to, const kernels::ConstMatrix& rows, const kernels::DeviceMemory& index, std::int64_t count,
                     std::byte*& packed, std::vector<comm::Send>& sends) const;
    void receive_rows(std::size_t k, std::size_t operand, std::vector<comm::Receive>& receives) const;

    const SpmmStep& step_;
    const StepContext& context_;
    const SparsePart& part_;
    std::vector<kernels::Matrix> in_;  // column operands, of which the rank has these rows
    Range in_rows_;
    StageBuffers buffers_;
    std::optional<PanelRelay>
        relay_;  // where panels are relayed: who passes them on to this rank, and whom it serves so
    std::optional<PanelRelay::Passing> passing_;
    std::optional<PanelRelay::Passed> passed_;
    std::size_t begun_ = 0;     // stages whose transfers have been started
    std::size_t finished_ = 0;  // and waited for
    // An exchange for each column operand of each of these stages.
    std::deque<std::unique_ptr<comm::PendingExchange>> under_way_;
    // Where ranks lend each other panels: which messages are those of a stage, by stage and operand, and its nonzeros.
    std::unique_ptr<comm::Loan> loan_;
    std::vector<std::size_t> lent_panels_, lent_nonzeros_;
};

}  // namespace gnnplan::exec
