#include "tools/advise/pytorch/pytorch_model.hpp"

#include "tools/advise/pytorch/pytorch_words.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/model_text.hpp"

#include <gnnplan/base/words.hpp>

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

constexpr std::string_view root = "layers.";

// "layers.1.mlp.0.weight" is layers[1].mlp[0].weight.
std::string parameter_text(const std::string& name) {
    std::string text;
    for (const std::string& part : split(name, ".")) {
        const bool number = part.find_first_not_of("0123456789") == std::string::npos;
        text += number ? "[" + part + "]" : (text.empty() ? "" : ".") + part;
    }
    return text;
}

// "pool" of "layers.1.pool.weight"; "" where a layer has no other weight.
std::string part_of(const std::string& name) {
    const std::vector<std::string> parts = split(name, ".");
    return parts.size() > 3 ? parts[2] : "";
}

// The matrix of a product, or what stands for several products with it.
std::string matrix_text(const SiteGraph& model, const Site& product, bool rows) {
    const int before = model.hops_through(product.layer - 1), after = before + product.hops;
    if (!product.propagates()) return rows ? fmt::format("A[{}]", after) : "A";
    const std::string all =
        rows ? fmt::format("A[{}:{}]", before + 1, after + 1) : fmt::format("[A] * {}", product.hops);
    return fmt::format("Hops({}{})", all, product.teleport > 0 ? fmt::format(", {}", product.teleport) : "");
}

// The body of forward(), a line for each site.
class Forward {
public:
    Forward(const Plan& plan, const SiteGraph& model)
        : configuration_(plan.candidates.front().configuration), model_(model), names_(model.sites.size()) {}

    std::string text() {
        std::string out;
        for (int id = 0; id + 1 < static_cast<int>(model_.sites.size()); ++id) out += line(id);
        return out;
    }

private:
    bool is_end(int id) const { return model_.sites.back().input == id; }
    const std::string& name(int id) const { return names_[static_cast<std::size_t>(id)]; }
    std::string weight(int parameter) const { return parameter_text(model_.parameter(parameter).name); }
    // The weight of a product or linear map, with the identity where that takes part in it.
    std::string weight_of(const Site& site) const {
        const std::string w = weight(site.parameter);
        return site.share == 1 ? w : fmt::format("mixed({}, {})", w, site.share);
    }
    // The matrix that a product multiplies by, or all of those where it aggregates several times.
    std::string matrix(const Site& product) const { return matrix_text(model_, product, configuration_.loss_rows); }

    std::string line(int id) {
        const Site& site = model_.at(id);
        names_[static_cast<std::size_t>(id)] = free_name(id, wanted_name(id));
        if (site.kind == SiteKind::input) {
            const bool drops = site.dropout > 0 && !configuration_.constant_input && model_.trains();
            return drops ? "        x = F.dropout(x, self.input_dropout, self.training)\n" : "";
        }
        const std::string target = is_end(id) ? "return " : name(id) + " = ";
        if (site.kind == SiteKind::linear) return statement(target, linear(site));
        if (site.kind == SiteKind::pointwise) return statement(target, pointwise(site));
        if (site.kind == SiteKind::norm) return statement(target, norm(site));
        return before_product(site) + statement(target, product(site), order_text(site));
    }

    // The comment stands before a line that has no room for it.
    static std::string statement(const std::string& target, const std::string& value, const std::string& comment = "") {
        const std::string indent(8, ' ');
        if (target == value + " = ") return "";
        std::string line = indent + target + value;
        if (comment.empty()) return wrapped(indent + target, std::string(12, ' '), value, ", ");
        if (line.size() + comment.size() + 2 <= page_width) return line + "  " + comment + "\n";
        return indent + comment + "\n" + statement(target, value);
    }

    // The layer's result is h1, what it is made of z1; maps beside them have names of their own.
    std::string wanted_name(int id) const {
        const Site& site = model_.at(id);
        if (site.kind == SiteKind::input) return "x";
        if (site.layer <= model_.depth && model_.result(site.layer) == id) return fmt::format("h{}", site.layer);
        if (site.kind == SiteKind::product) return fmt::format("z{}", site.layer);
        if (site.addend >= 0) return name(site.addend);
        if (site.kind == SiteKind::norm) return name(site.input);
        if (site.kind == SiteKind::pointwise || (model_.at(site.input).layer == site.layer && sole_reader(site.input)))
            return name(site.input);
        return part_of(model_.parameter(site.parameter).name);
    }
    bool sole_reader(int id) const { return model_.readers(id).size() == 1; }

    // No name is given away while another site still reads what has it.
    std::string free_name(int id, std::string wanted) const {
        const auto is_busy = [&] {
            for (int other = 0; other < id; ++other) {
                const std::vector<int> readers = model_.readers(other);
                if (name(other) == wanted && !readers.empty() && readers.back() > id) return true;
            }
            return false;
        };
        while (is_busy()) wanted += "_";
        return wanted;
    }

    // A value with the rows of layer `layer` only.
    std::string with_rows_of(int id, int layer) const {
        std::string text = name(id);
        if (!configuration_.loss_rows) return text;
        const int first = model_.hops_through(model_.at(id).rows_of), last = model_.hops_through(layer);
        for (int hop = first + 1; hop <= last; ++hop) text = fmt::format("A[{}].own({})", hop, text);
        return text;
    }

    std::string linear(const Site& site) const {
        std::string text = with_rows_of(site.input, site.rows_of);
        if (site.parameter >= 0) text += " @ " + weight_of(site);
        return site.addend < 0 ? text : name(site.addend) + " + " + text;
    }

    std::string norm(const Site& site) const {
        const std::string affine = weight(site.parameter) + ", " + weight(site.shift);
        if (!site.over_rows()) return fmt::format("F.layer_norm({}, ({},), {})", name(site.input), site.width, affine);
        return fmt::format("F.batch_norm({}, {}, {}, {}{})", name(site.input), weight(site.running[0]),
                           weight(site.running[1]), affine, model_.trains() ? ", self.training" : "");
    }

    std::string pointwise(const Site& site) const {
        std::string text = name(site.input);
        if (site.parameter >= 0) text += " + " + weight(site.parameter);
        if (site.activation != Activation::none) {
            const char* function = site.activation == Activation::relu  ? "torch.relu"
                                   : site.activation == Activation::elu ? "F.elu"
                                                                        : "F.leaky_relu";
            text = fmt::format("{}({})", function, text);
        }
        return site.dropout > 0 && model_.trains() ? fmt::format("drop({})", text) : text;
    }

    // Where something of the vertex itself is added, of what the product's operand is not the whole expression.
    std::string before_product(const Site& site) const {
        if (site.self_parameter < 0) return "";
        const LayerOrders orders = layer_orders(configuration_, model_, site.layer);
        if (!orders.autograd) return statement("y = ", itself(site, name(site.input)));
        if (orders.forward == Order::sparse_first) return "";
        return statement("y = ", name(site.input) + " @ " + weight(site.parameter));
    }
    // e times the rows of the vertices themselves.
    std::string itself(const Site& site, const std::string& of) const {
        const std::string own = configuration_.loss_rows ? fmt::format("{}.own({})", matrix(site), of) : of;
        return weight(site.self_parameter) + " * " + own;
    }

    std::string product(const Site& site) const {
        const std::string& x = name(site.input);
        const std::string a = matrix(site);
        if (layer_orders(configuration_, model_, site.layer).cached) {
            if (!site.maps()) return fmt::format("self.aggregated[{}]({}, {})", site.layer - 1, a, x);
            return fmt::format("self.aggregated({}, {}) @ {}", site.propagates() ? "A" : a, x, weight(site.parameter));
        }
        switch (site.reduce) {
            case Reduce::sum: return sum(site);
            case Reduce::max: return fmt::format("{}.maxima({}) @ {}", a, x, weight(site.parameter));
            case Reduce::cosine: return fmt::format("{}.compare({}, {})", a, x, weight(site.beta));
            case Reduce::attention: break;
        }
        const std::string source = weight(site.heads.source);
        return fmt::format("{}.attend({} @ {}, {}{}{})", a, x, weight(site.parameter),
                           source.substr(0, source.rfind('.')), model_.trains() ? ", drop_edges" : "",
                           site.heads.average ? ", average=True" : "");
    }

    std::string sum(const Site& site) const {
        const LayerOrders orders = layer_orders(configuration_, model_, site.layer);
        const std::string &x = name(site.input), a = matrix(site);
        if (!site.maps()) return fmt::format("{} @ {}", a, x);
        const std::string w = weight_of(site);
        if (site.initial >= 0)
            return fmt::format("torch.lerp({} @ {}, {}, {}) @ {}", a, x, with_rows_of(site.initial, site.layer),
                               site.teleport, w);
        const bool adds = site.self_parameter >= 0;
        if (!orders.autograd) {
            return fmt::format("Product.apply({}, {}, {}, \"{}\", \"{}\", \"{}\"){}", a, x, w,
                               static_cast<char>(orders.forward), static_cast<char>(orders.backward),
                               static_cast<char>(orders.operand), adds ? " + y @ " + w : "");
        }
        if (orders.forward == Order::sparse_first)
            return fmt::format("({} @ {}{}) @ {}", a, x, adds ? " + " + itself(site, x) : "", w);
        return adds ? fmt::format("{} @ y + {}", a, itself(site, "y")) : fmt::format("{} @ ({} @ {})", a, x, w);
    }

    std::string order_text(const Site& site) const {
        if (!site.maps()) return "";
        const LayerOrders orders = layer_orders(configuration_, model_, site.layer);
        if (orders.cached) return site.reduce == Reduce::max ? "# maxima are made once" : "# A @ X is made once";
        return orders.forward == Order::sparse_first ? "# S: aggregate first" : "# D: transform first";
    }

    const Configuration& configuration_;
    const SiteGraph& model_;
    std::vector<std::string> names_;  // of the values of sites
};

std::string init_text(const Parameter& parameter) {
    const char* function = parameter.init == Init::glorot  ? "glorot"
                           : parameter.init == Init::zeros ? "torch.zeros"
                                                           : "torch.ones";
    return fmt::format("{}({})", function, fmt::join(parameter.shape, ", "));
}

// Probabilities of the plan's run, which the class may be told otherwise.
std::vector<std::pair<std::string, double>> probabilities(const Plan& plan, const SiteGraph& model) {
    const RunRecord& run = plan.problem.run;
    std::vector<std::pair<std::string, double>> found;
    if (!model.trains()) return found;
    found.emplace_back("dropout", run.dropout.value_or(0));
    if (!plan.candidates.front().configuration.constant_input)
        found.emplace_back("input_dropout", run.input_dropout.value_or(run.dropout.value_or(0)));
    if (needs_of(plan, model).attention) found.emplace_back("attention_dropout", run.attention_dropout);
    return found;
}

std::string constructor(const Plan& plan, const SiteGraph& model) {
    const Configuration& c = plan.candidates.front().configuration;
    std::string arguments, members;
    for (const auto& [name, probability] : probabilities(plan, model)) {
        arguments += fmt::format(", {}={}", name, probability);
        members += fmt::format("        self.{0} = {0}\n", name);
    }
    std::string out = fmt::format("    def __init__(self{}):\n        super().__init__()\n{}", arguments, members);
    out += fmt::format("        self.matrix = Once({})\n", c.loss_rows ? "matrices" : "adjacency");
    if (c.cached_aggregation) {
        const Site& first = model.product(1);
        const std::string a = first.propagates() ? matrix_text(model, first, c.loss_rows) : "A";
        const std::string once = fmt::format("Once(lambda A, x: {}.detach())",
                                             first.reduce == Reduce::max ? "A.maxima(x)" : "(" + a + " @ x)");
        out += first.maps() ? fmt::format("        self.aggregated = {}\n", once)
                            : fmt::format("        self.aggregated = [{} for _ in range({})]\n", once, model.depth);
    }
    out += "        self.layers = Parameters({\n";
    for (const Parameter& parameter : model.parameters) {
        out += fmt::format("            \"{}\": {},\n", parameter.name.substr(root.size()), init_text(parameter));
    }
    return out + "        })\n";
}

std::string forward_method(const Plan& plan, const SiteGraph& model) {
    const bool rows = plan.candidates.front().configuration.loss_rows;
    const std::string edges = plan.problem.graph.edge_weights ? ", edge_weight" : "";
    std::string out = fmt::format("    def forward(self, x, edge_index{}{}):\n", edges, rows ? ", rows=None" : "");
    if (rows) {
        out += "        \"\"\"With rows, sorted ids of vertices: the logits of these only, for a loss of them.\"\"\"\n";
    }
    out += fmt::format("        layers, A = self.layers, self.matrix(len(x), edge_index{}{})\n", edges,
                       rows ? ", rows" : "");
    if (model.trains()) {
        Forward lines(plan, model);
        const std::string body = lines.text();
        if (body.find("drop(") != std::string::npos)
            out += "        drop = lambda h: F.dropout(h, self.dropout, self.training)\n";
        if (needs_of(plan, model).attention)
            out += "        drop_edges = lambda e: F.dropout(e, self.attention_dropout, self.training)\n";
        return out + body;
    }
    return out + Forward(plan, model).text();
}

}  // namespace

ModelNeeds needs_of(const Plan& plan, const SiteGraph& model) {
    ModelNeeds needs;
    for (int l = 1; l <= model.depth; ++l) {
        const Reduce reduce = model.product(l).reduce;
        needs.sums |= reduce == Reduce::sum;
        needs.hops |= model.product(l).propagates();
        needs.mixed |= model.product(l).share != 1;
        needs.maxima |= reduce == Reduce::max;
        needs.attention |= reduce == Reduce::attention;
        needs.cosines |= reduce == Reduce::cosine;
        needs.backward |= !layer_orders(plan.candidates.front().configuration, model, l).autograd;
    }
    needs.edges = needs.attention || needs.cosines;
    return needs;
}

std::string model_class(const Plan& plan, const SiteGraph& model) {
    const std::string text = fmt::format(
        "\"\"\"{}: logits of x [vertices, {}] and edge_index [2, edges], sources and targets{}. Parameters "
        "have the names and shapes of gnnrun's files.",
        model_text(plan.problem.model), plan.problem.model.widths.front(),
        plan.problem.graph.edge_weights ? ", with edge_weight [edges]" : "");
    return "class Model(torch.nn.Module):\n" + wrapped("    ", "    ", text) + "    \"\"\"\n\n" +
           constructor(plan, model) + "\n" + forward_method(plan, model) +
           "\n    def load(self, path, feature_norm=None):\n"
           "        \"\"\"Takes the weights that gnnrun --save-weights or save() wrote.\"\"\"\n"
           "        self.load_state_dict(read_weights(path, feature_norm))\n"
           "\n    def save(self, path, feature_norm=\"none\"):\n"
           "        \"\"\"Writes weights for gnnrun --load-weights and load().\"\"\"\n"
           "        facts = {**FACTS, \"gnnplan: --feature-norm\": feature_norm}\n"
           "        write_weights(path, self.state_dict(), facts)\n";
}

}  // namespace gnnplan::tools
