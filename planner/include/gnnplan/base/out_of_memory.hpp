// Lack of memory, said the same way wherever it strikes.
#pragma once

#include <gnnplan/base/error.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

namespace gnnplan {

// Memory that was not to be had, how much was asked for, and of which kind. Making one takes no memory.
class OutOfMemory : public std::bad_alloc {
public:
    explicit OutOfMemory(std::size_t bytes, const char* kind = "memory") noexcept {
        constexpr double mebibyte = 1 << 20;
        std::snprintf(text_.data(), text_.size(), "%.3g MiB of %s in one piece were not to be had",
                      static_cast<double>(bytes) / mebibyte, kind);
    }
    const char* what() const noexcept override { return text_.data(); }

private:
    std::array<char, 96> text_{};
};

// The user's message, with ErrorCode::infeasible: "out of memory: 20.6 MiB of memory in one piece were not to be had".
inline Error memory_error(const std::string& why) {
    return {ErrorCode::infeasible,
            "out of memory" + (why.empty() ? "" : ": " + why),
            {},
            "use more ranks, or plan with `memory`; `run/dry-run` says what a plan needs"};
}
inline Error memory_error(const std::bad_alloc& failure) {
    const std::string_view what = failure.what();
    return memory_error(what == std::bad_alloc().what() ? std::string() : std::string(what));
}
inline Error thread_error() {
    return {ErrorCode::infeasible,
            "out of memory: the system refused a thread",
            {},
            "memory or processes are limited, see ulimit -a; use fewer `threads`, or a smaller OMP_STACKSIZE"};
}

}  // namespace gnnplan
