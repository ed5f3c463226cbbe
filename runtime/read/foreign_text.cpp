#include "runtime/read/foreign_text.hpp"

#include <algorithm>
#include <cctype>

namespace gnnplan::data {
namespace {

constexpr const char* save_edges =
    "save it as an edge list: networkx.write_edgelist(networkx.convert_node_labels_to_integers(G), path, data=False)";

// How files of other forms begin, in small letters.
struct Form {
    std::string_view word;
    bool whole;  // the word is no more than that
    const char* name;
};
constexpr Form forms[] = {
    {"p", true, "DIMACS"},
    {"c", true, "DIMACS"},
    {"a", true, "DIMACS"},
    {"e", true, "DIMACS"},
    {"*", false, "Pajek"},
    {"adjacencygraph", true, "Ligra"},
    {"weightedadjacencygraph", true, "Ligra"},
    {"adjacencyhypergraph", true, "Ligra"},
    {"<", false, "XML (GraphML, GEXF)"},
    {"graph", true, "GML or DOT"},
    {"digraph", true, "DOT"},
    {"strict", true, "DOT"},
    {"creator", true, "GML"},
    {"dl", true, "UCINET"},
    {"{\"", false, "JSON"},
    {"{", true, "JSON"},
    {"[", false, "JSON"},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

std::string hint_for_no_number(std::string_view found) {
    if (!found.starts_with('{') || found.starts_with("{\"") || found == "{") return {};
    return "attributes of networkx? write them without: networkx.write_edgelist(G, path, data=False), or with "
           "data=['weight']";
}

std::string hint_for_no_id(std::string_view found) {
    std::string known = hint_for_no_number(found);
    if (!known.empty()) return known;
    const std::string word = in_small_letters(found);
    for (const Form& form : forms) {
        if (form.whole ? word == form.word : word.starts_with(form.word))
            return std::string("a file of the form ") + form.name + "? " + save_edges;
    }
    if (found.empty()) {
        return "an empty column? write the file without its index (pandas: index=False), or a header that names the "
               "columns source and target";
    }
    if (found.front() == '"' || found.front() == '\'')
        return "write ids without quotes, or a header that names the columns source and target";
    if (is_digit(found.front()) && found.find_first_of(".eE") != std::string_view::npos)
        return "ids are integers: write them without a decimal point (pandas: frame.astype(int))";
    if (std::isalpha(static_cast<unsigned char>(found.front())) != 0)
        return "ids are numbers from 0 to N - 1: number the names (pandas.factorize); a header has the names source "
               "and "
               "target";
    return {};
}

}  // namespace gnnplan::data
