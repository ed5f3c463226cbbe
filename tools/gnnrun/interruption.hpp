// Ctrl-C and the signals of batch systems end a run after the epoch under way, or the step of an inference, instead of
// losing it.
#pragma once

#include <optional>
#include <string>

namespace gnnplan::tools {

// From now on the first SIGINT, SIGTERM, SIGUSR1, SIGUSR2 or SIGHUP is remembered; a second signal, whichever of these
// it is, ends the process at once, as it would have without this call. The first signal prints `answer` on stderr,
// unless it is null; the text has to outlive the process's work.
void catch_interruptions(const char* answer);

// "interrupted by SIGTERM", once there was a signal. Any thread may ask, as only the handler changes it.
std::optional<std::string> interruption();

}  // namespace gnnplan::tools
