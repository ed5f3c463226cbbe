// Validation of a whole schedule: the table, each step, and what follows from their order.
#include "planner/ir/schedule_checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gnnplan {
namespace {

// The state of the tensors while the steps are walked in order, phase by phase.
class Walk {
public:
    explicit Walk(const Schedule& schedule) : schedule_(schedule) {}

    void begin_phase(Phase phase) {
        phase_ = phase;
        written_ = cached_;
    }

    void take(const Step& step) {
        const Operands operands = operands_of(step.operation);
        for (const TensorId id : operands.reads) {
            require(is_resident(tensor_of(schedule_, id).role) || written_.contains(id), step, id,
                    "before anything wrote it");
        }
        follow_sums(step, operands);
        follow_dropout(step, operands);
        follow_cached(step, operands);
        follow_indices(step);
        written_.insert(operands.writes.begin(), operands.writes.end());
    }
    // The output of a run: rows of all vertices, each whole on one rank, that the pass has made and nothing uses up.
    void check_output(TensorId id) const {
        if (id < 0 || static_cast<std::size_t>(id) >= schedule_.tensors.size()) refuse("output", "it is no tensor");
        const Tensor& tensor = tensor_of(schedule_, id);
        const bool fits = tensor.role == Role::transient && tensor.dtype == DType::f32 && tensor.space == 0 &&
                          same_placement(tensor.layout, layout_r(), schedule_.grid);
        if (!fits) refuse("output", "it must be a matrix of floats, whole rows of all vertices");
        if (!written_.contains(id)) refuse("output", "the pass does not make it");
    }
    // Ranks must agree on what a phase reports.
    void end_phase() const {
        for (const TensorId id : summands_)
            refuse("tensor " + tensor_of(schedule_, id).name, "it is never summed over ranks");
    }

private:
    void require(bool condition, const Step& step, TensorId id, const std::string& what) const {
        if (!condition) refuse("step " + step.name, "it uses " + tensor_of(schedule_, id).name + " " + what);
    }

    void use_up(const Step& step, TensorId summand) {
        const Role role = tensor_of(schedule_, summand).role;
        require(role == Role::transient || role == Role::summands, step, summand, "which it uses up");
        written_.erase(summand);
    }

    // A partial tensor is a summand on every rank until one step makes it the sum, or uses it up.
    void follow_sums(const Step& step, const Operands& operands) {
        if (const std::optional<TensorId> sum = summed(step.operation)) {
            require(summands_.erase(*sum) == 1, step, *sum, "which is summed already");
            const bool in_place = operands.writes == std::vector{*sum};
            if (!in_place) use_up(step, *sum);
            return;
        }
        const SpmmStep* product = product_of(step.operation);
        if (const auto used = product != nullptr ? product->uses_up(schedule_) : std::nullopt) {
            require(summands_.erase(*used) == 1, step, *used, "which is summed already");
            use_up(step, *used);
        }
        for (const TensorId id : operands.reads) {
            require(!summands_.contains(id), step, id, "before it is summed over ranks");
        }
        for (const TensorId id : operands.writes) {
            const bool in_place = std::find(operands.reads.begin(), operands.reads.end(), id) != operands.reads.end();
            if (!in_place && !tensor_of(schedule_, id).layout.partial.empty()) summands_.insert(id);
        }
    }

    // Where nothing is dropped, the output of a dropout is the features themselves, which nothing may overwrite.
    void follow_dropout(const Step& step, const Operands& operands) {
        for (const TensorId id : operands.writes) {
            require(!dropped_.contains(id), step, id, "which may be the features themselves, as output");
        }
        if (const std::optional<TensorId> out = dropped_features(step.operation)) dropped_.insert(*out);
    }

    // A tensor that setup makes for every epoch is not made again.
    void follow_cached(const Step& step, const Operands& operands) {
        for (const TensorId id : operands.writes) {
            if (tensor_of(schedule_, id).role != Role::cached) continue;
            require(phase_ == Phase::setup, step, id, "as output after setup");
            cached_.insert(id);
        }
    }

    // Rows are asked for once, before products that exchange them.
    void follow_indices(const Step& step) {
        if (const std::optional<TensorId> matrix = requested_rows(step.operation)) {
            const bool relayed = std::get<RowRequestStep>(step.operation).relayed;
            require(phase_ == Phase::setup && indexed_.try_emplace(*matrix, relayed).second, step, *matrix,
                    "other than once, in setup");
        }
        follow_targets(step);
        const SpmmStep* spmm = product_of(step.operation);
        if (spmm == nullptr) return;
        // An indexed matrix is stored by needed rows: whole panels would meet the wrong columns.
        const bool needed_rows = by_need(spmm->exchange);
        const TensorId stored = tensor_of(schedule_, spmm->matrix).structure.value_or(spmm->matrix);
        require(
            needed_rows == indexed_.contains(stored), step, spmm->matrix,
            needed_rows ? "before its needed rows are known" : "with whole panels, although its needed rows are known");
        require(!needed_rows || indexed_.at(stored) == (spmm->exchange == Exchange::relayed_rows), step, spmm->matrix,
                "with its rows in another order than they were asked for");
    }

    // Owners are told once which of their rows they will get sums of.
    void follow_targets(const Step& step) {
        const auto* request = std::get_if<RowRequestStep>(&step.operation);
        if (request != nullptr && request->targets) {
            require(phase_ == Phase::setup && told_.insert(request->matrix).second, step, request->matrix,
                    "other than once, in setup");
        }
        const auto* sum = std::get_if<SumRowsStep>(&step.operation);
        if (sum == nullptr) return;
        const TensorId stored = tensor_of(schedule_, sum->matrix).structure.value_or(sum->matrix);
        require(told_.contains(stored), step, sum->matrix, "before owners of rows know what they get");
    }

    const Schedule& schedule_;
    Phase phase_ = Phase::setup;
    std::set<TensorId> written_, summands_, dropped_, cached_, told_;
    std::map<TensorId, bool> indexed_;  // matrices whose needed rows are known, and whether these are relayed
};

// Groups of batches have as many of them each.
void check_batches(const Schedule& schedule) {
    const Numbering& numbering = schedule.numbering;
    if (!numbering.batches) return;
    const Grid& grid = schedule.grid;
    if (!grid.grouped() || numbering.parts != grid.x || numbering.batches->per_update % grid.x != 0)
        refuse("numbering.batches", "each group of ranks has as many batches of an update as another");
    if (numbering.clones != CloneLoss::none || numbering.cut != CutRule::none || numbering.loss_layers > 0)
        refuse("numbering.batches", "groups train on batches, on parts of a cut or on the rows of the loss");
    for (const Step& step : schedule.steps) {
        const auto matrix = requested_rows(step.operation);
        if (matrix && tensor_of(schedule, *matrix).in_groups())
            refuse("step " + step.name, "ranks do not tell each other for every batch which rows they need");
    }
}

// Rows of groups are clones, as many of a vertex as there are groups at most, or the vertices themselves.
void check_clones(const Schedule& schedule) {
    const Numbering& numbering = schedule.numbering;
    if (numbering.batches) return check_batches(schedule);
    const bool clones = numbering.clones != CloneLoss::none;
    if (clones && (numbering.cut == CutRule::none || !schedule.grid.grouped() || numbering.parts != schedule.grid.x))
        refuse("numbering.clones", "each part of a cut is the graph of a group of ranks");
    if (numbering.delay && (!clones || *numbering.delay < 0 || *numbering.delay > most_delay))
        refuse("numbering.delay", "sums of clones are 0 to " + std::to_string(most_delay) + " epochs late");
    for (const Tensor& tensor : schedule.tensors) {
        if (tensor.role == Role::counts_as && !clones) refuse("tensor " + tensor.name, "no vertex has clones to count");
    }
    if (!schedule.grid.grouped()) return;
    const std::int64_t rows = schedule.grid.groups.back(), vertices = schedule.spaces.front().rows;
    if (rows < vertices || rows > vertices * (clones ? schedule.grid.x : 1))
        refuse("spaces", "groups have other vertices than the graph");
}

}  // namespace

void validate(const Schedule& schedule) {
    check_tensors(schedule);
    check_clones(schedule);
    std::set<std::string> names;
    Walk walk(schedule);
    for (const Phase phase : {Phase::setup, Phase::epoch, Phase::evaluation}) {
        walk.begin_phase(phase);
        for (const Step& step : schedule.steps) {
            if (step.phase != phase) continue;
            if (step.name.empty() || !names.insert(step.name).second) {
                refuse("step " + step.name, "step names must be unique and not empty");
            }
            check_step(schedule, step);
            walk.take(step);
        }
        walk.end_phase();
        if (phase == Phase::epoch && schedule.output) walk.check_output(*schedule.output);
    }
}

}  // namespace gnnplan
