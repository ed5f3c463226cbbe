// Exceptions of the standard library that a user can act on.
#pragma once

#include <gnnplan/base/out_of_memory.hpp>

#include <filesystem>
#include <optional>
#include <system_error>

namespace gnnplan {

// The Error for lack of memory or of threads, and for paths that the system refuses; nothing for other exceptions.
inline std::optional<Error> known_error(const std::exception& failure) {
    if (const auto* memory = dynamic_cast<const std::bad_alloc*>(&failure)) return memory_error(*memory);
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&failure))
        return Error(ErrorCode::missing_input, file->code().message(), file->path1().string());
    const auto* system = dynamic_cast<const std::system_error*>(&failure);
    const bool of_thread = system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                                                 system->code() == std::errc::not_enough_memory);
    return of_thread ? std::optional(thread_error()) : std::nullopt;
}

}  // namespace gnnplan
