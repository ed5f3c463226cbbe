#include "planner/io/older_choice.hpp"

#include "planner/io/enum_names.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gnnplan::io {
namespace {

// The choices of a switch are its values.
struct ListSwitches {
    std::vector<Choice>& choices;

    template <class T>
    void value(const char* key, const T&, const FeltBy&) const {
        if constexpr (std::is_enum_v<T>) {
            for (const std::string_view name : EnumNames<T>::names) choices.push_back({key, std::string(name)});
        } else {
            for (const char* name : {"off", "on"}) choices.push_back({key, name});
        }
    }
    template <class T>
    void optional(const char* key, const T& member, const FeltBy& felt) const {
        value(key, member, felt);
    }
};

const std::vector<Choice>& choices_of_all() {
    static const std::vector<Choice> choices = [] {
        std::vector<Choice> all = {{"grid"},
                                   {"cached_aggregation", "off"},
                                   {"replicated_input", "off"},
                                   {"column_loss", "off"},
                                   {"kept", "nothing"},
                                   {"baseline", "pyg"},
                                   {"baseline", "dgl"}};
        const ListSwitches list{all};
        const Switches any;
        Switches::fields(any, list);
        return all;
    }();
    return choices;
}

// "2" or "2..9".
std::optional<LayerRange> layers_of(std::string_view text) {
    LayerRange layers;
    const char* const end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), end, layers.first);
    if (error != std::errc()) return std::nullopt;
    layers.last = layers.first;
    if (at == end) return layers;
    if (std::string_view(at, end).substr(0, 2) != "..") return std::nullopt;
    const auto last = std::from_chars(at + 2, end, layers.last);
    if (last.ec != std::errc() || last.ptr != end) return std::nullopt;
    return layers;
}

// "PASS LAYERS ORDER".
std::optional<Choice> order_of(std::string_view sentence) {
    for (const std::string_view pass : {"forward ", "backward "}) {
        if (!sentence.starts_with(pass)) continue;
        const std::string_view rest = sentence.substr(pass.size());
        const std::size_t blank = std::min(rest.find(' '), rest.size());
        const std::string order(rest.substr(std::min(blank + 1, rest.size())));
        const std::optional<LayerRange> layers = layers_of(rest.substr(0, blank));
        if (layers && (order == "S" || order == "D"))
            return Choice{std::string(pass.substr(0, pass.size() - 1)), order, layers};
    }
    return std::nullopt;
}

}  // namespace

Choice choice_of(const std::string& sentence) {
    constexpr std::string_view scheme = "scheme ";
    if (sentence.starts_with(scheme)) return {"scheme", sentence.substr(scheme.size())};
    if (const std::optional<Choice> order = order_of(sentence)) return *order;
    const std::vector<Choice>& all = choices_of_all();
    const auto known = std::find_if(all.begin(), all.end(), [&](const Choice& c) { return text(c) == sentence; });
    return known != all.end() ? *known : Choice{sentence};
}

}  // namespace gnnplan::io
