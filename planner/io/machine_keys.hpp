// The keys of a machine, in plans and in profiles.
#pragma once

#include "planner/io/archive.hpp"

#include <gnnplan/ir/machine.hpp>

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, LinkSegment>& segment) {
    archive.field("from_bytes", segment.from_bytes);
    archive.field("latency_seconds", segment.latency_seconds);
    archive.field("bytes_per_second", segment.bytes_per_second);
}

// Rates are read as any numbers: validate(Machine) says that they must be positive.
template <class Archive>
void describe(Archive& archive, Subject<Archive, Link>& link) {
    archive.field("latency_seconds", link.latency_seconds);
    archive.any_number("bytes_per_second", link.bytes_per_second);
    archive.optional("segments", link.segments);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, SpmmRate>& rate) {
    archive.positive("width", rate.width);
    archive.any_number("flops_per_second", rate.flops_per_second);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, GatherCost>& cost) {
    archive.positive("working_set_bytes", cost.working_set_bytes);
    archive.field("seconds_per_nonzero", cost.seconds_per_nonzero);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, PassingCost>& cost) {
    archive.field("seconds_per_row", cost.seconds_per_row);
    archive.field("seconds_per_change", cost.seconds_per_change);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, GatherCurve>& curve) {
    archive.positive("width", curve.width);
    archive.field("seconds_per_row", curve.seconds_per_row);
    archive.optional("seconds_per_row_again", curve.seconds_per_row_again);
    archive.optional("passing", curve.passing);
    archive.field("costs", curve.costs);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, GemmRate>& rate) {
    archive.field("product", rate.product);
    archive.positive("inner", rate.inner);
    archive.positive("columns", rate.columns);
    archive.field("flops_per_second", rate.flops_per_second);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, StreamRate>& rate) {
    archive.field("stream", rate.stream);
    archive.positive("working_set_bytes", rate.working_set_bytes);
    archive.field("bytes_per_second", rate.bytes_per_second);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ColumnCost>& cost) {
    archive.any_number("seconds", cost.seconds);
    archive.any_number("seconds_per_column", cost.seconds_per_column);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProgramCost>& cost) {
    archive.field("program", cost.program);
    archive.optional("heads", cost.heads);
    archive.optional("dropout", cost.dropout);
    archive.field("nonzero", cost.nonzero);
    archive.field("row", cost.row);
    archive.positive("working_set_bytes", cost.working_set_bytes);
    archive.any_number("waiting", cost.waiting);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, LossCost>& cost) {
    archive.field("seconds_per_row", cost.seconds_per_row);
    archive.field("seconds_per_logit", cost.seconds_per_logit);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, LoadingCost>& cost) {
    archive.field("parse_seconds_per_edge", cost.parse_seconds_per_edge);
    archive.field("deal_seconds_per_edge", cost.deal_seconds_per_edge);
    archive.field("row_seconds_per_nonzero", cost.row_seconds_per_nonzero);
    archive.field("cut_seconds_per_nonzero", cost.cut_seconds_per_nonzero);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, OverlapCost>& cost) {
    archive.field("portions", cost.portions);
    archive.field("look_seconds", cost.look_seconds);
    archive.field("exposed", cost.exposed);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, WaitingCost>& cost) {
    archive.field("seconds", cost.seconds);
    archive.field("share", cost.share);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, StepCorrection>& correction) {
    archive.field("part", correction.part);
    archive.field("factor", correction.factor);
    archive.any_number("slope", correction.slope);
    archive.field("spread", correction.spread);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, LearnedGraph>& learned) {
    archive.field("name", learned.name);
    archive.field("graph", learned.graph);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProbeFigures>& figures) {
    archive.positive("largest_bytes", figures.largest_bytes);
    archive.field("gemm_flops_per_second", figures.gemm_flops_per_second);
    archive.field("copy_bytes_per_second", figures.copy_bytes_per_second);
    archive.field("near_bytes_per_second", figures.near_bytes_per_second);
    archive.field("far_bytes_per_second", figures.far_bytes_per_second);
    archive.optional("exchange_bytes_per_second", figures.exchange_bytes_per_second);
    archive.optional("between_bytes_per_second", figures.between_bytes_per_second);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProbeReference>& reference) {
    archive.field("cpu", reference.cpu);
    archive.positive("cores", reference.cores);
    archive.field("middle", reference.middle);
    archive.field("least", reference.least);
    archive.field("most", reference.most);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Calibration>& calibration) {
    archive.field("error_median", calibration.error_median);
    archive.field("error_p90", calibration.error_p90);
    archive.field("overlap_slowdown", calibration.overlap_slowdown);
    archive.optional("overlap_exposed", calibration.overlap_exposed);
    archive.optional("overlapping", calibration.overlapping);
    archive.optional("waiting", calibration.waiting);
    archive.optional("corrections", calibration.corrections);
    archive.optional("learned_from", calibration.learned_from);
    archive.optional("threads", calibration.threads);
    archive.optional("processes", calibration.processes);
    archive.optional("busy", calibration.busy);
    archive.optional("probe", calibration.probe);
    archive.optional("programs", calibration.programs);
    archive.optional("loss", calibration.loss);
    archive.optional("loading", calibration.loading);
    archive.optional("all_reduce", calibration.all_reduce);
    archive.optional("reduce_scatter", calibration.reduce_scatter);
    archive.optional("redistribution", calibration.redistribution);
    archive.optional("lent_panel_seconds", calibration.lent_panel_seconds);
    archive.field("gather", calibration.gather);
    archive.field("gemm", calibration.gemm);
    archive.optional("gemm_lanes", calibration.gemm_lanes);
    archive.field("streams", calibration.streams);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Blocking>& blocking) {
    archive.positive("unit_bytes", blocking.unit_bytes);
    archive.positive("slice_columns", blocking.slice_columns);
    archive.field("cache_bytes", blocking.cache_bytes);
    archive.positive("least_slice_columns", blocking.least_slice_columns);
    archive.field("packs_single_panels", blocking.packs_single_panels);
    archive.optional("row_start_bytes", blocking.row_start_bytes);  // older files have none: 8
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, NetworkCards>& cards) {
    archive.positive("per_node", cards.per_node);
    archive.any_number("bytes_per_second", cards.bytes_per_second);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Machine>& machine) {
    archive.field("name", machine.name);
    archive.field("source", machine.source);
    archive.field("measured", machine.measured);
    archive.positive("ranks_per_node", machine.ranks_per_node);
    archive.positive("memory_per_rank_bytes", machine.memory_per_rank);
    archive.optional("accelerators", machine.accelerators);
    archive.optional("workspace_bytes", machine.workspace_bytes);
    archive.optional("blocking", machine.blocking);
    archive.optional("reserved_bytes", machine.reserved_bytes);
    archive.field("intra_node", machine.intra_node);
    archive.field("inter_node", machine.inter_node);
    archive.optional("network_cards", machine.network_cards);
    archive.optional("all_to_all", machine.all_to_all);
    archive.optional("threads_per_rank", machine.threads_per_rank);
    archive.field("spmm", machine.spmm);
    archive.any_number("gemm_flops_per_second", machine.gemm_flops_per_second);
    archive.any_number("memory_bytes_per_second", machine.memory_bytes_per_second);
    archive.field("step_seconds", machine.step_seconds);
    archive.optional("calibration", machine.calibration);
    archive.optional("probe", machine.probe);
}

}  // namespace gnnplan::io
