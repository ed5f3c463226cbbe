// Whether addresses are to be had, before a library is called that hangs or crashes when they are not.
#pragma once

#include <cstddef>

namespace gnnplan::comm {

// Whether the process may map so many bytes more (ulimit -v, -d). Takes no memory.
bool has_room(std::size_t bytes);
// Throws OutOfMemory when it may not.
void require_room(std::size_t bytes);

}  // namespace gnnplan::comm
