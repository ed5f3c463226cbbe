// Fingerprints tell whether two things are the same; they are no protection against an adversary.
#pragma once

#include "planner/io/document.hpp"

#include <gnnplan/ir/machine.hpp>

#include <string>
#include <string_view>

namespace gnnplan::io {

// XXH64 of the bytes: "xxh64:" and 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

// The fingerprint of a machine profile does not depend on how its file is spaced and ordered.
std::string machine_fingerprint(const Machine& machine);

// The fingerprint of a file's document is taken without its "fingerprints.content", where the result belongs.
std::string content_fingerprint(Document document);

}  // namespace gnnplan::io
