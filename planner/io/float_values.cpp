#include "planner/io/float_values.hpp"

#include "planner/io/parse.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/half.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace gnnplan::io {
namespace {

[[noreturn]] void refuse(const std::string& name, std::size_t element, double value, const std::string& what,
                         const std::string& where) {
    throw Error(ErrorCode::data,
                "element " + std::to_string(element) + " of tensor " + in_quotes(name) + " is " + value_text(value) +
                    ", " + what,
                where);
}

// bfloat16 is the upper half of a float.
double of_bfloat(std::uint16_t bits) {
    const std::uint32_t all_bits = std::uint32_t{bits} << 16U;
    float value = 0;
    std::memcpy(&value, &all_bits, sizeof(value));
    return value;
}

template <class Stored, class Convert>
std::vector<float> converted(const StoredTensor& tensor, const std::string& where, const Convert& convert) {
    std::vector<float> values(tensor.bytes.size() / sizeof(Stored));
    for (std::size_t i = 0; i < values.size(); ++i) {
        Stored stored{};
        std::memcpy(&stored, tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
        const double value = convert(stored);
        if (!std::isfinite(value)) refuse(tensor.name, i, value, "not a finite number", where);
        if (std::abs(value) > std::numeric_limits<float>::max())
            refuse(tensor.name, i, value, "beyond what fp32 holds", where);
        values[i] = static_cast<float>(value);
    }
    return values;
}

}  // namespace

std::string value_text(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::vector<float> float_values(const StoredTensor& tensor, const std::string& where) {
    const auto as_it_is = [](auto value) { return static_cast<double>(value); };
    if (tensor.type == "F32") return converted<float>(tensor, where, as_it_is);
    if (tensor.type == "F64") return converted<double>(tensor, where, as_it_is);
    if (tensor.type == "F16") return converted<Half>(tensor, where, as_it_is);
    if (tensor.type == "BF16") return converted<std::uint16_t>(tensor, where, of_bfloat);
    throw Error(ErrorCode::data, "tensor " + in_quotes(tensor.name) + " is of type " + tensor.type, where,
                "F32, F64, F16 and BF16 are read");
}

void refuse_negative(const std::string& name, const std::vector<float>& values, const std::string& where) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] < 0) refuse(name, i, values[i], "and a mean of squares is not below 0", where);
    }
}

}  // namespace gnnplan::io
