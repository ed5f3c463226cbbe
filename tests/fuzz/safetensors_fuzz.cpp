#include "fuzz.hpp"
#include "planner/io/checkpoint.hpp"
#include "planner/io/safetensors.hpp"

#include <xxhash.h>

#include <string>

namespace {

// With the hash that a checkpoint would end with, so that what is behind it is reached, too.
std::string resealed(std::string file) {
    constexpr std::size_t hash_bytes = 8;
    if (file.size() < hash_bytes) return file;
    file.resize(file.size() - hash_bytes);
    const XXH64_hash_t hash = XXH3_64bits(file.data(), file.size());
    for (unsigned shift = 64; shift > 0; shift -= 8) file += static_cast<char>(hash >> (shift - 8) & 0xFFU);
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnnplan;
    const std::string file(reinterpret_cast<const char*>(data), size);
    fuzz::expect_read_or_refused([&] {
        const io::Safetensors content = io::read_safetensors(file, "input");
        // Content that was read is written and read again to the same.
        const std::string again = io::write_safetensors(content);
        fuzz::check(io::read_safetensors(again, "again").tensors.size() == content.tensors.size(), "tensors");
    });
    fuzz::expect_read_or_refused([&] { io::read_weights(file, "input"); });
    fuzz::expect_read_or_refused([&] { io::read_content(resealed(file), "input"); });
    fuzz::expect_read_or_refused([&] {
        const io::Checkpoint checkpoint = io::read_checkpoint(resealed(file), "input");
        fuzz::check(std::ssize(checkpoint.state.epochs) == checkpoint.state.epoch, "epochs");
    });
    return 0;
}
