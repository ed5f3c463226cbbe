// The Python class of a plan's model.
#pragma once

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/sites.hpp>

#include <string>

namespace gnnplan::tools {

// The pieces of pytorch_source.hpp that the class needs beside itself.
struct ModelNeeds {
    bool sums = false;       // of rows, weighed by the matrix's entries
    bool hops = false;       // several products one after the other
    bool mixed = false;      // weights that the identity takes part in
    bool maxima = false;     // of rows
    bool edges = false;      // sums that are weighed by values of edges
    bool attention = false;  // scores of additive attention
    bool cosines = false;
    bool backward = false;  // class Product: an order that autograd does not take
};
ModelNeeds needs_of(const Plan& plan, const SiteGraph& model);

// class Model, with the plan's products in the plan's order: a line for each site.
std::string model_class(const Plan& plan, const SiteGraph& model);

}  // namespace gnnplan::tools
