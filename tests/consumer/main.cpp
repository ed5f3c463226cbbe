// A program that a user of the library writes: sizes and a machine in, a plan or just the orders out.
#include <gnnplan/question.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace {

// A machine of one's own; the README's program takes one of the library's.
gnnplan::Machine some_machine() {
    gnnplan::Machine machine;
    machine.name = "example";
    machine.source = "round numbers";
    machine.ranks_per_node = 8;
    machine.memory_per_rank = std::int64_t{8} << 30;
    machine.intra_node = {.latency_seconds = 1e-5, .bytes_per_second = 1e10};
    machine.inter_node = {.latency_seconds = 2e-5, .bytes_per_second = 1e9};
    machine.spmm = {{.width = 16, .flops_per_second = 1e9}, {.width = 128, .flops_per_second = 4e9}};
    machine.gemm_flops_per_second = 1e11;
    machine.memory_bytes_per_second = 2e10;
    machine.step_seconds = 1e-6;
    return machine;
}

void expect(bool condition, const char* what) {
    if (condition) return;
    std::cerr << "consumer: expected " << what << '\n';
    std::exit(1);
}

}  // namespace

int main() {
    const gnnplan::Machine machine = some_machine();
    gnnplan::ProblemRecord question;
    question.model.widths = {1433, 16, 7};
    question.ranks = 4;
    const gnnplan::Problem problem = gnnplan::make_problem(question, {.vertices = 2708, .nonzeros = 13264});

    const gnnplan::SelectResult result = gnnplan::select(problem, machine);
    if (!result) std::cerr << result.message << '\n';
    expect(static_cast<bool>(result), "a plan");
    const gnnplan::Candidate& best = result.selection->plan.candidates.front();
    expect(best.configuration.forward.size() == 2 && best.configuration.backward.size() == 2,
           "an order per layer and pass");
    expect(question.ranks % replication_of(best.configuration) == 0, "a replication factor that divides the ranks");
    expect(best.predicted.epoch_seconds > 0 && best.predicted.peak_bytes_per_rank > 0, "predictions");
    std::cout << "plan: forward " << gnnplan::text(best.configuration.forward) << ", backward "
              << gnnplan::text(best.configuration.backward) << ", R_A " << replication_of(best.configuration) << '\n';

    gnnplan::SelectOptions one_byte;
    one_byte.memory_per_rank = 1;
    const gnnplan::SelectResult cramped = gnnplan::select(problem, machine, one_byte);
    expect(!cramped && cramped.code == gnnplan::ErrorCode::infeasible, "one byte per rank to be infeasible");
    expect(!cramped.message.empty(), "a message that says why");

    try {
        gnnplan::select_orders(problem, gnnplan::Machine{});
        expect(false, "no advice for no machine");
    } catch (const gnnplan::Error& error) {
        expect(error.code() == gnnplan::ErrorCode::data, "an error that names the machine");
    }
    const gnnplan::OrderAdvice advice = gnnplan::select_orders(problem, machine);
    expect(advice.forward == best.configuration.forward && advice.backward == best.configuration.backward,
           "the orders of the plan");
    expect(advice.epoch_seconds == best.predicted.epoch_seconds, "the time of the plan");
    return 0;
}
