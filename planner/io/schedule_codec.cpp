#include "planner/io/schedule_codec.hpp"

#include "planner/io/archive.hpp"
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

namespace {

constexpr std::size_t max_tensors = 1U << 16U;
constexpr std::size_t max_steps = 1U << 16U;

using TensorIds = std::unordered_map<std::string, TensorId>;

// Archives that write a tensor as its name. Steps call them as operation.hpp says.
class ScheduleWriter : public Writer {
public:
    explicit ScheduleWriter(const Schedule& schedule) : schedule_(schedule) {}

    void tensor(const char* key, TensorId id) { field(key, tensor_of(schedule_, id).name); }
    void tensor(const char* key, const std::optional<TensorId>& id) {
        field(key, id ? std::optional(tensor_of(schedule_, *id).name) : std::nullopt);
    }
    template <class Id>
    void reads(const char* key, const Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void writes(const char* key, const Id& id) {
        tensor(key, id);
    }
    void updates(const char* key, TensorId id) { tensor(key, id); }
    template <class T>
    void value(const char* key, const T& value) {
        field(key, value);
    }
    template <class T>
    void identity(const char* key, const T& value) {
        field(key, value);
    }

private:
    const Schedule& schedule_;
};

class ScheduleReader : public Reader {
public:
    ScheduleReader(const Cursor& cursor, const TensorIds& ids) : Reader(cursor), ids_(ids) {}

    void tensor(const char* key, TensorId& id) { id = find(member(key)); }
    void tensor(const char* key, std::optional<TensorId>& id) {
        const Cursor name = member(key);
        if (!name.is_null()) id = find(name);
    }
    template <class Id>
    void reads(const char* key, Id& id) {
        tensor(key, id);
    }
    template <class Id>
    void writes(const char* key, Id& id) {
        tensor(key, id);
    }
    void updates(const char* key, TensorId& id) { tensor(key, id); }
    template <class T>
    void value(const char* key, T& value) {
        field(key, value);
    }
    template <class T>
    void identity(const char* key, T& value) {
        field(key, value);
    }

private:
    TensorId find(const Cursor& name) const {
        const auto found = ids_.find(name.string());
        if (found == ids_.end()) name.fail("there is no tensor " + in_quotes(name.string()));
        return found->second;
    }

    const TensorIds& ids_;
};

template <class Archive>
void describe_tensor(Archive& archive, Subject<Archive, Tensor>& tensor) {
    archive.field("name", tensor.name);
    archive.field("role", tensor.role);
    archive.field("dtype", tensor.dtype);
    archive.extent("rows", tensor.rows);
    archive.extent("columns", tensor.columns);
    archive.field("layout", tensor.layout);
    archive.field("layer", tensor.layer);
    archive.field("transposed", tensor.transposed);
    archive.positive("splits", tensor.storage.splits);
    archive.field("factored", tensor.storage.factored);
    archive.field("panel_columns", tensor.storage.panel_columns);
    archive.tensor("structure", tensor.structure);
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
    return writer.take();
}

// `ids` of the tensors before it.
Tensor decode_tensor(const Cursor& cursor, const TensorIds& ids) {
    ScheduleReader reader(cursor, ids);
    Tensor tensor;
    describe_tensor(reader, tensor);
    reader.finish();
    return tensor;
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

Step decode_step(const Cursor& cursor, const TensorIds& ids) {
    ScheduleReader reader(cursor, ids);
    Step step;
    reader.field("name", step.name);
    const Cursor kind = reader.member("kind");
    step.operation = operation_of(kind.string(), kind);
    reader.field("phase", step.phase);
    reader.optional("origin", step.origin);  // plans of version 1 do not say
    std::visit([&]<class S>(S& operation) { S::fields(operation, reader); }, step.operation);
    reader.finish();
    return step;
}

}  // namespace

Document encode_schedule(const Schedule& schedule) {
    Document tensors = Document::array();
    for (const Tensor& tensor : schedule.tensors) tensors.push(encode_tensor(schedule, tensor));
    Document steps = Document::array();
    for (const Step& step : schedule.steps) steps.push(encode_step(schedule, step));
    return Document::object({{"numbering", encode(schedule.numbering)}, {"tensors", tensors}, {"steps", steps}});
}

Schedule decode_schedule(const Cursor& cursor, const Grid& grid) {
    Reader reader(cursor);
    Schedule schedule;
    schedule.grid = grid;
    schedule.numbering = decode<Numbering>(reader.member("numbering"));
    TensorIds ids;
    for (const Cursor& element : reader.member("tensors").elements(max_tensors)) {
        schedule.tensors.push_back(decode_tensor(element, ids));
        const bool is_new = ids.emplace(schedule.tensors.back().name, static_cast<TensorId>(ids.size())).second;
        if (!is_new) element.member("name").fail("another tensor has this name");
    }
    for (const Cursor& element : reader.member("steps").elements(max_steps)) {
        schedule.steps.push_back(decode_step(element, ids));
    }
    reader.finish();
    return schedule;
}

}  // namespace gnnplan::io
