// Cross-validation: predict what the fit has not seen.
#include "planner/calibrate/curves.hpp"
#include "planner/calibrate/fit.hpp"
#include "planner/calibrate/quantile.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string>

namespace gnnplan::calibrate {
namespace {

// Samples that make up one curve or table; "" for those that are not predicted.
std::string family_of(const Sample& sample) {
    if (sample.what == "spmm") return sample.what + "." + std::to_string(sample.at[0]);
    if (product_of(sample.what) || elementwise_kind_of(sample.what)) return sample.what;
    if (sample.what == "loss") return sample.what;
    for (const char* link : {"exchange", "between", "all_reduce", "reduce_scatter", "redistribute"}) {
        if (sample.what.starts_with(link)) return link;
    }
    return "";
}

// Returns the entries of `at` whose values cross-validation can leave out.
std::vector<std::size_t> coordinates_of(const Sample& sample) {
    if (product_of(sample.what)) return {1, 2};
    if (sample.what == "loss") return {1};
    return {sample.what == "spmm" ? std::size_t{1} : std::size_t{0}};
}

void leave_out(const Machine& base, const std::vector<Sample>& family, std::size_t coordinate, std::int64_t value,
               std::vector<double>& errors) {
    std::vector<Sample> kept;
    for (const Sample& sample : family) {
        if (sample.at[coordinate] != value) kept.push_back(sample);
    }
    const Machine machine = fit_machine(base, kept);
    for (const Sample& sample : family) {
        if (sample.at[coordinate] != value) continue;
        errors.push_back(std::abs(predicted_seconds(machine, sample) / median(sample.seconds) - 1));
    }
}

}  // namespace

std::vector<double> cross_validate(const Machine& base, std::span<const Sample> samples) {
    std::map<std::string, std::vector<Sample>> families;
    for (const Sample& sample : samples) families[family_of(sample)].push_back(sample);
    families.erase("");
    std::vector<double> errors;
    for (const auto& [name, family] : families) {
        for (const std::size_t coordinate : coordinates_of(family.front())) {
            std::set<std::int64_t> values;
            for (const Sample& sample : family) values.insert(sample.at[coordinate]);
            const std::int64_t first = *values.begin();
            const std::int64_t last = *values.rbegin();
            for (const std::int64_t value : values) {
                if (value != first && value != last) leave_out(base, family, coordinate, value, errors);
            }
        }
    }
    return errors;
}

Machine fit_with_errors(const Machine& base, std::span<const Sample> samples) {
    constexpr double most = 0.9;
    Machine machine = fit_machine(base, samples);
    const std::vector<double> errors = cross_validate(base, samples);
    machine.calibration->error_median = median(errors);
    machine.calibration->error_p90 = quantile(errors, most);
    return machine;
}

}  // namespace gnnplan::calibrate
