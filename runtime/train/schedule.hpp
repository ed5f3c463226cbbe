// How the learning rate of a run changes from epoch to epoch, as PyTorch's schedulers change it.
#pragma once

#include <cstdint>
#include <string>

namespace gnnplan::train {

struct RateSchedule {
    enum class Kind : std::uint8_t {
        constant,
        warmup,   // rises over the first `epochs` epochs to the rate asked for: epoch / epochs of it
        step,     // `factor` times what it was after every `epochs` epochs (StepLR)
        cosine,   // falls to 0 over `epochs` epochs, as half a cosine (CosineAnnealingLR)
        plateau,  // `factor` times what it was when `epochs` epochs in a row had no lower loss (ReduceLROnPlateau)
    };

    Kind kind = Kind::constant;
    std::int64_t epochs = 0;
    double factor = 1;
};

// "" for a constant rate, warmup:K, step:S:G, cosine:T or plateau:F:P. Reading throws Error{usage} of other texts.
RateSchedule read_schedule(const std::string& text);
std::string text_of(const RateSchedule& schedule);

// The factor of the rate in each epoch. It follows from the losses of the epochs before, in their order: a run
// that goes on tells them again.
class RateCourse {
public:
    RateCourse(const RateSchedule& schedule, double rate) : schedule_(schedule), rate_(rate) {}

    double factor() const;  // of the next epoch
    void add(double loss);  // of the training vertices

private:
    RateSchedule schedule_;
    double rate_;
    std::int64_t done_ = 0;
    double reduced_ = 1;
    bool any_ = false;
    double best_ = 0;         // loss
    std::int64_t worse_ = 0;  // epochs since
};

}  // namespace gnnplan::train
