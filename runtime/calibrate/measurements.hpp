// The measurements of a calibration. Every function is collective, measures on all ranks at the same time and returns
// the same samples on every rank; `at` of a sample is said here, its seconds are those of one run.
#pragma once

#include "runtime/calibrate/setting.hpp"

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::calibrate {

// "read", at {bytes}: the processor adds up floats that come from memory.
Sample measure_read(const Setting& setting, std::int64_t bytes);

// "spmm", at {width, bytes of the dense operand, nonzeros, rows}: uniformly random columns, `degree` in a row on
// average; "spmm.add" where the product is added to a result; "spmm.pass", at {.., rows, rows with nonzeros}, where it
// is and only some rows have nonzeros.
struct SpmmPoint {
    std::int64_t width = 0;
    std::int64_t working_set_bytes = 0;  // of the dense operand, at least one row
    std::int64_t nonzeros = 0;           // about
    std::int64_t degree = 0;
    bool add = false;
    std::int64_t one_in = 1;  // row has nonzeros, at random; 1: all have. More only where it is added
};
Sample measure_spmm(const Setting& setting, const SpmmPoint& point);

// "program.max" etc., "program.attend.dropout" where weights are dropped, at {wide columns, heads, columns gathered for
// a nonzero, their bytes, nonzeros, rows}: programs other than sums, over rows of `degree` nonzeros on average.
struct ProgramPoint {
    Program program = Program::max;
    std::int64_t width = 0;
    std::int64_t heads = 0;              // of attention, which share the width
    bool dropout = false;                // of weights of attention
    std::int64_t working_set_bytes = 0;  // of all that is gathered
    std::int64_t nonzeros = 0;
    std::int64_t degree = 0;
};
Sample measure_program(const Setting& setting, const ProgramPoint& point);

// "gemm.forward", "gemm.input_gradient" or "gemm.weight_gradient", at {n, inner, columns, columns of the result
// that the processor computes at a time}.
Sample measure_gemm(const Setting& setting, GemmKind product, std::int64_t n, std::int64_t inner, std::int64_t columns);

// "stream.copy" etc., at {bytes as ir/work.hpp counts them}: matrices of as many rows as make about `bytes`.
// Those of dropout change from run to run, within `cold_bytes` of them: the features were last touched an epoch ago.
Sample measure_stream(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t cold_bytes);

// "stream.edge_softmax", "stream.edge_softmax_back" or "stream.edge_transpose", at {bytes as ir/work.hpp counts them}:
// of as many rows as make about `bytes`, with `degree` nonzeros on average.
Sample measure_edges(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t degree);

// "stream.head_dot" etc., at {bytes as ir/work.hpp counts them}: of matrices of four heads, of as many rows as make
// about `bytes`.
Sample measure_heads(const Setting& setting, ElementwiseKind stream, std::int64_t bytes);
// A part of layer or batch normalisation.
Sample measure_norms(const Setting& setting, ElementwiseKind stream, std::int64_t bytes);

// "loss", at {rows, columns}: of rows that all train.
Sample measure_loss(const Setting& setting, std::int64_t rows, std::int64_t columns);

// "load.parse", "load.deal" and "load.rows", at {edges}, and "load.cut", at {nonzeros}: parsing a text of so many
// edges, dealing them to the rank itself, the same and making rows of them, and cutting blocks out of these.
void measure_loading(const Setting& setting, std::int64_t edges, std::vector<Sample>& samples);

// Nodes says which ranks share a node.
struct Nodes {
    std::vector<int> of_rank;                 // number of the node
    std::unique_ptr<comm::Communicator> own;  // the ranks of this rank's node
    int count = 0;

    // Most ranks on any node.
    int ranks_per_node() const;
    // The ranks of other nodes than this rank's.
    std::vector<int> elsewhere(int rank) const;
    // The first rank of each other node; none for a rank that is not the first of its own.
    std::vector<int> first_elsewhere(int rank) const;
};
// As the communicator knows them, or, where `ranks_per_node` is not 0, as if so many consecutive ranks were on each.
Nodes find_nodes(comm::Communicator& comm, int ranks_per_node);

// Seconds of one message of `bytes`, with hot buffers and with cold ones, which a rank has `cold_bytes` > 0 of: the
// time of the collective over the messages that a rank sends one after the other. "exchange.hot" (all-to-all within the
// node), "all_reduce.hot" (ring), "reduce_scatter.hot", "redistribute.hot" (rows with gaps, the own part a message
// too), "between.hot" (one rank of each node with one of each other) and, where nodes have several ranks, "cards.hot"
// (everyone with everyone on other nodes), ".cold" likewise; at {bytes, messages}, of cards {bytes, messages, ranks of
// the largest node}. Only what there is: nothing within nodes of one rank, nothing between without several nodes.
void measure_messages(const Setting& setting, const Nodes& nodes, std::int64_t bytes, std::int64_t cold_bytes,
                      std::vector<Sample>& samples);

// "lent_panel", at {messages}: seconds of each message that ranks lend to all others, which do not read it. Nothing
// where ranks do not lend.
void measure_lending(const Setting& setting, std::vector<Sample>& samples);

// "waiting.work", "waiting.sum", "waiting.both", at {microseconds}: work of about so long on each rank, a sum over the
// ranks of a few bytes, and the sum after the work, where ranks that end early wait for others.
void measure_waiting(const Setting& setting, std::int64_t microseconds, std::vector<Sample>& samples);

// "overlap.whole", "overlap.portions", "overlap.exchange", "overlap.both", at {nonzeros, bytes, looks}: a product
// without looks after messages and with them, messages to the next rank, and these being moved while the product runs,
// as the executor does both. The messages are as large as takes `ratio` times as long as the product, and at most
// `largest` bytes, as is the product's result.
void measure_overlap(const Setting& setting, double ratio, std::int64_t largest, std::vector<Sample>& samples);

}  // namespace gnnplan::calibrate
