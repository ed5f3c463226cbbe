#include "planner/lower/rules.hpp"

namespace gnnplan::lower {

const char* suffix(Place place) { return place == Place::c ? ".C" : place == Place::r ? ".R" : ".F"; }

Layout layout_at(Place place) { return place == Place::c ? layout_c() : place == Place::r ? layout_r() : layout_f(); }

Place Rules::gradient_wanted(int l) const {
    switch (backward(l)) {
        case Order::sparse_first: return spmm_in();
        case Order::dense_first: return Place::r;
        case Order::none: return operand(l) == Operand::product ? right(l) : spmm_in();
    }
    return Place::r;
}

bool Rules::moves_input(int l) const {
    if (l == 1 || l > depth() || operand(l) != Operand::gradient || !places_differ()) return false;
    return activation_produced_in(l - 1) != left(l) && forward_in(l) != left(l);
}

bool Rules::activation_in(int l, Place place) const {
    return !places_differ() || activation_produced_in(l) == place || forward_in(l + 1) == place ||
           (place == left(l + 1) && moves_input(l + 1));
}

MaskRule mask_rule(const Rules& rules, int l) {
    const Place produced_in = rules.gradient_produced_in(l + 1);
    const Place wanted = rules.gradient_wanted(l);
    if (rules.activation_in(l, produced_in)) return {produced_in, false, {}};
    if (rules.activation_in(l, Place::f)) return {produced_in, false, Place::f};  // out of F nothing moves
    if (wanted != produced_in && rules.activation_in(l, wanted)) return {wanted, true, {}};
    return {produced_in, false, rules.activation_produced_in(l)};
}

}  // namespace gnnplan::lower
