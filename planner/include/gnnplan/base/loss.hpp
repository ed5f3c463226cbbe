// The loss that training makes smaller.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gnnplan {

enum class Loss : std::uint8_t {
    softmax,         // cross-entropy of the one class of a vertex: mean over the training vertices
    sigmoid,         // binary cross-entropy of each of a vertex's labels: mean over those of the training vertices
    masked_sigmoid,  // the same where some labels are not known: mean over those that are
};

constexpr std::array<std::string_view, 3> loss_names{"softmax", "sigmoid", "masked_sigmoid"};
constexpr std::string_view name_of(Loss loss) { return loss_names[static_cast<std::size_t>(loss)]; }

// Whether a vertex has a label for each column of the logits, and not one class.
constexpr bool several_labels(Loss loss) { return loss != Loss::softmax; }

}  // namespace gnnplan
