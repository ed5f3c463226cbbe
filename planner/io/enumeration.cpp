#include "planner/io/enumeration.hpp"

#include "planner/io/plan_keys.hpp"

namespace gnnplan::io {
namespace {

Document encode_configuration(const EnumeratedConfiguration& configuration) {
    Writer writer;
    writer.field("id", configuration.id);
    writer.field("forward", configuration.forward);
    writer.field("backward", configuration.backward);
    writer.field("redistribution_units", configuration.redistribution_units);
    writer.field("sparse_units", configuration.sparse_units);
    writer.field("communication_elements", configuration.communication_elements);
    writer.field("spmm_ops", configuration.spmm_ops);
    writer.field("pareto", configuration.pareto);
    if (configuration.configuration) writer.field("total_bytes", configuration.total_bytes);
    Document object = writer.take();
    if (configuration.configuration) {
        const Document details = encode(*configuration.configuration);
        for (const auto& [key, value] : *details.get_if<Document::Object>()) {
            if (object.find(key) == nullptr) object.set(key, value);
        }
    }
    return object;
}

}  // namespace

std::string write_enumeration(const EnumerationDocument& enumeration) {
    Writer writer;
    writer.field("schema", enumeration_schema);
    writer.field("tool_version", enumeration.tool_version);
    writer.field("command_line", enumeration.command_line);
    writer.field("vertices", enumeration.vertices);
    writer.field("nonzeros", enumeration.nonzeros);
    writer.field("ranks", enumeration.ranks);
    writer.field("replication", enumeration.replication);
    writer.field("scheme", enumeration.scheme);
    writer.field("space", enumeration.space);
    writer.field("widths", enumeration.widths);
    writer.field("truncated", enumeration.truncated);
    Document root = writer.take();
    Document configurations = Document::array();
    for (const auto& configuration : enumeration.configurations)
        configurations.push(encode_configuration(configuration));
    root.set("configurations", std::move(configurations));
    return dump(root, 1) + "\n";
}

}  // namespace gnnplan::io
