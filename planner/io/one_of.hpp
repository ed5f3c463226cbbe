// Choices that files spell as bools.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gnnplan::io {

// A choice for whose values, but for the default, files have a bool each.
template <class Archive, class Choice>
void one_of(Archive& archive, Choice& choice,
            std::initializer_list<std::pair<const char*, std::remove_const_t<Choice>>> values) {
    for (const auto& [key, value] : values) {
        bool chosen = choice == value;
        archive.optional(key, chosen);
        if constexpr (Archive::reading) {
            if (chosen) choice = value;
        }
    }
}

}  // namespace gnnplan::io
