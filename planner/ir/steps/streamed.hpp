// The work of steps that go through their operands once.
#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/wire.hpp>
#include <gnnplan/ir/work.hpp>

namespace gnnplan {

// Reads every operand and writes every result, each byte once; each staged byte is written and read, or made of floats
// and made floats again. `graph` counts the edges of steps that have values of edges; an adjacency is not read, except
// for where its rows begin.
inline RankWork streamed(const Schedule& schedule, const Operation& step, int rank, ElementwiseKind stream,
                         const Staging& staging = {}, const GraphStats* graph = nullptr, Wire wire = Wire::fp32) {
    RankWork work;
    work.stream = stream;
    const Operands operands = operands_of(step);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) {
            const Tensor& tensor = tensor_of(schedule, id);
            if (tensor.role == Role::adjacency) continue;
            const bool counted = has_counted_rows(tensor.role);
            ensure(!counted || graph != nullptr, "edges are counted in a graph");
            work.streamed_bytes += counted ? bytes_of(tensor.dtype, elements_of(schedule, id, *graph, rank))
                                           : block_bytes(schedule, id, rank);
        }
    }
    if (wire == Wire::bfloat16) {
        work.narrowed_bytes = rounded_bytes(staging.send_bytes);
        work.widened_bytes = rounded_bytes(staging.receive_bytes);
    } else {
        work.staged_bytes = 2 * (staging.send_bytes + staging.receive_bytes);
    }
    return work;
}

}  // namespace gnnplan
