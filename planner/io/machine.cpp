#include "planner/io/machine.hpp"

#include "planner/io/parse.hpp"
#include "planner/io/plan_keys.hpp"

namespace gnnplan::io {

std::string write_machine(const Machine& machine) {
    Writer writer;
    writer.field("schema", machine_schema);
    describe(writer, machine);
    return dump(writer.take(), 1) + "\n";
}

Machine read_machine(std::string_view text, const std::string& where) {
    const Document document = parse(text, where);
    const Cursor root(document, where);
    expect_schema(root, machine_schema);
    Reader reader(root);
    reader.member("schema");
    Machine machine;
    describe(reader, machine);
    reader.finish();
    try {
        validate(machine);
    } catch (const Error& error) {
        root.fail(error.what());
    }
    return machine;
}

}  // namespace gnnplan::io
