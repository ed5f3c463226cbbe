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

struct FindRow {
    std::string_view wanted;
    FeltBy found = {};

    template <class T>
    void value(std::string_view key, const T&, const FeltBy& felt) {
        if (key == wanted) found = felt;
    }
    template <class T>
    void optional(std::string_view key, const T& member, const FeltBy& felt) {
        value(key, member, felt);
    }
};

}  // namespace

FeltBy felt_by(std::string_view key) {
    FindRow row{key};
    const Switches any;
    Switches::fields(any, row);
    return row.found;
}

Switches as_felt(const Switches& switches, bool FeltBy::*by) {
    Switches felt = switches;
    const ResetUnfelt reset{by};
    Switches::fields(felt, reset);
    return felt;
}

}  // namespace gnnplan
