#include "runtime/run/vertex_outputs.hpp"

#include "runtime/infer/options.hpp"
#include "runtime/run/artifacts.hpp"
#include "runtime/run/shared_folder.hpp"
#include "runtime/run/vertex_parts.hpp"

#include <fmt/format.h>

#include <utility>

namespace gnnplan::run {
namespace {

void begin_writing(comm::Communicator& comm) {
    comm.heartbeats()[static_cast<std::size_t>(comm.rank())]->enter(comm::Heartbeat::writing);
}

}  // namespace

VertexOutputs::VertexOutputs(const Settings& settings, const Plan& plan)
    : settings_(settings),
      last_layer_(static_cast<int>(plan.problem.model.widths.size()) - 1),
      layers_(layer_folder(settings, plan)) {}

void VertexOutputs::open(comm::Communicator& processes, const std::function<std::vector<Fact>()>& facts) {
    // Folders may look otherwise to other ranks.
    const bool folder = processes.rank() == 0 && settings_.save_logits && is_folder(*settings_.save_logits);
    logits_in_folder_ = comm::control_max(processes, folder ? 1 : 0) > 0;
    if (settings_.save_logits) {
        const std::string& path = *settings_.save_logits;
        check_shared(processes, "`save-logits` " + path, logits_in_folder_ ? index_of_parts(path) : path);
    }
    if (!layers_) return;
    check_shared(processes, "`save-layers` " + layers_->path, layers_->index());
    int done = 0;
    comm::agree(processes, [&] {
        if (processes.rank() == 0) done = open_layers(*layers_, facts());
    });
    layers_done_ = static_cast<int>(comm::control_max(processes, done));
}

void VertexOutputs::remember(comm::Communicator& comm, std::string path, std::int64_t bytes) {
    if (comm.rank() == 0) written_.push_back({std::move(path), bytes});
}

void VertexOutputs::remember(comm::Communicator& comm, const NotFiniteError& error, int layer) {
    if (comm.rank() != 0) return;
    not_finite_ = error;
    not_finite_->found.layer = layer;
}

void VertexOutputs::write_logits(comm::Communicator& comm, const VertexMatrix& logits) {
    begin_writing(comm);
    const std::string& path = *settings_.save_logits;
    try {
        if (logits_in_folder_) {
            remember(comm, path, write_vertex_parts(comm, logits, path));
        } else {
            write_vertex_matrix(comm, logits, path);
            remember(comm, path, vertex_matrix_bytes(logits.tensor.rows, logits.tensor.columns));
        }
    } catch (const NotFiniteError& error) {
        remember(comm, error, last_layer_);
    } catch (const comm::AgreedError& failure) {
        if (comm.rank() == 0) logits_failure_ = failure;
    }
}

void VertexOutputs::write_layer(comm::Communicator& comm, int layer, const exec::Executor& executor, TensorId tensor,
                                const deploy::OutputRows& rows, bool one_process) {
    begin_writing(comm);
    const VertexMatrix outputs{executor, tensor_of(executor.schedule(), tensor), rows, one_process};
    const std::string path = layers_->file(layer);
    try {
        write_vertex_matrix(comm, outputs, path, [&](const std::string& hash) { note_layer(*layers_, layer, hash); });
    } catch (const NotFiniteError& error) {
        remember(comm, error, layer);
        throw infer::EndOfPass{Ending::diverged, fmt::format("the outputs of layer {} are not finite", layer)};
    }
    remember(comm, path, vertex_matrix_bytes(outputs.tensor.rows, outputs.tensor.columns));
}

void VertexOutputs::read_layer(comm::Communicator& comm, exec::Executor& executor, TensorId tensor,
                               const deploy::OutputRows& rows) {
    const std::string hash = read_vertex_matrix(comm, executor, tensor, rows, layers_->file(layers_done_));
    comm::agree(comm, [&] {
        if (comm.rank() == 0) check_layer(*layers_, layers_done_, hash);
    });
}

}  // namespace gnnplan::run
