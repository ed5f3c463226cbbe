#include "planner/io/fingerprint.hpp"

#include "planner/io/plan_keys.hpp"

#include <xxhash.h>
#include <array>
#include <cstdio>

namespace gnnplan::io {

std::string fingerprint(std::string_view bytes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "xxh64:%016llx",
                  static_cast<unsigned long long>(XXH64(bytes.data(), bytes.size(), 0)));
    return text.data();
}

std::string machine_fingerprint(const Machine& machine) { return fingerprint(canonical(encode(machine))); }

std::string content_fingerprint(Document document) {
    if (Document* fingerprints = document.find("fingerprints")) fingerprints->erase("content");
    return fingerprint(canonical(document));
}

}  // namespace gnnplan::io
