#include "planner/io/schedule_codec.hpp"

#include "planner/io/older_schedule.hpp"
#include "planner/io/plan_keys.hpp"
#include "planner/io/schedule_archives.hpp"

#include <gnnplan/ir/finishes.hpp>

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
    archive.optional("of_groups", space.of_groups);
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

// The fields that version 3 added.
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
        mark_finishes(schedule_);
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

Schedule decode_schedule(const Cursor& cursor, const Grid& grid, const Machine& machine, bool older) {
    Reader reader(cursor);
    Schedule schedule;
    schedule.grid = grid;
    schedule.blocking = machine.blocking;
    schedule.ranks_per_node = machine.ranks_per_node;
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
