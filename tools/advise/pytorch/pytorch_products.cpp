#include "tools/advise/pytorch/pytorch_source.hpp"

namespace gnnplan::tools {

const char* const pytorch_own_rows = R"py(
    def own(self, x):
        """The rows of x of the vertices that A has rows for."""
        return x if self.own_rows is None else x[self.own_rows]

    def cut(self, rows, whole_columns):
        """These rows of a whole matrix, and the columns that they and the vertices need."""
        kept = torch.isin(self.target, rows)
        target, source, columns = self.target[kept], self.source[kept], self.shape[1]
        read = torch.arange(columns, device=rows.device)
        if not whole_columns:
            read = torch.unique(torch.cat([rows, source]))
        at = [torch.searchsorted(a, b) for a, b in ((rows, target), (read, source), (read, rows))]
        return Adjacency(at[0], at[1], self.value[kept], (len(rows), len(read)), at[2]), read


def matrices(n, *edges_and_rows):
    """A of each product, from 1: with rows, what the logits of these vertices need; the
    first WHOLE products compute all rows."""
    *edges, rows = edges_and_rows
    whole = adjacency(n, *edges)
    A = [whole] * (PRODUCTS + 1)
    for product in range(PRODUCTS, WHOLE, -1) if rows is not None else ():
        A[product], rows = whole.cut(rows, product == WHOLE + 1)
    return A
)py";

const char* const pytorch_sum_methods = R"py(
    @functools.cached_property
    def both(self):
        """A and its transpose, which are one where they are equal."""
        a, b = self.csr(self.value), self.csr_of_transpose(self.value)
        parts = zip((a.crow_indices(), a.col_indices(), a.values()),
                    (b.crow_indices(), b.col_indices(), b.values()))
        return (a, a) if all(torch.equal(p, q) for p, q in parts) else (a, b)

    def __matmul__(self, x):
        return Propagate.apply(self, x)
)py";

const char* const pytorch_max_methods = R"py(
    def maxima(self, x):
        """The largest of the in-neighbours' rows in each column, 0 of none. Neighbours that are
        equally large share the gradient."""
        largest = x.new_zeros(self.shape[0], x.shape[1])
        at = self.target[:, None].expand(-1, x.shape[1])
        return largest.scatter_reduce(0, at, rows_at(self.source, x), "amax", include_self=False)
)py";

const char* const pytorch_edge_methods = R"py(
    def softmax(self, score):
        """Over the in-neighbours of each vertex, of each column."""
        at = self.target[:, None].expand_as(score)
        zeros = score.new_zeros(self.shape[0], score.shape[1])
        largest = zeros.scatter_reduce(0, at, score.detach(), "amax", include_self=False)
        power = (score - rows_at(self.target, largest)).exp()
        return power / rows_at(self.target, zeros.scatter_add(0, at, power))
)py";

const char* const pytorch_attention = R"py(
    def attend(self, h, attention, drop=lambda weights: weights, average=False):
        """Sums of h of all heads, weighed by the softmax of leaky(source + target)."""
        h = h.reshape(len(h), *attention.source.shape)
        source, target = (h * attention.source).sum(2), (h * attention.target).sum(2)
        if self.own_rows is not None:
            target = target[self.own_rows]
        score = rows_at(self.source, source) + rows_at(self.target, target)
        weight = drop(self.softmax(F.leaky_relu(score, SLOPE)))
        sums = EdgeSums.apply(self, weight, h)
        return sums.mean(1) if average else sums.flatten(1)
)py";

const char* const pytorch_cosines = R"py(
    def compare(self, h, beta):
        """Sums of h, weighed by the softmax of beta times the cosine of both ends of an edge."""
        unit = F.normalize(h, dim=1)
        own = unit if self.own_rows is None else unit[self.own_rows]
        weight = self.softmax(beta * EdgeProducts.apply(self, own, unit)[:, None])
        return EdgeSums.apply(self, weight, h[:, None]).flatten(1)
)py";

const char* const pytorch_rows_at = R"py(

def rows_at(index, x):
    return x.gather(0, index[:, None].expand(-1, x.shape[1]))
)py";

const char* const pytorch_propagate = R"py(

class Propagate(torch.autograd.Function):
    """A @ x. Autograd's own backward of a sparse product would transpose A in every epoch."""

    @staticmethod
    def forward(ctx, A, x):
        ctx.A = A
        return A.both[0] @ x

    @staticmethod
    def backward(ctx, g):
        return None, ctx.A.both[1] @ g.contiguous()
)py";

const char* const pytorch_hops = R"py(

class Hops:
    """P, which multiplies by some matrices one after the other: of x0, x = x0 becomes
    (1 - teleport) * A @ x + teleport * x0 for each of them."""

    def __init__(self, matrices, teleport=0):
        self.matrices, self.teleport = matrices, teleport

    def __matmul__(self, x):
        made = x
        for A in self.matrices:
            x = x if A.own_rows is None else x[A.own_rows]
            made = self.blend(A @ made, x)
        return made

    @property
    def both(self):
        return self, HopsBack(self)

    def blend(self, made, x):
        return made if self.teleport == 0 else torch.lerp(made, x, self.teleport)


class HopsBack:
    """P.T, which makes the gradient of x0 of that of the result, g, in the same way with A.T."""

    def __init__(self, hops):
        self.hops = hops

    def __matmul__(self, g):
        made = g
        for A in reversed(self.hops.matrices):
            if A.own_rows is not None:
                g = g.new_zeros(A.shape[1], g.shape[1]).index_copy(0, A.own_rows, g)
            made = self.hops.blend(A.both[1] @ made, g)
        return made
)py";

const char* const pytorch_mixed = R"py(

def mixed(weight, share):
    """share * W + (1 - share) * I, an identity mapping."""
    return torch.lerp(torch.eye(len(weight), device=weight.device), weight, share)
)py";

const char* const pytorch_product = R"py(

class Product(torch.autograd.Function):
    """A @ x @ W with the backward products in the plan's order, which autograd does not take.

    order, backward: S multiplies by the sparse matrix first, D by the weights. operand: W's
    gradient is made of A @ x and g (T), or of x and A.T @ g (G).
    """

    @staticmethod
    def forward(ctx, A, x, w, order, backward, operand):
        ctx.how = A, order, backward, operand
        if order == "D":
            ctx.save_for_backward(x, w)
            return A.both[0] @ (x @ w)
        Ax = A.both[0] @ x
        ctx.save_for_backward(Ax if operand == "T" else x, w)
        return Ax @ w

    @staticmethod
    def backward(ctx, g):
        (A, order, backward, operand), g = ctx.how, g.contiguous()
        kept, w = ctx.saved_tensors
        Ag = A.both[1] @ g if backward == "S" or operand == "G" else None
        if operand == "T":
            w_grad = (kept if order == "S" else A.both[0] @ kept).T @ g
        else:
            w_grad = kept.T @ Ag
        x_grad = None
        if ctx.needs_input_grad[1]:
            x_grad = Ag @ w.T if backward == "S" else A.both[1] @ (g @ w.T)
        return None, x_grad, w_grad, None, None, None
)py";

const char* const pytorch_edge_sums = R"py(

def sums(matrix, weight, h):
    """For each head: the matrix with that head's values of edges, times its columns of h."""
    return torch.stack([matrix(weight[:, k].contiguous()) @ h[:, k].contiguous()
                        for k in range(weight.shape[1])], 1)


def products(A, a, b):
    """For each edge and head: the product of the rows a of its target and b of its source."""
    return (a[A.target] * b[A.source]).sum(-1)


class EdgeSums(torch.autograd.Function):
    """For each vertex and head: the sum of weight * h over its in-neighbours."""

    @staticmethod
    def forward(ctx, A, weight, h):
        ctx.A = A
        ctx.save_for_backward(weight, h)
        return sums(A.csr, weight, h)

    @staticmethod
    def backward(ctx, g):
        weight, h = ctx.saved_tensors
        return None, products(ctx.A, g, h), sums(ctx.A.csr_of_transpose, weight, g)
)py";

const char* const pytorch_edge_products = R"py(

class EdgeProducts(torch.autograd.Function):
    """For each edge: the product of the rows a of its target and b of its source."""

    @staticmethod
    def forward(ctx, A, a, b):
        ctx.A = A
        ctx.save_for_backward(a, b)
        return products(A, a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return None, ctx.A.csr(g.contiguous()) @ b, ctx.A.csr_of_transpose(g.contiguous()) @ a
)py";

}  // namespace gnnplan::tools
