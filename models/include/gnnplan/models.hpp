// Models as op graphs, by name.
#pragma once

#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::models {

// Graph convolutional network (Kipf & Welling 2017, eq. 2): H^l = activation(A^T H W^l [+ b^l]), H = dropout(H^(l-1)),
// the last layer without activation, softmax cross-entropy over the training vertices. For every model, `residual` adds
// H, or H W^l where the widths differ or it is `linear`, to each layer's output before its bias; `jk` concat (Xu et al.
// 2018) gives the last layer an activation too, and the width of the one before, and the logits are [H^1 .. H^L] W
// [+ b]; with `last` they are H^L W [+ b]. Linear maps `pre` stand before layer 1, and `post` behind layer L.
OpGraph gcn(const ModelRecord& model);
OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias);

// GraphSAGE (Hamilton et al. 2017, algorithm 1) with sums or means of the in-neighbours: H^l = activation(A^T H W_n^l +
// H W_s^l [+ b^l]); A has no self loops, and its columns say which of the two it is.
OpGraph sage(const ModelRecord& model);
OpGraph sage(const std::vector<std::int64_t>& widths, bool bias);
// The same with means over the in-neighbours and the vertex itself ("GCN aggregator"): A has self loops, and there is
// no W_s.
OpGraph sage_gcn(const ModelRecord& model);
// The same with the largest of the in-neighbours' H, or of activation(H W_p^l [+ b_p^l]) (eq. 3), in each column.
OpGraph sage_max(const ModelRecord& model);
OpGraph sage_pool(const ModelRecord& model);

// Graph isomorphism network (Xu et al. 2019, eq. 4.1): H^l = activation(activation((A + (1 + epsilon) I)^T H W_0^l [+
// b]) W_1^l [+ b]); the inner width is the layer's output width. A has no self loops; build() also takes an A with
// them.
OpGraph gin(const ModelRecord& model);
OpGraph gin(const std::vector<std::int64_t>& widths, bool bias);

// Graph attention network (Velickovic et al. 2018): of each head H^l = activation(A_alpha^T H W^l [+ b^l]), where
// A_alpha has the softmax of leaky(<h_u, source> + <h_v, target>) over the in-neighbours u of v, h = H W^l. The heads
// of hidden layers follow each other, or are averaged as those of the last layer are; the activation is ELU unless
// another is asked for.
OpGraph gat(const ModelRecord& model);

// Attention-based graph neural network (Thekumparampil et al. 2018, eq. 5 and 6): H^0 = activation(X W [+ b]) of width
// f_1, L propagation layers H^l = P^l H^(l-1), where P^l weighs edges by the softmax of beta^l cos(H_u, H_v) over the
// in-neighbours of v, and logits dropout(H^L) W_out [+ b]. L >= 2, and f_1 = .. = f_(L-1).
OpGraph agnn(const ModelRecord& model);

// Simplified graph convolution (Wu et al. 2019, eq. 8): H^l = activation((A^T)^hops H W^l [+ b^l]). One layer, which is
// usual, is logistic regression of features that are the same in every epoch.
OpGraph sgc(const ModelRecord& model);

// Personalised propagation of neural predictions (Gasteiger et al. 2019, eq. 5): H^l = activation(x), where x = (1 -
// teleport) A^T x + teleport E is made `hops` times from x = E = H W^l [+ b^l] on. The network of the paper has linear
// maps `pre` and one layer, as with_widths() makes it.
OpGraph appnp(const ModelRecord& model);

// Graph convolutional network with initial residual and identity mapping (Chen et al. 2020, eq. 5):
// H^l = activation(((1 - teleport) A^T H + teleport H^0) (beta_l W^l + (1 - beta_l) I)), beta_l = log(theta / l + 1).
// H^0 is what linear maps `pre` make, each with an activation; logits are a linear map behind layer L, or `post`. Only
// those maps have biases.
OpGraph gcnii(const ModelRecord& model);

// Scalable inception graph neural network (Frasca et al. 2020, eq. 1 and 2): the logits are linear maps, with biases,
// activations and dropout between them, of activation([X W_0 | A^T X W_1 | .. | (A^T)^K X W_K]). Each hop is a layer of
// f_0 columns: widths are f_0 for each of them and the classes, and `post` has the widths of the maps. A concatenation
// needs no operation: the next map is a sum of maps of its parts.
OpGraph sign(const ModelRecord& model);

// The matrix A that a model multiplies by, unless the user asks for another.
struct MatrixForm {
    bool self_loops = true;
    Normalisation normalisation = Normalisation::symmetric;
};

// One way to aggregate, and the matrix that makes a product of it.
struct Aggregator {
    std::string_view name;
    MatrixForm matrix;
    OpGraph (*build)(const ModelRecord& model);
};

struct Model {
    std::string_view name;
    std::string_view summary;
    std::vector<Aggregator> aggregators;  // the first is the default; a model's only one has no name
    int linear_maps = 2;                  // of its layers, unless widths say how many
    // Where all but the last of them stand, if it has not as many layers: before its only one, or behind its hops. With
    // `around` it has as many layers and two more maps, one before and one behind them.
    enum class Maps : std::uint8_t { in_layers, before, behind, around } maps = Maps::in_layers;
};

// Every model of the product; a new one is a file and a row here.
const std::vector<Model>& registry();

// "" is the default aggregator. Throws Error{usage} listing the names when there is no such model or aggregator.
const Aggregator& find(std::string_view model, std::string_view aggregator);

// The matrix of a model with its options. It is normalised as `asked` says, else as is usual for the model. Throws
// Error{usage} as find() does.
MatrixForm matrix_of(const ModelRecord& model, std::optional<Normalisation> asked = {});

// Throws Error{usage} unless the model has an epsilon.
void check_has_epsilon(const ModelRecord& model);

// The same without the settings that it does not have and other models do: heads, a slope, an epsilon.
ModelRecord with_own_settings(ModelRecord model);

// How many layers a model has unless its widths say so.
int usual_layers(std::string_view model);

// The same model with widths from the features to the classes: of its layers, or of linear maps, the last of which is
// that of its only layer.
ModelRecord with_widths(ModelRecord model, const std::vector<std::int64_t>& widths);

// The model that with_widths() made it of: maps that its widths say are in none of its own lists.
ModelRecord as_asked(ModelRecord model);

// Whether it is none without linear maps before its layers.
bool needs_maps(const ModelRecord& model);

// The same model with everything said that it has by default.
ModelRecord with_defaults(ModelRecord model);

// The operations of a problem, over the matrix that it has. Throws Error{usage} as find() does, when widths are not at
// least two positive numbers, and for options that the model does not have.
OpGraph build(const ProblemRecord& problem);

// The same over the model's own matrix, matrix_of(model).
OpGraph build(const ModelRecord& model, Task task = Task::train);

}  // namespace gnnplan::models
