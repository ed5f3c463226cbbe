#include "runtime/calibrate/calibrate.hpp"

#include "runtime/calibrate/pace.hpp"
#include "runtime/calibrate/points.hpp"
#include "runtime/calibrate/probe.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t kib = 1024;  // bytes

// From `first` to `last`, each `factor` times the one before; `largest` if that is less than the first.
std::vector<std::int64_t> sizes(std::int64_t first, std::int64_t last, std::int64_t factor, std::int64_t largest) {
    std::vector<std::int64_t> all;
    for (std::int64_t size = first; size <= std::min(last, largest); size *= factor) all.push_back(size);
    if (all.empty()) all.push_back(largest);
    return all;
}

}  // namespace

Scope quick_scope(std::int64_t largest) {
    return {{0.1, 3},
            largest,
            {16, 41, 64, 100, 128, 250, 256, 602},
            sizes(256 * kib, 256 * mib, 4, largest),
            {8, 40, 128, 602},
            sizes(mib, 256 * mib, 4, largest),
            sizes(64, 64 * mib, 4, largest),
            60,
            10};
}

Scope full_scope(std::int64_t largest) {
    return {{0.5, 7},
            largest,
            {8, 16, 32, 41, 64, 100, 128, 250, 256, 602},
            sizes(256 * kib, 256 * mib, 2, largest),
            {8, 40, 64, 100, 128, 256, 602},
            sizes(512 * kib, 256 * mib, 2, largest),
            sizes(64, 64 * mib, 2, largest)};
}

Scope quick_device_scope(std::int64_t largest) {
    Scope scope = quick_scope(largest);
    scope.effort = {0.01, 3};
    scope.windows = sizes(mib, 2048 * mib, 8, largest);
    scope.streams = sizes(mib, 1024 * mib, 8, largest);
    scope.limit = 30;
    return scope;
}

Scope full_device_scope(std::int64_t largest) {
    Scope scope = full_scope(largest);
    scope.effort = {0.03, 5};
    scope.windows = sizes(mib, 2048 * mib, 2, largest);
    scope.streams = sizes(mib, 1024 * mib, 4, largest);
    return scope;
}

namespace {

std::vector<std::size_t> order_of(const Points& points, bool limited) {
    std::vector<bool> needed;
    for (const Point& point : points) needed.push_back(point.needed);
    if (limited) return order_of_need(needed);
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

// Measures point by point, and the figures of a probe every now and then.
class Measuring {
public:
    Measuring(const Setting& setting, const Nodes& nodes, const Scope& scope)
        : setting_(setting),
          paced_(setting),
          scope_(scope),
          points_(points_of(paced_, nodes, scope)),
          start_(setting.clock.now()),
          found_(points_.size()),
          probe_({setting.comm, setting.clock, setting.device, pilot_effort(setting.effort)}, nodes, scope.largest) {}

    Measured run(const Progress& progress) {
        Measured measured{{}, points_.size(), 0};
        pilot();
        std::size_t done = 0;
        for (const std::size_t i : order_of(points_, scope_.limit > 0)) {
            const double now = elapsed();
            if (scope_.limit > 0 && now >= scope_.limit && !points_[i].needed) {
                ++measured.left_out;
                continue;
            }
            if (now - pilots_.back().when >= scope_.pilot_every) next_pilot();
            if (scope_.limit > 0)
                paced_.effort = hurried(setting_.effort, scope_.limit - now, points_.size() - done - measured.left_out);
            progress(points_[i].what, done++, points_.size());
            measure(i);
        }
        next_pilot();
        collect(measured);
        return measured;
    }

private:
    struct Found {
        std::vector<Sample> samples;
        double when = 0;  // in the middle of measuring them
    };

    // A pilot takes no longer than a point does.
    static Effort pilot_effort(const Effort& effort) {
        return effort.seconds < probe_effort.seconds ? effort : probe_effort;
    }
    // The clock that shows most among the ranks counts.
    double elapsed() const { return comm::control_max(setting_.comm, setting_.clock.now() - start_); }

    void measure(std::size_t i) {
        Found found{{}, elapsed()};
        points_[i].measure(found.samples);
        found.when = (found.when + elapsed()) / 2;
        found_[i] = std::move(found);
        since_pilot_.push_back(i);
    }

    void pilot() {
        const double before = elapsed();
        const ProbeFigures figures = probe_.measure();
        pilots_.push_back({(before + elapsed()) / 2, figures});
    }

    void next_pilot() {
        const std::vector<std::size_t> points = std::exchange(since_pilot_, {});
        pilot();
        const Pilot &last = pilots_.back(), &before = pilots_[pilots_.size() - 2];
        const double seconds = last.when - before.when;
        if (scope_.limit > 0 || seconds > spare_ || !state_changed(before.figures, last.figures)) return;
        spare_ -= seconds;
        for (const std::size_t i : points) measure(i);
        since_pilot_.clear();
        pilot();
    }

    void collect(Measured& measured) {
        const ProbeFigures reference = reference_of(pilots_).middle;
        for (Found& found : found_) {
            for (Sample& sample : found.samples) correct(sample, figures_at(pilots_, found.when), reference);
            std::ranges::move(found.samples, std::back_inserter(measured.samples));
        }
        measured.pilots = std::move(pilots_);
    }

    const Setting& setting_;
    Setting paced_;  // what the points refer to
    const Scope& scope_;
    Points points_;
    double start_;
    std::vector<Found> found_;
    Probe probe_;
    std::vector<Pilot> pilots_;
    std::vector<std::size_t> since_pilot_;  // points
    double spare_ = 35;                     // seconds that points may take that are measured once more
};

}  // namespace

Measured measure_all(const Setting& setting, const Nodes& nodes, const Scope& scope, const Progress& progress) {
    return Measuring(setting, nodes, scope).run(progress);
}

}  // namespace gnnplan::calibrate
