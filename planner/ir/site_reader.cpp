#include "planner/ir/last_result.hpp"
#include "planner/ir/op_readers.hpp"
#include "planner/ir/pointwise_sites.hpp"
#include "planner/ir/product_sites.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/sites.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace gnnplan {
namespace {

// Groups operations into sites, in the order of the graph.
class SiteReader {
public:
    explicit SiteReader(const OpGraph& graph) : graph_(graph), made_(graph.ops.size()), readers_(graph) {
        found_.model = graph.model;
        found_.parameters = graph.parameters;
    }

    SiteGraph read() {
        for (; next_ < graph_.ops.size(); ++next_) add(graph_.ops[next_]);
        if (!ended() || found_.depth == 0) refuse("is missing");
        for (next_ = 0; next_ + 1 < graph_.ops.size(); ++next_) {
            if (readers_.none(next_)) refuse("is read by nothing");
        }
        find_results();
        return std::move(found_);
    }

private:
    // The result of an operation: the value of a site, or half of a product that reads the site's.
    struct Made {
        int site = -1;
        const Op* half = nullptr;  // an aggregation that awaits its linear map, or the other way round
    };

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorCode::usage,
                    "operation " + std::to_string(next_) + " " + what +
                        ": a layer is dropout? (aggregate linear | linear aggregate), to which linear maps and the "
                        "layer's input may be added; bias? activation? and further linear maps follow, or come before "
                        "an aggregation of maxima, and the loss comes last",
                    "model " + graph_.model,
                    "docs/architecture.md says how to add a kind of site for what is not of this form");
    }

    bool ended() const {
        if (found_.sites.empty()) return false;
        const SiteKind last = found_.sites.back().kind;
        return last == SiteKind::loss || last == SiteKind::output;
    }
    int push(const Site& site) {
        found_.sites.push_back(site);
        return static_cast<int>(found_.sites.size()) - 1;
    }
    Site& at(int site) { return found_.sites[static_cast<std::size_t>(site)]; }
    const Site& at(int site) const { return found_.at(site); }
    const Made& input_of(const Op& op, std::size_t which = 0) const {
        return made_[static_cast<std::size_t>(op.inputs[which])];
    }
    void require_unchanged(int input) const {
        if (!readers_.goes_on_once(static_cast<std::size_t>(input))) refuse("changes what another operation reads");
    }
    void require_sole_reader(int input) const {
        if (readers_.sole(static_cast<std::size_t>(input)) == nullptr) refuse("changes what another operation reads");
    }

    void add(const Op& op) {
        const bool adds = op.kind == OpKind::add || (op.kind == OpKind::aggregate && op.inputs.size() > 1);
        const std::size_t inputs = op.kind == OpKind::input ? 0 : adds ? 2 : 1;
        if (op.inputs.size() != inputs || ended()) refuse("does not follow the ones before it");
        for (const int input : op.inputs) {
            if (input < 0 || static_cast<std::size_t>(input) >= next_) refuse("reads what does not come before it");
        }
        made_[next_] = made_by(op);
    }

    Made made_by(const Op& op) {
        switch (op.kind) {
            case OpKind::input: return add_input(op);
            case OpKind::aggregate:
            case OpKind::linear: return multiply(op);
            case OpKind::add: return add_up(op);
            case OpKind::dropout:
            case OpKind::bias:
            case OpKind::relu:
            case OpKind::elu:
            case OpKind::leaky_relu: return extend_pointwise(op);
            case OpKind::layer_norm:
            case OpKind::batch_norm: return add_norm(op);
            default: return {push(end_of(op, input_of(op).site))};
        }
    }

    Made add_input(const Op& op) {
        if (!found_.sites.empty()) refuse("is a second input");
        return {push({SiteKind::input, -1, op.layer, op.width})};
    }

    Made multiply(const Op& op) {
        const Made& from = input_of(op);
        if (op.reduce == Reduce::cosine) return product_alone(op, from);
        if (from.half != nullptr) return complete_product(op, *from.half, from.site);
        if (begins_product(op)) return {from.site, &op};
        if (op.kind == OpKind::linear) return {push(linear_site(op, from.site))};
        if (op.reduce != Reduce::sum) refuse("has no linear map beside it");
        return product_alone(op, from);
    }

    // Whether the operation and the one that reads it are a product: not a linear map and the maxima of its result, nor
    // attention and what maps its sums.
    bool begins_product(const Op& op) const {
        const Op* reader = readers_.sole(next_);
        if (reader == nullptr) return false;
        if (op.kind == OpKind::aggregate) {
            const int read = input_of(op).site;  // sums of sums of the features stand alone, as others read those too
            const bool alone = at(read).kind == SiteKind::product && found_.of_features(read);
            return op.reduce != Reduce::attention && reader->kind == OpKind::linear && !alone;
        }
        return reader->kind == OpKind::aggregate &&
               (reader->reduce == Reduce::sum || reader->reduce == Reduce::attention);
    }

    Made add_product(const Op& op, Site product) {
        if (op.layer != found_.depth + 1) refuse("is not the one product of its layer");
        if (const std::string_view wrong = why_no_product(found_, product); !wrong.empty()) refuse(std::string(wrong));
        found_.products.push_back(push(product));
        ++found_.depth;
        return {found_.products.back()};
    }

    // The site whose value an aggregation adds in place of what it reads; -1: none.
    int initial_of(const Op& aggregation) const {
        if (aggregation.inputs.size() == 1) return -1;
        if (input_of(aggregation, 1).half != nullptr) refuse("adds half a product");
        return input_of(aggregation, 1).site;
    }

    // A product without a linear map.
    Made product_alone(const Op& op, const Made& from) {
        if (from.half != nullptr) refuse("is not the one product of its layer");
        Site product = product_of(op, nullptr, from.site);
        product.initial = initial_of(op);
        product.columns_of = at(from.site).width == op.width ? at(from.site).columns_of : -1;
        return add_product(op, product);
    }

    // A linear map before the product of its layer has a row for each vertex that the product reads.
    Site linear_site(const Op& op, int input) const {
        const bool before_product = op.layer == found_.depth + 1;
        if (op.layer < 1 || (op.layer != found_.depth && !before_product)) refuse("belongs to no layer that has begun");
        Site site{SiteKind::linear, input, op.layer, op.width, op.parameter};
        if (site.share = op.share; op.share != 1 && op.width != at(input).width) refuse("has no square weight");
        const Site& same = before_product ? at(input) : found_.product(op.layer);
        site.rows_of = before_product ? op.layer - 1 : op.layer;
        site.columns_of = op.width == same.width ? same.columns_of : -1;
        return site;
    }

    Made complete_product(const Op& op, const Op& half, int input) {
        const bool aggregates_first = op.kind == OpKind::linear;
        const Op& aggregation = aggregates_first ? half : op;
        Site product = product_of(aggregation, aggregates_first ? &op : &half, input);
        product.initial = initial_of(aggregation);
        if (product.initial >= 0 && !aggregates_first) refuse("adds something behind its linear map");
        if (product.heads.count > 0 && half.width != product.mapped_width()) refuse("has other columns than its heads");
        return add_product(op, product);
    }

    // Whether a value is a sum of products and linear maps, on top of which another may be made.
    bool is_sum(int site) const { return at(site).kind == SiteKind::product || at(site).kind == SiteKind::linear; }
    bool shared(int op) const { return readers_.sole(static_cast<std::size_t>(op)) == nullptr; }
    // Whether the last layer has made `b` so far, and the value of `a` is on the way to what the layer before it makes.
    bool is_sum_before(int a, int b) const {
        return (is_sum(a) || at(a).kind == SiteKind::pointwise) && is_sum(b) && at(b).layer == found_.depth &&
               at(a).layer + 1 == at(b).layer;
    }

    // A sum is made in place of the value that comes first in the layer; what others read, too, stays.
    Made add_up(const Op& op) {
        const auto [a, b] = std::minmax(input_of(op, 0).site, input_of(op, 1).site);
        if (at(a).width != at(b).width) refuse("adds matrices of different widths");
        const bool both = a != b && is_sum(a) && at(b).kind == SiteKind::linear && at(b).addend < 0;
        const bool earlier = shared(op.inputs[input_of(op, 0).site == a ? 0 : 1]) && is_sum_before(a, b);
        const bool mapped = both && !earlier && at(b).parameter >= 0 && at(b).rows_of >= at(a).rows_of;
        if (mapped) {
            for (const int input : op.inputs) require_sole_reader(input);
            if (at(a).layer < at(b).layer) across_layers_.push_back(next_);
            at(b).addend = a;
            return {b};
        }
        const bool input_itself = is_sum(b) && at(b).layer == found_.depth && a == read_by(found_.depth);
        if (!input_itself && !earlier)
            refuse("adds neither a linear map, the layer's input nor the sum before it to what its layer makes");
        require_sole_reader(op.inputs[input_of(op, 0).site == b ? 0 : 1]);
        return {push(sum_of(a, at(b), b))};
    }

    // The input stays for the backward pass, so nobody else may change it.
    Made add_norm(const Op& op) {
        require_unchanged(op.inputs.front());
        const int id = input_of(op).site;
        if (!normalises(op) || at(id).layer < 1 || at(id).kind == SiteKind::norm)
            refuse("normalises no result of a layer, or lacks a parameter");
        return {push(norm_of(op, at(id), id))};
    }

    // It may be of a copy, where others read what it changes elements of.
    Made extend_pointwise(const Op& op) {
        int id = input_of(op).site;
        const bool copied = shared(op.inputs.front()) && at(id).kind != SiteKind::input;
        copied ? require_unchanged(op.inputs.front()) : require_sole_reader(op.inputs.front());
        if (op.width != at(id).width) refuse("changes the number of columns");
        if (copied || is_sum(id) || at(id).kind == SiteKind::norm) id = push(pointwise_of(at(id), id));
        if (!fits_behind(at(id), op)) refuse("is out of its place");
        extend(at(id), op);
        return {id};
    }

    // The value of the layer before that the first operations of layer `l` read, or of maps before layer 1.
    int read_by(int l) const {
        int site = found_.product(l).input;
        while (at(site).layer == l && at(site).dropout == 0) site = at(site).input;
        return site;
    }

    void find_results() {
        for (int l = 2; l <= found_.depth; ++l) found_.results.push_back(read_by(l));
        if (add_last_result(found_, across_layers_.size())) return;
        next_ = across_layers_.front();
        refuse("adds what several layers make, and is not what the loss reads");
    }

    const OpGraph& graph_;
    SiteGraph found_;
    std::vector<Made> made_;  // by each operation
    OpReaders readers_;
    std::vector<std::size_t> across_layers_;  // operations that add what different layers make
    std::size_t next_ = 0;
};

}  // namespace

SiteGraph sites_of(const OpGraph& graph) { return SiteReader(graph).read(); }

}  // namespace gnnplan
