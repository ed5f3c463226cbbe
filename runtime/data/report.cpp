#include "runtime/data/report.hpp"

namespace gnnplan::data {
namespace {

// 1234567 as 1,234,567.
std::string grouped(std::int64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
    return text;
}

}  // namespace

std::string LoadReport::describe() const {
    std::string text = format + ", ids from " + std::to_string(index_base) + ", " +
                       (directed ? "directed as listed" : "undirected (each edge comes with its reverse)") + ": " +
                       grouped(vertices) + " vertices, " + grouped(edges_read) + " edges read";
    if (edge_values_ignored > 0) text += " (the values of " + grouped(edge_values_ignored) + " ignored)";
    text +=
        "; dropped " + grouped(self_loops_dropped) + " self loops and " + grouped(duplicates_dropped) + " duplicates; ";
    text += symmetrised ? "symmetrised; " : "";
    text += self_loops_added ? "a self loop added to every vertex; " : "no self loops added; ";
    text += grouped(nonzeros) + " nonzeros.";
    for (const std::string& note : notes) text += " " + note;
    return text;
}

}  // namespace gnnplan::data
