// One forward pass over the sites of a model and, in training, the backward pass over them.
//
// Each kind of site has a file (site_*.cpp) with the steps that it makes in either pass. A site reads the values of
// sites before it and leaves one of its own, in the layouts in which it is made or which others ask for. Backwards the
// gradient of a value arrives from the sites that read it, which are added up, and the site that makes the value passes
// it on.
#pragma once

#include "planner/lower/builder.hpp"
#include "planner/lower/dense.hpp"
#include "planner/lower/segments.hpp"

#include <any>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gnnplan::lower {

// The result of a site.
struct Value {
    Copies copies;                   // H of a pointwise site, Z of a product or a linear map
    std::map<int, Copies> parts;     // by space: rows of it that others want alone
    Copies mask;                     // of a pointwise site with a ReLU: the bits H > 0
    std::optional<TensorId> kept;    // of a product: T = A^T H in left(site), where a pass leaves it
    std::optional<TensorId> mapped;  // of a product that began with H W: that, in gemm_out(site)
    std::any saved;                  // by the forward pass of the site for its backward pass: a type of its file
    bool prepared = false;           // whether prepare_backward has been here
};

// dL / d(value) while the backward pass has it.
struct Gradient {
    Copies copies;
    std::optional<TensorId> aggregated;  // A G in right(site), after a backward S
    std::optional<TensorId> mapped;      // G W^T in R, after a backward D
    std::optional<int> biased;           // a pointwise site whose bias wants the column sums of the gradient
    std::optional<int> same_as;          // a site whose gradient this one gets as well, once nobody else reads it
};

struct Passes {
    Builder& builder;
    const Rules& rules;
    const SiteGraph& model;
    bool training = true;
    Segments segments;
    bool again = false;            // whether a segment is being made again
    std::map<int, TensorId> kept;  // by product, made in setup: T^1 in left(1), or its value, of one without weights
    std::vector<Value> values;     // of each site
    std::vector<Gradient> gradients;

    Passes(Builder& emitting, bool trained, std::map<int, TensorId> made_once)
        : builder(emitting),
          rules(emitting.rules()),
          model(emitting.rules().model()),
          training(trained),
          segments(model, trained ? rules.configuration().remade : 0),
          kept(std::move(made_once)),
          values(model.sites.size()),
          gradients(model.sites.size()) {}

    std::optional<TensorId> kept_of(int product) const {
        const auto found = kept.find(product);
        return found == kept.end() ? std::nullopt : std::optional(found->second);
    }
    // Whether the backward pass finds what the forward pass makes of a site now.
    bool keeps(int site) const { return training && (again || segments.last(site) || !segments.wanted(site)); }
    // Whether anybody reads the value of a site that is made now.
    bool wants(int site) const { return !again || segments.wanted(site); }
    Value& value(int site) { return values[static_cast<std::size_t>(site)]; }
    Gradient& gradient(int site) { return gradients[static_cast<std::size_t>(site)]; }

    // The value of a site in `place`, redistributed by `step` if it is not there yet; `reader` wants it there.
    TensorId fetch(int site, Place place, const std::string& step, OpKind reader);
    // Those of its rows that layer `l` computes.
    TensorId fetch_rows(int site, int l, Place place, const std::string& step, OpKind reader);
    // The part of dL/d(value of a site) that has arrived so far, in R; more may be added. Nothing if there is none.
    std::optional<TensorId> arrived(int site, const std::string& step);
    // Leaves a part of dL/d(value of a site), called `name`, on top of what has arrived. Whether anything had.
    bool pass_on(int site, Copies gradient, const std::string& at, const std::string& name);
};

// A site that is lowered, for those who make its steps in several functions.
struct SitePass {
    SitePass(Passes& all, int site)
        : passes_(all),
          builder_(all.builder),
          rules_(all.rules),
          id_(site),
          site_(all.model.at(site)),
          l_(site_.layer) {}

    Passes& passes_;
    Builder& builder_;
    const Rules& rules_;
    int id_;
    const Site& site_;
    int l_;
};

// T^1 of layer 1's product in left(1), made in setup.
TensorId setup_product(Builder& builder, const Site& site);
TensorId setup_max(Builder& builder, const Site& site);
void setup_propagation(Builder& builder, std::map<int, TensorId>& kept);

void forward_product(Passes& passes, int site);
void backward_product(Passes& passes, int site);
void forward_max(Passes& passes, int site);
void backward_max(Passes& passes, int site);
void forward_attention(Passes& passes, int site);
void backward_attention(Passes& passes, int site);
void forward_propagation(Passes& passes, int site);
void backward_propagation(Passes& passes, int site);
void forward_cosine(Passes& passes, int site);
void backward_cosine(Passes& passes, int site);
void forward_linear(Passes& passes, int site);
void backward_linear(Passes& passes, int site);
void forward_pointwise(Passes& passes, int site);
void backward_pointwise(Passes& passes, int site);
void forward_norm(Passes& passes, int site);
void backward_norm(Passes& passes, int site);
void forward_batch_norm(Passes& passes, int site);
void backward_batch_norm(Passes& passes, int site);
void forward_loss(Passes& passes, int site);
void backward_loss(Passes& passes, int site);
void forward_output(Passes& passes, int site);

// Adds to the gradient of a value what it has in common with another one (Gradient::same_as).
void add_same(Passes& passes, int site);

// Makes, while the value is at hand, what the backward pass will want of it: a copy as operand of the weight gradient
// of the product that reads it, and its mask.
void prepare_backward(Passes& passes, int site);

// The gradient of the bias that waits for this gradient, if any: its column sums, where its rows count once.
void bias_gradient(Passes& passes, const Gradient& gradient);

}  // namespace gnnplan::lower
