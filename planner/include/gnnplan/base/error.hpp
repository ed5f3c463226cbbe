// Errors a user can act on: what went wrong, where, and how to fix it.
#pragma once

#include <stdexcept>
#include <string>

namespace gnnplan {

// The kind of an error. The values are the exit codes of the tools (sysexits.h where one fits).
enum class ErrorCode : int {
    answer_no = 1,       // the question asked was answered "no"
    infeasible = 3,      // no plan fits in memory
    usage = 64,          // wrong flags or arguments
    data = 65,           // malformed input
    missing_input = 66,  // input does not exist or cannot be read
    unavailable = 69,    // MPI or another service is unavailable
    internal = 70,       // a bug of ours
    cannot_create = 73,  // output cannot be created
    io = 74,             // read or write failed half-way
    interrupted = 75,    // interrupted, resumable
    mismatch = 78,       // plan, data and launch do not match
};

// `what()` is the whole message: "WHERE: WHAT" and, when there is one, " (HINT)".
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& what, const std::string& where = {}, const std::string& hint = {})
        : std::runtime_error((where.empty() ? "" : where + ": ") + what + (hint.empty() ? "" : " (" + hint + ")")),
          code_(code),
          where_(where),
          hint_(hint) {}

    ErrorCode code() const { return code_; }
    const std::string& where() const { return where_; }
    const std::string& hint() const { return hint_; }

private:
    ErrorCode code_;
    std::string where_;
    std::string hint_;
};

// Checks an invariant of our own code; a violation is a bug, reported as ErrorCode::internal.
inline void ensure(bool condition, const char* what) {
    if (!condition) throw Error(ErrorCode::internal, std::string("internal error: ") + what);
}

}  // namespace gnnplan
