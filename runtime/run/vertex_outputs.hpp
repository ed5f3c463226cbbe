// The outputs of a run for every vertex: logits, and the layers of an inference, which it may go on from.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/run/layers.hpp"
#include "runtime/run/settings.hpp"
#include "runtime/run/vertex_matrix.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

// Shared by the ranks that are threads of a process. Rank 0 remembers for all.
class VertexOutputs {
public:
    // Throws as layer_folder() does.
    VertexOutputs(const Settings& settings, const Plan& plan);

    // Collective over the processes: finds out whether they see the same folders, and which layers are there already.
    // facts() says what the layers are computed from, on rank 0.
    void open(comm::Communicator& processes, const std::function<std::vector<Fact>()>& facts);
    // The folder of the layers, if there is one, and how many of them the inference goes on from.
    const std::optional<LayerFolder>& layers() const { return layers_; }
    int layers_done() const { return layers_done_; }

    // Collective, for deploy::RunHooks and infer::InferHooks. `one_process`: ranks are threads. Values that are not
    // finite are not written; then write_layer() throws infer::EndOfPass.
    void write_logits(comm::Communicator& comm, const VertexMatrix& logits);
    void write_layer(comm::Communicator& comm, int layer, const exec::Executor& executor, TensorId tensor,
                     const deploy::OutputRows& rows, bool one_process);
    // Reads the last of the layers that are done.
    void read_layer(comm::Communicator& comm, exec::Executor& executor, TensorId tensor,
                    const deploy::OutputRows& rows);

    const std::vector<WrittenFile>& written() const { return written_; }
    const std::optional<NotFiniteError>& not_finite() const { return not_finite_; }
    // Why the logits could not be written, if so.
    const std::optional<Error>& logits_failure() const { return logits_failure_; }

private:
    void remember(comm::Communicator& comm, std::string path, std::int64_t bytes);
    void remember(comm::Communicator& comm, const NotFiniteError& error, int layer);

    const Settings& settings_;
    int last_layer_;
    std::optional<LayerFolder> layers_;
    int layers_done_ = 0;
    bool logits_in_folder_ = false;
    std::vector<WrittenFile> written_;
    std::optional<NotFiniteError> not_finite_;
    std::optional<Error> logits_failure_;
};

}  // namespace gnnplan::run
