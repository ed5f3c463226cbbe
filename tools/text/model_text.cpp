#include "tools/text/model_text.hpp"

#include "planner/io/enum_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gnnplan::tools {

std::string model_text(const ModelRecord& model) {
    std::string text = model.name;
    if (!model.aggregator.empty()) text += " " + model.aggregator;
    if (model.trains_epsilon) text += ", epsilon trained";
    if (!model.trains_epsilon && model.epsilon != 0) text += fmt::format(", epsilon {}", model.epsilon);
    if (model.heads > 0) text += fmt::format(", {} heads{}", model.heads, model.average_heads ? " averaged" : "");
    if (model.output_heads > 0) text += fmt::format(", {} output heads", model.output_heads);
    if (model.slope) text += fmt::format(", slope {}", *model.slope);
    if (model.hops > 0) text += fmt::format(", {} hops", model.hops);
    if (model.teleport) text += fmt::format(", teleport {}", *model.teleport);
    if (model.theta) text += fmt::format(", theta {}", *model.theta);
    if (model.activation) text += fmt::format(", {}", io::name_of(*model.activation));
    if (!model.pre.empty())
        text += fmt::format(", pre {}{}", fmt::join(model.pre, ","), model.pre_activation ? " with activation" : "");
    if (!model.post.empty()) text += fmt::format(", post {}", fmt::join(model.post, ","));
    if (model.residual == Residual::input) text += ", residual";
    if (model.residual == Residual::linear) text += ", residual linear";
    if (model.residual == Residual::sums) text += ", residual sums";
    if (model.norm != Norm::none) text += fmt::format(", {} norm", io::name_of(model.norm));
    if (model.norm_after != NormAfter::sum) text += fmt::format(" behind the {}", io::name_of(model.norm_after));
    if (model.jk == JumpingKnowledge::concat) text += ", jk concat";
    if (model.jk == JumpingKnowledge::last) text += ", jk last";
    return text + (model.bias ? " with bias" : "");
}

std::string loss_text(const ModelRecord& model) {
    std::string text = several_labels(model.loss) ? ", several labels a vertex" : "";
    if (model.loss == Loss::masked_sigmoid) text += " (not all known)";
    return text + (model.rocauc ? " ranked by ROC-AUC" : "");
}

std::string model_title(const std::string& name) {
    if (name == "sage") return "GraphSAGE";
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return title;
}

}  // namespace gnnplan::tools
