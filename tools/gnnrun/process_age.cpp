#include "tools/gnnrun/process_age.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace gnnplan::tools {

double process_age() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE ...": names hold anything
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(text.substr(name_end + 1));
    constexpr int before_start = 19;  // the start is the 22nd field, the state the 3rd: proc(5)
    std::string skipped;
    for (int i = 0; i < before_start; ++i) fields >> skipped;
    double ticks = 0;  // from the system's start
    const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    timespec now{};
    if (!(fields >> ticks) || ticks_per_second <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
    const double seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    return std::max(0.0, seconds - ticks / ticks_per_second);
}

}  // namespace gnnplan::tools
