// The parts that layer and batch normalisation have in common: where Z and its gradient come from, and where they meet.
#pragma once

#include "planner/lower/passes.hpp"

#include <string>

namespace gnnplan::lower {

class NormPass : protected SitePass {
protected:
    NormPass(Passes& all, int site, OpKind kind)
        : SitePass(all, site), label_(all.rules.label(site)), kind_(kind), rest_(all.rules.made_in(site)) {}

    // Z where it rests, after which the forward pass of the site begins.
    TensorId read() {
        prepare_backward(passes_, site_.input);
        builder_.begin(Pass::forward, l_);
        return passes_.value(site_.input).copies.at(rest_);
    }
    // The gradient of the result in `place`, which becomes that of Z there.
    TensorId gradient_in(Place place) {
        const std::string to = rules_.label(rules_.sum_below(id_));
        return builder_.at(passes_.gradient(id_).copies, place, "backward." + to + ".input", "G" + to, kind_);
    }
    // Leaves that of Z, once it is made, with what others have passed on to it.
    void pass_on(TensorId g, Place place) {
        Copies made;
        made.add(place, g);
        passes_.pass_on(site_.input, made, "backward." + label_, "G" + label_);
    }
    // Whether the gradient meets Z elsewhere than where that rests.
    bool moves_to(Place place) const { return place != rest_ && rules_.places_differ(); }
    TensorId moved(TensorId from, const std::string& name, Place to) {
        return builder_.redistribute("backward." + label_ + "." + name + ".redistribute", from, to,
                                     name + label_ + ".moved", kind_);
    }
    // A rank's part of the gradient of the weight or of the bias.
    TensorId gradient_of(const char* parameter) {
        return builder_.summand("y" + label_ + "." + parameter, 1, site_.width);
    }

    std::string label_;
    OpKind kind_;
    Place rest_;  // where Z rests, and the result beside it
};

}  // namespace gnnplan::lower
