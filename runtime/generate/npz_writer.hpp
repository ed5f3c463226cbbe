// Writes .npz archives whose arrays are produced while they are compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct zip;

namespace gnnplan::data {

// Fills the buffer with the next bytes of an array; fewer than asked only at its end. Called again from the start
// (`restart`) when the archive is written.
struct ArrayBytes {
    std::function<void()> restart;
    std::function<std::size_t(std::span<char>)> next;
};

class NpzWriter {
public:
    // Throws ErrorCode::cannot_create when the file cannot be created.
    explicit NpzWriter(const std::filesystem::path& path);

    // `type` is NumPy's: "<i8", "<f4". C order.
    void add(const std::string& array, const std::string& type, const std::vector<std::int64_t>& shape,
             ArrayBytes bytes);
    // Writes everything. Throws ErrorCode::io when that fails.
    void close();

private:
    std::filesystem::path path_;
    std::unique_ptr<zip, void (*)(zip*)> archive_;
};

}  // namespace gnnplan::data
