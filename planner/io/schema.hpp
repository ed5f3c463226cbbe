// These functions tell kinds of files apart, and say what to do with one that was given in place of another.
#pragma once

#include "planner/io/cursor.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gnnplan::io {

// Checks that `root` is an object whose "schema" is FAMILY/VERSION, e.g. "gnnplan.plan/4", or one of the older versions
// of the family that are still read. Throws Error{data}: of another version, of another kind (see refuse_kind), or of
// none that is known.
void expect_schema(const Cursor& root, std::string_view schema, std::span<const std::string_view> older = {});

// The "schema" of a text, whatever it is: which reader to call. Throws Error{data} when there is none.
std::string schema_of(std::string_view text, const std::string& where);

// Throws Error{data} that says what the file is and which question takes it: "run.json is a run report:
// `explain/analyze` run.json". `readable` names the schemas that would have been read here.
[[noreturn]] void refuse_kind(const std::string& file, std::string_view schema, const std::string& readable);

}  // namespace gnnplan::io
