// A machine as the planner knows it: one node and the network between nodes.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/tensor_memory.hpp>
#include <gnnplan/ir/model_part.hpp>
#include <gnnplan/ir/probe.hpp>
#include <gnnplan/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

// From `from_bytes` a message on, the cost is this line; but no less than that of a smaller message.
struct LinkSegment {
    std::int64_t from_bytes = 0;
    double latency_seconds = 0;
    double bytes_per_second = 0;
};

// Cost of a message: latency_seconds + bytes / bytes_per_second, unless it was measured in segments.
struct Link {
    double latency_seconds = 0;
    double bytes_per_second = 0;
    std::vector<LinkSegment> segments{};  // by increasing from_bytes, the first from 0; empty: the one line
};

// A rate at one width of the dense operand, whatever the graph.
struct SpmmRate {
    std::int64_t width = 0;
    double flops_per_second = 0;  // 2 * nnz * width / time
};

// A product with a matrix whose columns are uniformly random among R takes nonzeros * seconds_per_nonzero + rows *
// seconds_per_row, the working set being 4 * R * width bytes (cost/rates.hpp says what follows for other matrices).
struct GatherCost {
    std::int64_t working_set_bytes = 0;
    double seconds_per_nonzero = 0;
};
// The cost of rows without nonzeros in a panel that adds to the sums of earlier panels: each is skipped, and where rows
// with nonzeros and without follow each other without order, the processor guesses wrong.
struct PassingCost {
    double seconds_per_row = 0;     // without nonzeros
    double seconds_per_change = 0;  // ReuseHistogram::row_changes
};
struct GatherCurve {
    std::int64_t width = 0;                         // of the dense operand
    std::vector<GatherCost> costs;                  // by increasing working_set_bytes, at least one
    double seconds_per_row = 0;                     // of the result, in each source panel: begin, store
    std::optional<double> seconds_per_row_again{};  // more of a row that adds to what a panel before has left there
    std::optional<PassingCost> passing{};
};

enum class GemmKind : std::uint8_t { forward, input_gradient, weight_gradient };  // X W, G W^T, X^T G

// A product whose long side is the vertices. forward: (n x inner) (inner x columns); input_gradient: (n x columns)
// (columns x inner); weight_gradient: (inner x n) (n x columns).
struct GemmRate {
    GemmKind product = GemmKind::forward;
    std::int64_t inner = 0;  // W is inner x columns in all three
    std::int64_t columns = 0;
    double flops_per_second = 0;  // 2 * n * inner * columns / time
};

// Elementwise work, by what is done; bytes as ir/work.hpp counts them. Copies pack, unpack and sum what was received.
enum class ElementwiseKind : std::uint8_t {
    copy,
    activate,
    activate_dropout,
    dropout,
    positive_mask,
    apply_mask,
    column_sum,
    loss,
    score,
    update,
    edge_softmax,
    edge_softmax_back,
    edge_transpose,
    head_dot,
    head_spread,
    head_fold,
    head_unit,
    head_unit_back,
    norm_rows,
    norm_rows_back,
    norm_moments,
    norm_scale,
    norm_sums,
    norm_back,
    narrow,  // what is packed for messages in bfloat16
    widen,   // what is unpacked from them, or added
};
struct StreamRate {
    ElementwiseKind stream = ElementwiseKind::copy;
    std::int64_t working_set_bytes = 0;  // the bytes of the work measured
    double bytes_per_second = 0;
};

// So much, and so much more for each column. Either may be negative where it is added to something.
struct ColumnCost {
    double seconds = 0;
    double seconds_per_column = 0;
};

// The time of a program over nonzeros besides a sum of rows as long as all that it gathers: for each nonzero and for
// each row of the result, by the columns of its wide operands.
struct ProgramCost {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order in which it is read
    Program program = Program::sum;
    int heads = 0;         // of attention
    bool dropout = false;  // whether it drops some of its weights
    ColumnCost nonzero{};  // where what is gathered is as large as working_set_bytes
    ColumnCost row{};
    std::int64_t working_set_bytes = 1;
    double waiting = 0;  // for each second that a sum gathers longer than from there
};

// Softmax cross-entropy of rows that train: each so long and so much longer for each logit, wherever they lie.
struct LossCost {
    double seconds_per_row = 0;
    double seconds_per_logit = 0;
};

// The processor time of a rank for loading a graph, beside its messages.
struct LoadingCost {
    double parse_seconds_per_edge = 0;   // reading an edge of a text
    double deal_seconds_per_edge = 0;    // finding the rank that makes a row of it, packing it, unpacking it there
    double row_seconds_per_nonzero = 0;  // sorting edges into rows
    double cut_seconds_per_nonzero = 0;  // looking through the rows that a rank keeps, and cutting its blocks out
    bool operator==(const LoadingCost&) const = default;
};

// A product while messages are under way, which the processor looks after every few rows.
struct OverlapCost {
    double portions = 1;      // time of a product that looks, nothing being under way, over that of one that does not
    double look_seconds = 0;  // of one look, after each flops_per_look of each thread
    double exposed = 0;       // share of the shorter, product or messages, that is not hidden by the longer
    bool operator==(const OverlapCost&) const = default;
};

// Ranks do not end their work at the same time, and those that exchange messages wait for each other: `seconds` in each
// step that does, and a share of the work of all steps.
struct WaitingCost {
    double seconds = 0;
    double share = 0;
    bool operator==(const WaitingCost&) const = default;
};

// How the steps of epochs differ from what the curves say of a part of the model: their seconds are factor * (seconds /
// usual_seconds)^slope as many, and their logarithm is off by `spread` besides.
struct StepCorrection {
    static constexpr double usual_seconds = 1e-3;

    ModelPart part = ModelPart::spmm;
    double factor = 1;
    double slope = 0;   // above -1, so that longer steps take longer
    double spread = 0;  // standard deviation of log(measured / predicted)
    bool operator==(const StepCorrection&) const = default;
};

// A graph whose epochs a profile has learned from: it is no test of its predictions.
struct LearnedGraph {
    std::string name;
    std::string graph;  // Fingerprints::graph
    bool operator==(const LearnedGraph&) const = default;
};

// Flops of each thread of a product between two looks after messages: enough to make looking cheap, and far fewer than
// are done while what a product waits for travels.
inline constexpr std::int64_t flops_per_look = 1'000'000;

// The measurements of a calibration beyond single rates; times of one rank while all cores of the node are busy. Empty
// members were not measured, and the single rates serve.
struct Calibration {
    std::vector<GatherCurve> gather{};    // by increasing width
    std::vector<GemmRate> gemm{};         // each product, inner and columns once
    std::vector<StreamRate> streams{};    // by stream, then by increasing working_set_bytes
    std::vector<ProgramCost> programs{};  // by program, without dropout first, then by increasing heads
    std::optional<LossCost> loss{};
    std::optional<LoadingCost> loading{};
    // One message of these within a node, with what is done to its bytes.
    std::optional<Link> all_reduce{};            // of the ring
    std::optional<Link> reduce_scatter{};        // of the ring
    std::optional<Link> redistribution{};        // rows with gaps on one side
    std::optional<double> lent_panel_seconds{};  // of each that ranks as threads multiply where its owner has it
    // Two for profiles without `overlapping`: a product and messages over the longer of both; the shorter's share left.
    double overlap_slowdown = 1;
    double overlap_exposed = 0;
    double error_median = 0;  // relative, of predicted epochs, cross-validated
    double error_p90 = 0;
    std::optional<OverlapCost> overlapping{};
    std::optional<WaitingCost> waiting{};       // of several ranks
    std::vector<StepCorrection> corrections{};  // by part, each once; empty: no epoch was measured
    std::vector<LearnedGraph> learned_from{};   // by users' runs
    std::optional<int> gemm_lanes{};            // columns that dense products compute at a time; unknown: 1
    std::optional<int> threads{};               // of each rank that measured, where that is known
    std::optional<bool> processes{};  // whether those ranks were processes, and not threads of one; where it is known
    double busy = 0;                  // share of the cores that other programs took meanwhile, where it was too large
    std::optional<ProbeReference> probe{};  // the state of the machine meanwhile
};

// The network cards of a node, which its ranks share: what leaves the node, and what enters it, goes over them.
struct NetworkCards {
    int per_node = 1;
    double bytes_per_second = 0;  // of one card, in one direction

    double node_bytes_per_second() const { return per_node * bytes_per_second; }
    bool operator==(const NetworkCards&) const = default;
};

struct Machine {
    std::string name;
    std::string source;     // who measured it, or which publication the figures are from
    bool measured = false;  // here, by a calibration; presets are not
    int ranks_per_node = 1;
    std::int64_t memory_per_rank = 0;  // bytes

    Link intra_node;
    Link inter_node;             // per rank: its share of what ranks of a node share, or by itself with network_cards
    std::vector<SpmmRate> spmm;  // by increasing width, at least one; interpolated between, clamped outside
    double gemm_flops_per_second = 0;
    double memory_bytes_per_second = 0;  // streaming: elementwise work, packing, optimiser
    double step_seconds = 0;             // fixed overhead of one step (launch, synchronisation)

    std::optional<Calibration> calibration{};  // takes precedence over the single rates where it has them
    bool accelerators = false;         // memory_per_rank is a device's: its host loads the graph, in memory of its own
    std::int64_t workspace_bytes = 0;  // of that memory, for the device's kernels
    Blocking blocking{};               // how its products cut dense operands into slices
    std::int64_t reserved_bytes = 0;   // of memory_per_rank, for what no peak counts, such as CUDA's context
    std::optional<ProbeFigures> probe{};  // rates were rescaled from calibration->probe to these
    std::optional<NetworkCards> network_cards{};
    // Within a node, a message of a redistribution in which all ranks of a node exchange; without it, as any message.
    std::optional<Link> all_to_all{};
    std::optional<int> threads_per_rank{};  // with which a rank loads a graph; unknown: those of a calibration, else 1

    TensorMemory tensor_memory() const { return {accelerators, workspace_bytes, blocking.row_start_bytes}; }
    // Bytes that a plan may use where nobody says otherwise.
    std::int64_t usable_memory() const { return memory_per_rank - reserved_bytes; }
};

// Sparse rate for a slice of `width` columns, by linear interpolation between the measured widths.
double spmm_flops_per_second(const Machine& machine, std::int64_t width);

// Throws Error{data} naming the first field that is not positive, finite or ordered.
void validate(const Machine& machine);

}  // namespace gnnplan
