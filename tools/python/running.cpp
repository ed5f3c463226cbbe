// Runs plans as gnnrun does with ranks as threads, without its words: a plan and options in, the report out.
#include "planner/catalog/host.hpp"
#include "planner/io/report.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/run/run.hpp"
#include "tools/common/plan_file.hpp"
#include "tools/gnnrun/flags.hpp"
#include "tools/python/bind.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::python {
namespace {

using OnEpoch = std::function<void(const std::string& line)>;  // as the file of metrics has it

class PythonObserver : public run::Observer {
public:
    PythonObserver(OnEpoch on_epoch, const Stop& stop) : on_epoch_(std::move(on_epoch)), stop_(stop) {}

    void note(const std::string& line) override { notes.push_back(line); }
    void warn(const std::string& line) override { notes.push_back(line); }
    void epoch(const EpochRecord& epoch) override {
        if (!on_epoch_) return;
        const nb::gil_scoped_acquire held;
        on_epoch_(io::metrics_line(epoch));
    }
    std::optional<std::string> stop() override {
        return stop_.told ? std::optional<std::string>("it was interrupted") : std::nullopt;
    }

    std::vector<std::string> notes;

private:
    OnEpoch on_epoch_;
    const Stop& stop_;
};

struct Ran {
    std::string report;  // gnnplan.report
    std::vector<std::string> notes;
    std::optional<std::string> resume_from;
};

Ran run_plan(const Arguments& arguments, const std::string& text, OnEpoch on_epoch, const Stop& stop) {
    check_process();
    CLI::App app;
    tools::RunFlags flags;
    tools::add_flags(app, flags);
    parse(app, arguments);
    flags.arguments = {"gnnplan.train"};
    Plan plan = tools::read_plan_text(text, flags.plan);
    const int ranks = plan.problem.ranks;
    run::Settings settings = tools::settings_of(flags, plan, catalog::threads_of_rank(ranks, ranks));
    settings.seconds_before = 0;
    PythonObserver observer(std::move(on_epoch), stop);
    run::Run run(settings, std::move(plan), observer);
    comm::SelfCommunicator self;
    run::Ranks here{.processes = self, .communicator = ranks == 1 ? "self" : "threads"};
    const std::optional<run::Outcome> outcome = run.go(here);
    if (!outcome) return {};
    if (!outcome->failures.empty()) throw outcome->failures.front();
    if (outcome->not_finite) throw *outcome->not_finite;
    return {io::write_report(outcome->report), std::move(observer.notes), outcome->resume_from};
}

Ran run_for_python(const Arguments& arguments, const std::string& plan, const nb::object& on_epoch, const Stop& stop) {
    OnEpoch call;
    if (!on_epoch.is_none()) {
        call = [&on_epoch](const std::string& line) { on_epoch(line); };
    }
    const nb::gil_scoped_release released;
    return run_plan(arguments, plan, std::move(call), stop);
}

}  // namespace

void add_running(nb::module_& module) {
    nb::class_<Ran>(module, "Ran")
        .def_ro("report", &Ran::report)
        .def_ro("notes", &Ran::notes)
        .def_ro("resume_from", &Ran::resume_from);
    module.def("run", &run_for_python, nb::arg("arguments"), nb::arg("plan"), nb::arg("on_epoch").none(),
               nb::arg("stop"));
}

}  // namespace gnnplan::python
