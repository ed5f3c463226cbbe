#include "planner/io/schedule_codec.hpp"

#include "planner/io/archive.hpp"
#include "planner/io/older_schedule.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/plan_keys.hpp"

#include <unordered_map>

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, Layout>& layout) {
    archive.field("rows", layout.rows);
    archive.field("columns", layout.columns);
    archive.field("partial", layout.partial);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Space>& space) {
    archive.field("name", space.name);
    archive.extent("rows", space.rows);
    archive.field("needed_of", space.needed_of);
    archive.optional("first_rows", space.first_rows);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Parameter>& parameter) {
    archive.field("name", parameter.name);
    archive.field("symbol", parameter.symbol);
    archive.field("shape", parameter.shape);
    archive.field("init", parameter.init);
    archive.field("decays", parameter.decays);
}

namespace {

constexpr std::size_t max_tensors = 1U << 16U;
constexpr std::size_t max_steps = 1U << 16U;
constexpr std::size_t max_operands = 16;  // of one list of a step

using TensorIds = std::unordered_map<std::string, TensorId>;

// Archives that write a tensor as its name. Steps call them as operation.hpp says.
class ScheduleWriter : public Writer {
public:
    explicit ScheduleWriter(const Schedule& schedule) : schedule_(schedule) {}

    void space(const char* key, const std::optional<int>& id) { named(key, schedule_.spaces, id); }
    void parameter(const char* key, const std::optional<int>& id) { named(key, schedule_.parameters, id); }
    void tensor(const char* key, TensorId id) { field(key, tensor_of(schedule_, id).name); }
    void tensor(const char* key, const std::optional<TensorId>& id) {
        field(key, id ? std::optional(tensor_of(schedule_, *id).name) : std::nullopt);
    }
    void tensor(const char* key, const std::vector<TensorId>& ids) {
        std::vector<std::string> names;
        names.reserve(ids.size());
        for (const TensorId id : ids) names.push_back(tensor_of(schedule_, id).name);
        field(key, names);
    }
    template <class Id>
    void reads(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void writes(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void updates(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class T>
    void value(const char* key, const T& value) {
        field(key, value);
    }
    template <class T>
    void identity(const char* key, const T& value) {
        field(key, value);
    }

private:
    template <class Named>
    void named(const char* key, const std::vector<Named>& table, const std::optional<int>& id) {
        field(key, id ? std::optional(table[static_cast<std::size_t>(*id)].name) : std::nullopt);
    }

    const Schedule& schedule_;
};

class ScheduleReader : public Reader {
public:
    // `schedule` as far as it has been read; `older`: written by an earlier version.
    ScheduleReader(const Cursor& cursor, const Schedule& schedule, const TensorIds& ids, bool older)
        : Reader(cursor), schedule_(schedule), ids_(ids), older_(older) {}

    void space(const char* key, std::optional<int>& id) { named(key, schedule_.spaces, id); }
    void parameter(const char* key, std::optional<int>& id) { named(key, schedule_.parameters, id); }

    void tensor(const char* key, TensorId& id) { id = find(member(key)); }
    void tensor(const char* key, std::optional<TensorId>& id) {
        const Cursor name = member(key);
        if (!name.is_null()) id = find(name);
    }
    void tensor(const char* key, std::vector<TensorId>& ids) {
        for (const Cursor& name : member(key).elements(max_operands)) ids.push_back(find(name));
    }
    template <class Id>
    void reads(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void writes(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void updates(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class T>
    void value(const char* key, T& value) {
        older_ ? optional(key, value) : field(key, value);
    }
    template <class T>
    void identity(const char* key, T& value) {
        if constexpr (std::is_same_v<T, double>) {
            any_number(key, value);
        } else {
            field(key, value);
        }
    }

private:
    TensorId find(const Cursor& name) const {
        const auto found = ids_.find(name.string());
        if (found == ids_.end()) name.fail("there is no tensor " + in_quotes(name.string()));
        return found->second;
    }

    template <class Named>
    void named(const char* key, const std::vector<Named>& table, std::optional<int>& id) {
        const Cursor name = member(key);
        if (name.is_null()) return;
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (table[i].name == name.string()) id = static_cast<int>(i);
        }
        if (!id) name.fail("there is no " + in_quotes(name.string()) + " in the schedule");
    }

    const Schedule& schedule_;
    const TensorIds& ids_;
    bool older_;
};

template <class Archive>
void describe_tensor(Archive& archive, Subject<Archive, Tensor>& tensor) {
    archive.field("name", tensor.name);
    archive.field("role", tensor.role);
    archive.field("dtype", tensor.dtype);
    archive.extent("rows", tensor.rows);
    archive.extent("columns", tensor.columns);
    archive.field("layout", tensor.layout);
    archive.field("transposed", tensor.transposed);
    archive.optional("sample", tensor.sample);
    archive.positive("splits", tensor.storage.splits);
    archive.optional("ahead", tensor.storage.ahead);
    archive.field("factored", tensor.storage.factored);
    archive.field("panel_columns", tensor.storage.panel_columns);
    archive.tensor("structure", tensor.structure);
}

// What version 3 added.
template <class Archive>
void describe_references(Archive& archive, Subject<Archive, Tensor>& tensor) {
    archive.space("space", tensor.space);
    archive.space("column_space", tensor.column_space);
    archive.parameter("parameter", tensor.parameter);
}

// The alternative of Operation called `kind`, its members zero.
template <std::size_t I = 0>
Operation operation_of(const std::string& kind, const Cursor& cursor) {
    if constexpr (I == std::variant_size_v<Operation>) {
        cursor.fail("there is no kind of step " + in_quotes(kind));
    } else {
        Operation operation(std::in_place_index<I>);
        return kind_of(operation) == kind ? operation : operation_of<I + 1>(kind, cursor);
    }
}

Document encode_tensor(const Schedule& schedule, const Tensor& tensor) {
    ScheduleWriter writer(schedule);
    describe_tensor(writer, tensor);
    describe_references(writer, tensor);
    return writer.take();
}

Document encode_step(const Schedule& schedule, const Step& step) {
    ScheduleWriter writer(schedule);
    writer.field("name", step.name);
    writer.field("kind", kind_of(step.operation));
    writer.field("phase", step.phase);
    writer.field("origin", step.origin);
    std::visit([&]<class S>(const S& operation) { S::fields(operation, writer); }, step.operation);
    return writer.take();
}

// Reads tensors and steps, which name each other, in their order.
class ScheduleDecoder {
public:
    ScheduleDecoder(Schedule& schedule, bool older) : schedule_(schedule), older_(older) {}

    void add_tensor(const Cursor& cursor) {
        ScheduleReader reader(cursor, schedule_, ids_, older_);
        Tensor tensor;
        describe_tensor(reader, tensor);
        if (older_) {
            reader.field("layer", layers_.emplace_back());
        } else {
            describe_references(reader, tensor);
        }
        reader.finish();
        if (!ids_.emplace(tensor.name, static_cast<TensorId>(ids_.size())).second)
            cursor.member("name").fail("another tensor has this name");
        schedule_.tensors.push_back(std::move(tensor));
    }

    void add_step(const Cursor& cursor) {
        ScheduleReader reader(cursor, schedule_, ids_, older_);
        Step step;
        reader.field("name", step.name);
        const Cursor kind = reader.member("kind");
        step.operation = operation_of(kind.string(), kind);
        reader.field("phase", step.phase);
        older_ ? reader.optional("origin", step.origin) : reader.field("origin", step.origin);
        std::visit([&]<class S>(S& operation) { S::fields(operation, reader); }, step.operation);
        reader.finish();
        schedule_.steps.push_back(std::move(step));
    }

    void set_output(const Cursor& name) {
        const auto found = ids_.find(name.string());
        if (found == ids_.end()) name.fail("there is no tensor " + in_quotes(name.string()));
        schedule_.output = found->second;
    }

    void finish() {
        if (older_) complete_older(schedule_, layers_);
    }

private:
    Schedule& schedule_;
    bool older_;
    TensorIds ids_;
    std::vector<int> layers_;
};

}  // namespace

Document encode_schedule(const Schedule& schedule) {
    Document tensors = Document::array();
    for (const Tensor& tensor : schedule.tensors) tensors.push(encode_tensor(schedule, tensor));
    Document steps = Document::array();
    for (const Step& step : schedule.steps) steps.push(encode_step(schedule, step));
    Document object = Document::object({{"numbering", encode(schedule.numbering)},
                                        {"spaces", encode(schedule.spaces)},
                                        {"parameters", encode(schedule.parameters)},
                                        {"tensors", tensors},
                                        {"steps", steps}});
    if (schedule.output) object.set("output", encode(tensor_of(schedule, *schedule.output).name));
    return object;
}

Schedule decode_schedule(const Cursor& cursor, const Grid& grid, const Blocking& blocking, bool older) {
    Reader reader(cursor);
    Schedule schedule;
    schedule.grid = grid;
    schedule.blocking = blocking;
    schedule.numbering = decode<Numbering>(reader.member("numbering"));
    if (!older) {
        reader.field("spaces", schedule.spaces);
        reader.field("parameters", schedule.parameters);
    }
    ScheduleDecoder decoder(schedule, older);
    for (const Cursor& element : reader.member("tensors").elements(max_tensors)) decoder.add_tensor(element);
    for (const Cursor& element : reader.member("steps").elements(max_steps)) decoder.add_step(element);
    if (!older && cursor.document().find("output") != nullptr) decoder.set_output(reader.member("output"));
    reader.finish();
    decoder.finish();
    return schedule;
}

}  // namespace gnnplan::io
