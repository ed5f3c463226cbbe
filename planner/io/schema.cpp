#include "planner/io/schema.hpp"

#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>

namespace gnnplan::io {
namespace {

std::string_view family_of(std::string_view schema) { return schema.substr(0, schema.find('/')); }

struct Kind {
    std::string_view family;
    const char* what;
    const char* question;  // that takes such a file
};
// Every schema of a JSON object of ours; docs/plan-format.md and docs/json-output.md say what is in each.
constexpr std::array<Kind, 20> kinds{{
    {"gnnplan.plan", "a plan", "`explain/`"},
    {"gnnplan.run", "a run report", "`explain/analyze`"},
    {"gnnplan.machine", "a machine profile", "`plan/machine`"},
    {"gnnplan.ranking", "the table of a plan, not the plan", ""},
    {"gnnplan.explanation", "what `explain/json` printed of a plan", ""},
    {"gnnplan.analysis", "what `explain/json` printed of a run", ""},
    {"gnnplan.sweep", "what `sweep/json` printed", ""},
    {"gnnplan.enumeration", "what `enumerate/json` printed", ""},
    {"gnnplan.infeasible", "what `plan/json` printed where nothing fits", ""},
    {"gnnplan.comparison", "what `compare/json` printed", ""},
    {"gnnplan.validation", "what `validate/json` printed", ""},
    {"gnnplan.graph", "what `graph-info/json` printed", ""},
    {"gnnplan.generated", "what `graph-generate/json` printed", ""},
    {"gnnplan.datasets", "what `datasets/json` printed", ""},
    {"gnnplan.dataset", "what `datasets-show/json` printed", ""},
    {"gnnplan.machines", "what `machines-list/json` printed", ""},
    {"gnnplan.calibrations", "what `machines/json` printed", ""},
    {"gnnplan.dry-run", "what `run/dry-run` printed", ""},
    {"gnnplan.layers", "the index of saved layers", ""},
    {"gnnplan.embeddings", "the index of embeddings in parts", ""},
}};

}  // namespace

void refuse_kind(const std::string& file, std::string_view schema, const std::string& readable) {
    const auto* kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.family == family_of(schema); });
    if (kind == kinds.end()) {
        throw Error(ErrorCode::data, "unknown schema " + in_quotes(schema), file + ": schema",
                    "this program reads " + readable);
    }
    const std::string question = kind->question;
    throw Error(ErrorCode::data,
                file + " is " + kind->what +
                    (question.empty() ? "; this program reads " + readable : ": " + question + " " + file));
}

void expect_schema(const Cursor& root, std::string_view schema, std::span<const std::string_view> older) {
    const Cursor found = root.member("schema");
    const std::string& name = found.string();
    if (name == schema || std::find(older.begin(), older.end(), name) != older.end()) return;
    if (family_of(name) == family_of(schema)) {
        std::string also;
        for (const std::string_view version : older) {
            also += version == older.back() ? " and " : ", ";
            also += version;
        }
        found.fail("unknown version " + in_quotes(name), "this program reads " + std::string(schema) + also);
    }
    refuse_kind(root.file(), name, std::string(schema));
}

std::string schema_of(std::string_view text, const std::string& where) {
    const Document document = parse(text, where);
    return Cursor(document, where).member("schema").string();
}

}  // namespace gnnplan::io
