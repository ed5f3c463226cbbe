// Binary files of other programs, known by their first bytes.
#pragma once

#include "runtime/read/source.hpp"

namespace gnnplan::data {

struct ForeignBinary {
    const char* what = nullptr;  // "a Parquet file"; null for files of no known form
    const char* hint = nullptr;  // how to turn it into something that is read
};

ForeignBinary foreign_binary(const Source& source);

}  // namespace gnnplan::data
