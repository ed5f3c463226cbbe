// Where times come from, so that tests can say what time it is.
#pragma once

#include <vector>

namespace gnnplan::measure {

class Clock {
public:
    virtual ~Clock() = default;
    // Seconds since some fixed moment; never decreases.
    virtual double now() = 0;
};

class SteadyClock final : public Clock {
public:
    double now() override;
};

// The middle value, or the mean of the two middle ones; 0 for no values.
double median(std::vector<double> values);

}  // namespace gnnplan::measure
