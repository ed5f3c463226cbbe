// Predicted beside measured epochs of many configurations of one problem: measure_configurations --help. Alone it is
// one rank, under mpirun as many as were started; a rank has one thread. Prints rows (rows.hpp), or writes them.
#include "bench/prediction/field.hpp"
#include "bench/prediction/graph.hpp"
#include "bench/prediction/race.hpp"
#include "bench/prediction/rows.hpp"

#include "planner/catalog/machines.hpp"
#include "planner/cost/rescale.hpp"
#include "planner/io/files.hpp"
#include "planner/io/machine.hpp"
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/calibrate/probe.hpp"
#include "runtime/comm/launch.hpp"
#include "runtime/comm/self.hpp"
#include "tools/common/main.hpp"
#include "tools/common/options.hpp"
#include "tools/text/probe_text.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif

#include <gnnplan/models.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace {

using namespace gnnplan;

struct Options {
    bench::GraphOptions graph;
    std::vector<std::int64_t> widths;
    std::string model = "gcn";
    std::string machine, space = "full", network = "local", output;
    bench::FieldOptions field;
    double narrow = 0.03;
    double seconds = 30;
    std::int64_t resident = std::int64_t{4} << 30;
    bool probe = false;
};

void add_flags(CLI::App& app, Options& options) {
    app.add_option("--graph", options.graph.graph,
                   "A graph, or rmat:VERTICES:NONZEROS:SEED, and :A for the percentage of R-MAT's first quadrant")
        ->required();
    app.add_flag("--symmetrise", options.graph.symmetrise, "Add the reverse of every edge");
    tools::add_counts(app, "--widths", options.widths, "Widths of the layers, e.g. 602,128,41", {1}, 2)->required();
    app.add_option("--model", options.model, "gcn, gin, agnn, sage:AGGREGATOR, or gat:HEADS")->capture_default_str();
    app.add_option("--machine", options.machine, "The file of a profile, or a preset")->required();
    app.add_flag("--probe", options.probe, "Rescale the profile to what a probe finds now, before anything is run");
    app.add_option("--network", options.network, "What to call the network in the rows")->capture_default_str();
    app.add_option("--space", options.space, "Which configurations")->check(CLI::IsMember({"full", "paper"}));
    app.add_option("--schemes", options.field.schemes, "Only these, e.g. rdm,1d")->delimiter(',');
    tools::add_count(app, "--most", options.field.most, "Run at most so many configurations; 0: all that fit", {0});
    app.add_option("--narrow", options.narrow, "Repeat until intervals are this share of their medians")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "Stop repeating after so many seconds of epochs")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    tools::add_size(app, "--resident", options.resident, "Configurations share so much memory of a rank; default 4GiB");
    app.add_option("-o,--output", options.output, "Where to write the rows; default: stdout");
}

ModelRecord model_of(const Options& options) {
    ModelRecord model;
    const std::size_t colon = options.model.find(':');
    model.name = options.model.substr(0, colon);
    const std::string detail = colon == std::string::npos ? "" : options.model.substr(colon + 1);
    if (model.name == "gat") {
        model.heads = detail.empty() ? 1 : std::stoi(detail);
    } else {
        model.aggregator = detail;
    }
    model.widths = options.widths;
    return model;
}

Machine load_machine(const std::string& name) {
    if (!std::filesystem::is_regular_file(name)) return catalog::find_machine(name);
    return io::read_machine(io::read_file(name), name);
}

// With the ranks of the runs, and their way to exchange messages. Collective.
Machine rescaled_to_now(const Machine& machine, comm::Communicator& comm) {
    const ProbeFigures* then = cost::probed_state(machine);
    if (then == nullptr) {
        throw Error(ErrorCode::data, "the profile has no figures that a probe could be compared with", "--probe",
                    "calibrate anew");
    }
    measure::SteadyClock clock;
    const calibrate::Nodes nodes = calibrate::find_nodes(comm, 0);
    const auto processor = kernels::host_device(kernels::cpu_table());
    const calibrate::Setting setting{comm, clock, *processor, calibrate::probe_effort};
    const ProbeFigures now = calibrate::Probe(setting, nodes, then->largest_bytes).measure();
    if (comm.rank() == 0) fmt::print(stderr, "{}\n", tools::change_text(*then, now));
    return cost::rescaled(machine, now);
}

Problem problem_of(const data::Dataset& dataset, const Options& options, const GraphStats& graph, int ranks) {
    Problem problem;
    problem.record.graph.name = options.graph.graph;
    problem.record.graph.vertices = dataset.vertices();
    problem.record.graph.nonzeros = dataset.nonzeros();
    problem.record.graph.symmetric = dataset.graph().symmetric;
    problem.record.graph.exact = true;
    problem.record.graph.normalisation = models::matrix_of(model_of(options)).normalisation;
    problem.record.model = model_of(options);
    problem.record.ranks = ranks;
    problem.record.space = options.space;
    problem.ops = models::build(problem.record.model);
    problem.graph = &graph;
    return problem;
}

// Collective.
int measure(comm::Communicator& comm, Options& options) {
    const bool speaks = comm.rank() == 0;
    options.graph.features = options.widths.front();
    options.graph.classes = options.widths.back();
    const models::MatrixForm matrix = models::matrix_of(model_of(options));
    options.graph.self_loops = matrix.self_loops;
    options.field.space = options.space == "paper" ? SearchSpace::paper : SearchSpace::full;
    const data::Dataset dataset = bench::open_graph(comm, options.graph);
    const data::GraphCounts counts(dataset.graph(), dataset.subset());
    search::NumberedGraphs graphs(counts);
    std::vector<Candidate> field;
    Machine machine;
    comm::agree(comm, [&] { machine = load_machine(options.machine); });
    if (options.probe) machine = rescaled_to_now(machine, comm);
    comm::agree(comm, [&] {
        const Problem problem = problem_of(dataset, options, counts, comm.size());
        std::size_t listed = 0;
        field = bench::choose_field(problem, machine, options.field, graphs, listed);
        if (speaks) {
            fmt::print(stderr, "{}: running {} of {} configurations\n", dataset.report().describe(), field.size(),
                       listed);
        }
    });
    const auto progress = [&](std::size_t done) {
        if (speaks) fmt::print(stderr, "{}/{}\n", done, field.size());
    };
    const auto outcomes =
        bench::race(comm, dataset, graphs, field,
                    {options.narrow, options.seconds, matrix.normalisation, options.resident, progress});
    comm::agree(comm, [&] {
        if (!speaks) return;
        const std::string text = bench::rows_text(
            {options.graph.graph, options.widths, comm.size(), options.network, machine}, field, outcomes);
        if (options.output.empty()) {
            tools::print(text);
        } else {
            io::write_file_atomically(options.output, text);
        }
    });
    return 0;
}

int launch(Options& options) {
#ifdef GNNPLAN_HAVE_MPI
    if (comm::launched_by_mpi()) {
        comm::MpiEnvironment mpi;
        return mpi.run_or_abort([&] { return measure(mpi.world(), options); });
    }
#endif
    comm::SelfCommunicator self;
    return measure(self, options);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Predicted beside measured epochs of many configurations"};
    Options options;
    add_flags(app, options);
    return tools::run_main(app, argc, argv, [&] { return launch(options); });
}
