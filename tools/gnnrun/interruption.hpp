// Ctrl-C and the signals of batch systems end a run after the epoch under way instead of losing it.
#pragma once

#include <optional>
#include <string>

namespace gnnplan::tools {

// From now on the first SIGINT, SIGTERM, SIGUSR1, SIGUSR2 or SIGHUP is remembered; a second one, of whichever of them,
// ends the process at once, as it would have without this call. With `says_so` the first one is answered on stderr.
void catch_interruptions(bool says_so);

// "interrupted by SIGTERM", once there was a signal. What no thread but the handler changes, all may ask.
std::optional<std::string> interruption();

}  // namespace gnnplan::tools
