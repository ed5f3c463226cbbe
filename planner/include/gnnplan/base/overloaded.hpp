// Visits a variant with one lambda per alternative; a missing one does not compile.
#pragma once

namespace gnnplan {

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace gnnplan
