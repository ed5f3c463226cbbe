// Vectors for arrays as long as a graph has edges: growing them writes nothing into what is new, so that the threads
// that fill an array are the first to touch it, and they lie on huge pages where they are long.
#pragma once

#include "kernels/large_buffer.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnnplan::kernels {

template <class T>
class LargeAllocator {
public:
    using value_type = T;
    static_assert(std::is_trivially_copyable_v<T>);

    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators have it

    T* allocate(std::size_t count) { return reinterpret_cast<T*>(allocate_large(count * sizeof(T))); }
    void deallocate(T* data, std::size_t) { free_large(reinterpret_cast<std::byte*>(data)); }

    // An element without a value is left as the memory is.
    template <class U>
    void construct(U* element) {
        ::new (static_cast<void*>(element)) U;
    }
    template <class U, class... Arguments>
    void construct(U* element, Arguments&&... arguments) {
        ::new (static_cast<void*>(element)) U(std::forward<Arguments>(arguments)...);
    }

    template <class U>
    bool operator==(const LargeAllocator<U>&) const {
        return true;
    }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace gnnplan::kernels
