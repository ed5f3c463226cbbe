#include "tests/integration/full_space_runs.hpp"

#include "planner/lower/buffers.hpp"
#include "planner/lower/rules.hpp"
#include "runtime/deploy/outputs.hpp"

#include <gnnplan/ir/traffic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gnnplan::testing {

void ExpectedProblems::add(const TinyGraph& graph, const Network& network) {
    expected_.push_back(expect_of(problems_.emplace_back(graph, network), 2));
}

search::Space space_of(const TestProblem& problem, const GraphStats& graph, int ranks, Task task) {
    Problem asked = problem.planner_problem(graph, ranks);
    if (task == Task::infer) asked.ops = applied(std::move(asked.ops));  // once more changes nothing
    return search::make_space(asked, test_machine(), {});
}

void cut_by(CutRule rule, search::ConfigurationFrame& frame) {
    frame.switches.cut_rule = rule;
    frame.switches.exchange = Exchange::rows;
    frame.switches.parts = frame.on.grid.x;
    frame.switches.loss_rows = frame.switches.permutation = false;
}

search::ConfigurationFrame frame_of(const Distribution& on, const Switches& switches) {
    search::ConfigurationFrame frame{on};
    const Exchange whole = switches.relayed ? Exchange::relay : Exchange::panels;
    const bool passes = switches.relayed && on.sharing == Sharing::replicated;
    const Exchange needed = passes ? Exchange::relayed_rows : Exchange::rows;
    if (on.grid.x > 1) frame.switches.exchange = switches.needed_rows ? needed : whole;
    frame.switches.overlap = on.can_overlap() && switches.overlap;
    frame.switches.loss_rows = switches.loss_rows;
    frame.switches.permutation = switches.permutation;
    if (switches.parts && on.grid.x > 1) frame.switches.parts = on.grid.x;
    frame.switches.factored_values = switches.factored;
    frame.switches.node_axis = switches.node_axis;
    frame.switches.remade = switches.recompute;
    if (on.sharing != Sharing::cut) return frame;
    // Rules of cuts take turns, too.
    constexpr std::array rules{CutRule::libra, CutRule::seeded, CutRule::libra, CutRule::cover};
    cut_by(rules[(switches.needed_rows ? 1U : 0U) + (switches.parts ? 2U : 0U)], frame);
    return frame;
}

namespace {

// A configuration of a problem, lowered.
struct Run {
    exec::GraphCounts counts;
    search::Space space;
    Configuration configuration;
    Schedule schedule;

    Run(const TestProblem& problem, Task task, const Distribution& on, const Switches& switches,
        const search::Choices& choices, Scores scores, bool ring = false)
        : counts(problem.dataset().graph(), problem.dataset().subset()),
          space(space_of(problem, counts, on.grid.size(), task)) {
        if (switches.source_panels) space.shape.panel_columns = 3;  // blocks of a few panels, the last one smaller
        search::ConfigurationFrame frame = frame_of(on, switches);
        frame.trains = task == Task::train;
        if (on.splits_columns()) frame.switches.scores = scores, frame.switches.ring = ring;
        // The same turns are those of additive attention, of which two in three have scores stored.
        const bool stores = space.model.trains() && space.model.reduces_by(Reduce::attention) && !on.sends_nonzeros() &&
                            scores != Scores::columns;
        if (stores) frame.switches.attention = AttentionScores::stored;
        // Weights of edges, and what drawn ones stand for, are in no scales that make their values.
        if (problem.dataset().report().weighted || counts.samples_weighted()) frame.switches.factored_values = false;
        configuration = search::configuration_of(frame, choices);
        schedule = lower::lower(space.model, configuration, space.shape);
        if (switches.buffer_bytes > 0) bound(switches.buffer_bytes);
    }

    bool rings() const { return lower::Rules(space.model, configuration).any_rings(); }

private:
    // Cuts pieces; afterwards the buffers of no product take more on any rank, and whatever of dense rows is sent is
    // the same.
    void bound(std::int64_t bytes) {
        const auto numbered = counts.numbered(schedule.numbering);
        const Schedule whole = schedule;
        if (const std::int64_t enough = lower::bound_buffers(schedule, *numbered, bytes); enough > 0) {
            bytes = enough;
            schedule = whole;
            EXPECT_EQ(lower::bound_buffers(schedule, *numbered, bytes), 0) << "what is enough";
        }
        for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
            for (int rank = 0; rank < schedule.grid.size(); ++rank) {
                if (const SpmmStep* product = product_of(schedule.steps[step].operation)) {
                    const SpmmBuffers buffers = spmm_buffers(schedule, *product, *numbered, rank);
                    EXPECT_LE(buffers.exchange_bytes(), bytes) << schedule.steps[step].name;
                    EXPECT_LE(buffers.packs * buffers.pack, schedule.grid.size() * bytes);
                }
                if (configuration.on().sends_nonzeros()) continue;
                EXPECT_EQ(traffic_of(schedule, schedule.steps[step], *numbered, rank),
                          traffic_of(whole, whole.steps[step], *numbered, rank))
                    << schedule.steps[step].name;
            }
        }
    }
};

// The same bits come where what follows a dense product is a pass of its own.
void check_separate_passes(const TestProblem& problem, const Schedule& schedule, const std::vector<RankRun>& runs) {
    static const kernels::Table separate = [] {
        kernels::Table table = kernels::cpu_table();
        table.gemm_then = nullptr;
        return table;
    }();
    const auto finishes = [](const Step& step) {
        const auto* gemm = std::get_if<GemmStep>(&step.operation);
        return gemm != nullptr && gemm->then;
    };
    if (wanted_device() || std::ranges::none_of(schedule.steps, finishes)) return;
    const auto again = run_schedule(problem, schedule, 1, separate);
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
        const RankEpoch &fused = runs[rank].epochs.front(), &plain = again[rank].epochs.front();
        EXPECT_EQ(fused.loss, plain.loss);
        EXPECT_EQ(fused.weight_gradient, plain.weight_gradient);
        EXPECT_EQ(fused.bias_gradient, plain.bias_gradient);
        EXPECT_EQ(runs[rank].outputs, again[rank].outputs);
        EXPECT_EQ(runs[rank].allocated_peak, again[rank].allocated_peak);
    }
}

std::string describe(const TestProblem& problem, const Configuration& configuration, const Switches& switches) {
    return fmt::format(
        "{}: {} on {}, forward {}, backward {}, operands {}, exchange {}{}{}{}{}{}{}{}{}{}{}{}{}{}{}", problem.name(),
        scheme_of(configuration), configuration.grid.text(), text(configuration.forward), text(configuration.backward),
        text(configuration.operands), static_cast<int>(configuration.exchange),
        configuration.overlap ? ", overlap" : "", configuration.loss_rows ? ", loss rows" : "",
        configuration.permutation ? ", permuted" : "",
        configuration.cut_rule == CutRule::libra    ? ", libra"
        : configuration.cut_rule == CutRule::seeded ? ", seeded"
        : configuration.cut_rule == CutRule::cover  ? ", cover"
        : configuration.parts > 0                   ? ", parts"
                                                    : "",
        configuration.cached_aggregation ? ", cached" : "", configuration.replicated_input ? ", replicated input" : "",
        configuration.column_loss ? ", column loss" : "", configuration.factored_values ? ", factored" : "",
        switches.source_panels ? ", panels" : "",
        configuration.scores == Scores::whole_rows   ? ", scores of whole rows"
        : configuration.scores == Scores::dealt_rows ? ", scores of dealt rows"
                                                     : "",
        configuration.attention == AttentionScores::stored ? ", stored attention" : "",
        configuration.ring ? ", ring" : "",
        configuration.node_axis == NodeAxis::x   ? ", nodes along x"
        : configuration.node_axis == NodeAxis::z ? ", nodes along z"
                                                 : "",
        configuration.remade != 0 ? fmt::format(", {} layers recomputed at once", configuration.remade) : "",
        switches.buffer_bytes > 0 ? fmt::format(", buffers of {}", switches.buffer_bytes) : "");
}

void check_inference(const TestProblem& problem, const Run& run, const Switches& switches) {
    SCOPED_TRACE(describe(problem, run.configuration, switches));
    ASSERT_NO_THROW(validate(run.schedule));
    const ModelRecord& model = problem.network().model;
    const bool reads_all = model.name == "sign" && problem.widths().size() > 3;  // features are nothing to hand on
    const bool reads_first = model.name == "gcnii" && model.teleport != 0.0;
    const bool reads_sums = model.residual == Residual::sums;
    if (reads_sums || model.jk == JumpingKnowledge::concat || reads_all || reads_first) {
        EXPECT_THROW(deploy::layer_ends(run.schedule), Error) << "logits or layers are made of several layers";
    } else {
        EXPECT_EQ(deploy::layer_ends(run.schedule).size(), problem.widths().size() - 1) << "any of them can be saved";
    }
    const auto runs = run_schedule(problem, run.schedule, 1);
    check_outputs(problem, runs);
    check_separate_passes(problem, run.schedule, runs);
    EXPECT_TRUE(bytes_as_predicted(run.schedule, runs));
    EXPECT_TRUE(peaks_as_predicted(runs));
}

}  // namespace

void check_configuration(const TestProblem& problem, const Expected& expected, const Distribution& on,
                         const Switches& switches, const search::Choices& choices, Scores scores) {
    const Run run(problem, Task::train, on, switches, choices, scores);
    SCOPED_TRACE(describe(problem, run.configuration, switches));
    ASSERT_NO_THROW(validate(run.schedule));
    const auto runs = run_schedule(problem, run.schedule, 2);
    check_values(problem, runs, expected);
    check_separate_passes(problem, run.schedule, runs);
    EXPECT_TRUE(bytes_as_predicted(run.schedule, runs));
    EXPECT_TRUE(peaks_as_predicted(runs));
}

void check_inference(const TestProblem& problem, const Distribution& on, const Switches& switches,
                     const search::Choices& choices, Scores scores) {
    if (on.sharing == Sharing::cut && !problem.network().fanout.empty()) return;  // drawn edges are not cut
    check_inference(problem, Run(problem, Task::infer, on, switches, choices, scores), switches);
    if (!on.splits_columns()) return;
    const Run ring(problem, Task::infer, on, switches, choices, scores, true);
    if (ring.rings()) check_inference(problem, ring, switches);
}

}  // namespace gnnplan::testing
