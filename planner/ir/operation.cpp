// Reading guide: a question to a step goes to its kind; what a kind does not mention has the answer that operation.hpp
// says most have.
#include <gnnplan/ir/operation.hpp>

#include <gnnplan/ir/schedule.hpp>

#include <algorithm>
#include <concepts>

namespace gnnplan {
namespace {

// Lists what a step reads and writes.
class OperandLister {
public:
    void reads(const char*, TensorId id) { operands_.reads.push_back(id); }
    void writes(const char*, TensorId id) { operands_.writes.push_back(id); }
    template <class Id>
    void updates(const char* key, const Id& id) {
        reads(key, id), writes(key, id);
    }
    void reads(const char*, const std::vector<TensorId>& ids) {
        operands_.reads.insert(operands_.reads.end(), ids.begin(), ids.end());
    }
    void writes(const char*, const std::vector<TensorId>& ids) {
        operands_.writes.insert(operands_.writes.end(), ids.begin(), ids.end());
    }
    void reads(const char* key, const std::optional<TensorId>& id) {
        if (id) reads(key, *id);
    }
    void writes(const char* key, const std::optional<TensorId>& id) {
        if (id) writes(key, *id);
    }
    void may_read(const char* key, const std::optional<TensorId>& id) { reads(key, id); }
    template <class T>
    void value(const char*, const T&) {}
    template <class T>
    void optional(const char*, const T&) {}
    template <class T>
    void identity(const char*, const T&) {}
    template <class T>
    void derived(const T&) {}
    Operands take() { return std::move(operands_); }

private:
    Operands operands_;
};

// Writes down what decides a step's time and bytes, and nothing that only tells otherwise equal steps apart.
class Signature {
public:
    explicit Signature(const Schedule& schedule) : schedule_(schedule) {
        add(schedule.grid.x), add(schedule.grid.y), add(schedule.grid.z);
        add(static_cast<std::int64_t>(schedule.grid.nearest));
    }

    void add(std::int64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof(number)); }
    void reads(const char*, TensorId id) { add(tensor_of(schedule_, id)); }
    void writes(const char*, TensorId id) { add(tensor_of(schedule_, id)); }
    void reads(const char*, const std::vector<TensorId>& ids) { add(ids); }
    void writes(const char*, const std::vector<TensorId>& ids) { add(ids); }
    template <class Id>
    void updates(const char* key, const Id& id) {
        reads(key, id);
    }
    void reads(const char*, const std::optional<TensorId>& id) { id ? add(tensor_of(schedule_, *id)) : add(-1); }
    void writes(const char*, const std::optional<TensorId>& id) { id ? add(tensor_of(schedule_, *id)) : add(-1); }
    void may_read(const char* key, const std::optional<TensorId>& id) { reads(key, id); }
    template <class T>
    void value(const char*, const T& value) {
        add(static_cast<std::int64_t>(value));
    }
    template <class T>
    void optional(const char* key, const T& of) {
        value(key, of);
    }
    template <class T>
    void identity(const char*, const T&) {}
    void derived(bool value) { add(value ? 1 : 0); }
    std::string take() { return std::move(text_); }

private:
    void add(const std::vector<TensorId>& ids) {
        add(std::ssize(ids));
        for (const TensorId id : ids) add(tensor_of(schedule_, id));
    }
    void add(const Axes& axes) {
        std::int64_t code = axes.size();
        for (const Axis axis : axes) code = 4 * code + static_cast<std::int64_t>(axis);
        add(code);
    }
    void add(const Tensor& tensor) {
        add(tensor.rows), add(tensor.columns);
        add(static_cast<std::int64_t>(tensor.dtype) * 2 + (tensor.transposed ? 1 : 0)), add(tensor.sample);
        add(tensor.layout.rows), add(tensor.layout.columns), add(tensor.layout.partial);
        if (has_counted_rows(tensor.role) && tensor.structure) add(tensor_of(schedule_, *tensor.structure));
        if (tensor.role != Role::adjacency) return;
        add(tensor.storage.panel_columns * 2 + (tensor.storage.factored ? 1 : 0));
        add(tensor.storage.splits);
        add(tensor.storage.ahead);
    }

    const Schedule& schedule_;
    std::string text_;
};

// The kind's answer, or `otherwise` for kinds that cannot be asked.
template <class Answer, class Ask>
Answer answer(const Operation& operation, Answer otherwise, const Ask& ask) {
    return std::visit(
        [&]<class S>(const S& step) -> Answer {
            if constexpr (std::invocable<const Ask&, const S&>) return ask(step);
            return otherwise;
        },
        operation);
}

}  // namespace

std::string_view kind_of(const Operation& operation) {
    return std::visit([]<class S>(const S&) { return S::kind; }, operation);
}

Operands operands_of(const Operation& operation) {
    OperandLister lister;
    std::visit([&]<class S>(const S& step) { S::fields(step, lister); }, operation);
    return lister.take();
}

TensorId subject_of(const Operation& operation) {
    return std::visit([](const auto& step) { return step.subject(); }, operation);
}

std::string signature_of(const Schedule& schedule, const Operation& operation) {
    Signature signature(schedule);
    signature.add(static_cast<std::int64_t>(operation.index()));
    std::visit([&]<class S>(const S& step) { S::fields(step, signature); }, operation);
    return signature.take();
}

std::vector<int> exchange_group(const Schedule& schedule, const Operation& operation, int rank) {
    return std::visit(
        [&]<class S>(const S& step) -> std::vector<int> {
            if constexpr (LocalStep<S>) {
                return {rank};
            } else if constexpr (requires { step.group(schedule, rank); }) {
                return step.group(schedule, rank);
            } else {
                std::vector<int> group = step.peers(schedule, rank);
                group.push_back(rank);
                std::sort(group.begin(), group.end());
                return group;
            }
        },
        operation);
}

const SpmmStep* product_of(const Operation& operation) { return std::get_if<SpmmStep>(&operation); }

std::optional<TensorId> requested_rows(const Operation& operation) {
    return answer<std::optional<TensorId>>(
        operation, {}, [](const auto& s) -> decltype(s.requested_rows()) { return s.requested_rows(); });
}

std::optional<TensorId> summed(const Operation& operation) {
    return answer<std::optional<TensorId>>(operation, {},
                                           [](const auto& s) -> decltype(s.summed()) { return s.summed(); });
}

std::optional<TensorId> logits_of(const Operation& operation) {
    return answer<std::optional<TensorId>>(operation, {},
                                           [](const auto& s) -> decltype(s.logits_of()) { return s.logits_of(); });
}

std::optional<TensorId> dropped_features(const Operation& operation) {
    return answer<std::optional<TensorId>>(
        operation, {}, [](const auto& s) -> decltype(s.dropped_features()) { return s.dropped_features(); });
}

bool varies_with_rank(const Operation& operation) {
    return answer(operation, false, [](const auto& s) -> decltype(s.varies_with_rank) { return s.varies_with_rank; });
}

bool depends_on_graph(const Schedule& schedule, const Operation& operation) {
    return answer(operation, false, [&](const auto& s) -> decltype(s.depends_on_graph(schedule)) {
        return s.depends_on_graph(schedule);
    });
}

Collective collective_of(const Schedule& schedule, const Operation& operation, int rank) {
    return answer(operation, Collective::none, [&](const auto& s) -> decltype(s.collective(schedule, rank)) {
        return s.collective(schedule, rank);
    });
}

Wire wire_of(const Operation& operation) {
    return answer(operation, Wire::fp32, [](const auto& step) -> decltype(step.wire) { return step.wire; });
}

bool may_narrow(const Schedule& schedule, const Step& step) {
    if (step.phase == Phase::setup) return false;
    const auto outputs = operands_of(step.operation).writes;
    if (schedule.output && std::ranges::find(outputs, *schedule.output) != outputs.end() &&
        product_of(step.operation) == nullptr)
        return false;
    return answer(step.operation, false,
                  [&](const auto& s) -> decltype(s.can_narrow(schedule)) { return s.can_narrow(schedule); });
}

void set_wire(Schedule& schedule, Wire wire) {
    for (Step& each : schedule.steps) {
        const bool narrows = may_narrow(schedule, each);
        std::visit(
            [&]<class S>(S& step) {
                if constexpr (requires { step.wire; }) step.wire = narrows ? wire : Wire::fp32;
            },
            each.operation);
    }
}

bool moves_across_groups(const Schedule& schedule, const Operation& operation) {
    return answer(operation, false,
                  [&](const auto& s) -> decltype(s.across_groups(schedule)) { return s.across_groups(schedule); });
}

std::optional<TensorId> redistributed(const Operation& operation) {
    return answer<std::optional<TensorId>>(
        operation, {}, [](const auto& s) -> decltype(s.redistributed()) { return s.redistributed(); });
}

bool in_background(const Operation& operation) {
    return answer(operation, false, [](const auto& s) -> decltype(s.in_background()) { return s.in_background(); });
}

std::vector<TensorId> tiled(const Operation& operation) {
    return answer<std::vector<TensorId>>(operation, {}, [](const auto& s) -> decltype(s.tiled()) { return s.tiled(); });
}

std::optional<std::pair<TensorId, TensorId>> reordered_edges(const Schedule& schedule, const Operation& operation) {
    return answer<std::optional<std::pair<TensorId, TensorId>>>(
        operation, {},
        [&](const auto& s) -> decltype(s.reordered_edges(schedule)) { return s.reordered_edges(schedule); });
}

}  // namespace gnnplan
