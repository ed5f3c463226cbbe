// Bytes on huge pages where there are many: rows gathered from anywhere then miss the translation cache less often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace gnnplan::kernels {

// Not initialised, aligned to 64 bytes at least. Throws OutOfMemory, a std::bad_alloc. free_large() takes it back.
std::byte* allocate_large(std::size_t bytes);
void free_large(std::byte* data);

class LargeBuffer {
public:
    LargeBuffer() = default;
    explicit LargeBuffer(std::size_t bytes) : size_(bytes), data_(allocate_large(bytes)) {}

    std::size_t size() const { return size_; }
    std::byte* data() const { return data_.get(); }

private:
    struct Free {
        void operator()(std::byte* data) const { free_large(data); }
    };

    std::size_t size_ = 0;
    std::unique_ptr<std::byte, Free> data_;
};

}  // namespace gnnplan::kernels
