// The safetensors format (https://huggingface.co/docs/safetensors): eight bytes with the length of a header in JSON,
// the header, then the values of all tensors without gaps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::io {

struct StoredTensor {
    std::string name;
    std::string type;  // "F32", "F64", "U8", ...
    std::vector<std::int64_t> shape;
    std::string_view bytes;  // little-endian, row-major
};

struct Safetensors {
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<StoredTensor> tensors;  // in the order of their bytes
};

// Everything of a file before the values: tensors follow in their order.
std::string safetensors_header(const Safetensors& content);
std::string write_safetensors(const Safetensors& content);

// Whether a file begins like one: with a length that it has room for, and an object.
bool is_safetensors(std::string_view file);

// The tensors refer to `file`, which must outlive them. Throws Error{data} when the header is no JSON of this form,
// names an unknown type, or the values of the tensors overlap, leave gaps or do not end with the file.
Safetensors read_safetensors(std::string_view file, const std::string& where);

}  // namespace gnnplan::io
