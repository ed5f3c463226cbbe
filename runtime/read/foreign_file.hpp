// Recognises files of other programs, which no reader takes, so that a message can say how to convert them.
#pragma once

#include "runtime/read/source.hpp"

#include <filesystem>

namespace gnnplan::data {

struct ForeignFile {
    const char* begin;    // the first bytes; "": known by its name alone
    const char* suffix;   // of names
    const char* name;     // "a Parquet file"
    const char* convert;  // the way to make a graph of it
};

// The form of other programs that a file begins as, or that a file in the folder is named as. Null where there is none.
const ForeignFile* foreign_file(const Source& source);

}  // namespace gnnplan::data
