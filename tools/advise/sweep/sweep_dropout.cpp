#include "tools/advise/sweep/sweep_dropout.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/feature_dropout.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gnnplan::tools {
namespace {

double seconds_of(const RankedConfiguration& ranked) { return ranked.predicted.ranked_seconds(); }

// "takes 1.7 to 3.7 times as long", or "is 2.9 to 3.8 times as fast"; one number where the digits are the same.
std::string factors_text(double least, double most) {
    const bool faster = most < 1;
    if (faster) {
        std::swap(least, most);
        least = 1 / least;
        most = 1 / most;
    }
    const std::string low = fmt::format("{:.2g}", least), high = fmt::format("{:.2g}", most);
    return fmt::format("{} {} times as {}", faster ? "is" : "takes", low == high ? low : low + " to " + high,
                       faster ? "fast" : "long");
}

}  // namespace

std::string dropout_sentence(const Sweep& sweep) {
    std::vector<double> factors;
    const SweepPoint* fastest = nullptr;
    std::ptrdiff_t over = 0;
    for (const SweepPoint& point : sweep.points) {
        if (point.otherwise_over_memory) ++over;
        if (!point.otherwise) continue;
        factors.push_back(seconds_of(*point.otherwise) / seconds_of(*point.best));
        if (fastest == nullptr || seconds_of(*point.otherwise) < seconds_of(*fastest->otherwise)) fastest = &point;
    }
    if (factors.empty() && over == 0) return "";
    std::string text = other_dropout_words(sweep.problem.run);
    if (!factors.empty()) {
        const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
        text += fmt::format(" an epoch {}", factors_text(*least, *most));
    }
    if (fastest != nullptr && races_of(sweep).size() == 1) {
        const Configuration& c = fastest->otherwise->configuration;
        const std::string where = short_text(sweep.variations, fastest->at, {});
        text += fmt::format("; the fastest is then {} {} {}, {}{}", scheme_of(c), c.grid.text(), orders_text(c),
                            format_seconds(seconds_of(*fastest->otherwise), sweep.machine_of(*fastest)),
                            where.empty() ? "" : " (" + where + ")");
    }
    if (over > 0)
        text +=
            fmt::format("{} at {} of {} points nothing fits", factors.empty() ? "" : ";", over, sweep.points.size());
    return text;
}

}  // namespace gnnplan::tools
