#include "fuzz.hpp"
#include "runtime/read/npy.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace {

using namespace gnnplan;

// Reads the array as one type, in pieces.
template <class Number, class Read>
void read_all(std::span<const char> bytes, std::optional<std::int64_t> stored, Read&& read) {
    fuzz::expect_read_or_refused([&] {
        data::NpyReader reader(data::memory_input("input", bytes), stored);
        std::int64_t left = reader.header().count();
        std::vector<Number> piece(64);
        while (left > 0) {
            const auto count = static_cast<std::size_t>(std::min<std::int64_t>(left, 64));
            read(reader, std::span(piece).first(count));
            left -= static_cast<std::int64_t>(count);
        }
        reader.finish();
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const char> bytes = fuzz::as_text(data, size);
    for (const std::optional<std::int64_t> stored :
         {std::optional<std::int64_t>(), std::optional(static_cast<std::int64_t>(size))}) {
        read_all<std::int64_t>(bytes, stored,
                               [](data::NpyReader& r, std::span<std::int64_t> out) { r.read_integers(out); });
        read_all<double>(bytes, stored, [](data::NpyReader& r, std::span<double> out) { r.read_doubles(out); });
        read_all<float>(bytes, stored, [](data::NpyReader& r, std::span<float> out) { r.read_floats(out); });
        read_all<char>(bytes, stored, [](data::NpyReader& r, std::span<char>) { r.read_text(); });
    }
    return 0;
}
