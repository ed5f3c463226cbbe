#include "runtime/data/report.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::data {
namespace {

// 1234567 as 1,234,567.
std::string grouped(std::int64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
    return text;
}

constexpr const char* without_gaps =
    "every number below the largest id is a vertex; numpy.unique(edges, return_inverse=True) numbers them without gaps";

}  // namespace

bool LoadReport::remark_sizes(const SaidSizes& said, std::int64_t with_edges) {
    const bool unsaid = said.from_ids && vertices > said.nodes;
    const bool few = unsaid && 2 * with_edges < vertices;
    const std::string declared =
        said.nodes >= 0 ? "the file declares " + grouped(said.nodes) + " nodes" : std::string();
    if (few) {
        remarks.push_back(grouped(with_edges) + " of " + grouped(vertices) + " ids have edges" +
                          (declared.empty() ? "" : ", and " + declared) + ": " + without_gaps);
    } else if (unsaid && said.nodes >= 0) {
        remarks.push_back(declared + ", and there are " + grouped(vertices) + " up to its largest id: " + without_gaps);
    }
    const bool edges_fit = edges_read == said.edges || edges_read == 2 * said.edges || 2 * edges_read == said.edges;
    if (said.edges >= 0 && !edges_fit)
        remarks.push_back("the file declares " + grouped(said.edges) + " edges and lists " + grouped(edges_read));
    return few || (unsaid && said.nodes >= 0);
}

std::string LoadReport::describe() const {
    const char* directions = weights_only_directed ? "directed (some edges and their reverses differ in weight)"
                             : directed            ? "directed as listed"
                                                   : "undirected (each edge comes with its reverse)";
    std::string said = format + ", ids from " + std::to_string(index_base) + ", " + directions + ": " +
                       grouped(vertices) + " vertices, " + grouped(edges_read) + " edges read";
    if (weighted) said += " with their weights";
    if (edge_values_ignored > 0) {
        said += " (" + std::string(weighted ? "further" : "the") + " values of " + grouped(edge_values_ignored) +
                " ignored" + (weighted ? "" : ": plan with `edge-weights` to use weights") + ")";
    }
    said += "; dropped " + grouped(self_loops_dropped) + " self loops and " + grouped(duplicates_dropped) +
            " duplicates" + (weighted && duplicates_dropped > 0 ? ", whose weights are added up; " : "; ");
    said += symmetrised ? "symmetrised; " : "";
    said += self_loops_added ? "a self loop added to every vertex; " : "no self loops added; ";
    said += grouped(nonzeros) + " nonzeros.";
    for (const std::string& note : notes) said += " " + note;
    for (std::size_t i = 0; i < generated.size(); ++i)
        said += (i == 0 ? " Generated from seed " + std::to_string(seed) + ": " : ", ") + generated[i];
    return generated.empty() ? said : said + ".";
}

void check_generated(const LoadReport& report) {
    const Leftovers& leftovers = report.leftovers;
    std::vector<bool Unread::*> kinds;
    std::string generated, hint;
    const auto add = [&](bool is_generated, bool Unread::*kind, const std::string& what, const std::string& name) {
        if (!is_generated || leftovers.names({kind}).empty()) return;
        kinds.push_back(kind);
        generated += (generated.empty() ? "" : ", ") + what;
        if (!name.empty()) hint += (hint.empty() ? "save " : ", ") + what + " as " + name;
    };
    add(report.features_generated, &Unread::features, "features", leftovers.features);
    add(report.labels_generated, &Unread::labels, "labels", leftovers.labels);
    add(report.split_generated, &Unread::split, "the split", leftovers.split);
    if (kinds.empty()) return;
    throw Error(
        ErrorCode::usage,
        generated + " would be generated, and may be among what is not read of the data: " + leftovers.names(kinds),
        report.path,
        hint + (hint.empty() ? "" : "; ") + "to generate what is missing all the same, plan with `generate`");
}

}  // namespace gnnplan::data
