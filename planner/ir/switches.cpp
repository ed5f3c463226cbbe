#include <gnnplan/ir/switches.hpp>

namespace gnnplan {
namespace {

struct ResetUnfelt {
    bool FeltBy::*by;

    template <class T>
    void value(const char*, T& member, const FeltBy& felt) const {
        if (!(felt.*by)) member = T();
    }
    template <class T>
    void optional(const char* key, T& member, const FeltBy& felt) const {
        value(key, member, felt);
    }
};

}  // namespace

Switches as_felt(const Switches& switches, bool FeltBy::*by) {
    Switches felt = switches;
    const ResetUnfelt reset{by};
    Switches::fields(felt, reset);
    return felt;
}

}  // namespace gnnplan
