"""The words of docs/published.md around the figures of CAGNET, of several nodes, and of single kernels."""
import cagnet, deal, distgnn, mg_gcn_figures, plexus, schemes
from agreement import figures, grid, published
from planner import PRESET


ABOUT = 1.25  # trends that differ by no more are the same


def trend(ranks):
    """How the advantage grows with the number of GPUs, beside how it is published to."""
    same = max(ranks["growth"] / ranks["published_growth"], ranks["published_growth"] / ranks["growth"]) <= ABOUT
    return (f"{'The trend is about as published' if same else '**The trend is not as published**'}: from 2 to 8 GPUs the advantage is\n"
            f"  {ranks['published_growth']:.2f} times as large, predicted {ranks['growth']:.2f} times (Spearman over the 12 means "
            f"{ranks['spearman']:.2f}).")


def rdm_ranks(found):
    ranks, communication = schemes.by_ranks_summary(found["by_ranks"]), schemes.communication_summary(found["communication"])
    return f"""## Number of GPUs and communication: GNN-RDM's Tables VII and IX

RDM over CAGNET on 2, 4 and 8 GPUs, mean of the eight data sets, published / predicted:

{schemes.by_ranks_table(found["by_ranks"])}

- RDM is predicted to be the faster in {ranks['faster']} of {ranks['cells']} cases. {trend(ranks)}
- CAGNET spends {communication['published']:.2f} times as long communicating as RDM on 8 GPUs (Table IX, mean of 32 cases), and the plans above send
  {communication['bytes']:.2f} times the bytes (Spearman {communication['spearman']:.2f}). So a byte of RDM's all-to-all cost as much there as {communication['per_byte']:.2f} bytes of
  CAGNET's broadcasts.
- Table VII's other column, DGCL (0.84 to 3.74), is not confronted: what it sends depends on where the edges are, which cards do not say.
"""


def cagnet_exceptions(found, summary):
    why = cagnet.why_summary(cagnet.why_2d(found["cagnet_by_profile"][PRESET], found["cagnet_by_profile"]["SpMM x 0.5"]), summary)
    if why is None:
        return ""
    return f"""
- **The exceptions are all cells of {why['names']}** ({why['cells']}), and local products are not the reason, although the paper says that short rows
  and few columns slow them down in 2D: they would have to take {why['products'][0]:.1f} to {why['products'][1]:.0f} times as long. Nearly all of the predicted time is messages.
  If 2D's took {why['rest'][0]:.2f} to {why['rest'][1]:.2f} times as long, 1.5D would be first; {why['enough']:.2f} times is enough for {why['right']} of {summary['cells']} cells. No figure of the paper
  says whether they did.
"""


def cagnet_runs(found):
    times, summaries = found["cagnet_by_profile"][PRESET], {name: cagnet.summary(of) for name, of in found["cagnet_by_profile"].items()}
    one, fitted, cubes = summaries[PRESET], cagnet.fit_summary(found["cagnet_fits"]), cagnet.cube_summary(found["cagnet_cubes"])
    shared, alone = found["cagnet_copies"]
    partition = grid(["graph", "all bytes", "busiest rank"],
                     [[row["graph"], f"{row['total']:g} %", f"{row['busiest']:g} %"] for row in published("cagnet-partition.csv")])
    return f"""## Several nodes: CAGNET's Figures 1 to 3

3 layers on Summit, 6 V100 a node. The figures are bars without numbers, so the sentences about them are confronted. Predicted seconds
of an epoch, 16 hidden features, memory not limited, 1.5D on CAGNET's own grids (P/c x c), 2D on squares:

{cagnet.table(times)}

| CAGNET says | predicted |
|---|---|
| 2D is never faster than 1.5D ({one['cells']} cells of Figure 1) | in {one['never_2d']} of {one['cells']} |
| 1.5D is the most effective on Summit | the fastest of the three in {one['best_15d']} of {one['cells']} |
| with 6 GPUs a node, copies hardly shorten broadcasts | c = 4 is {shared:.2f} times as fast as 1D (Amazon, Protein) |
| with 1 GPU a node, they do (Figure 2) | c = 4 is {alone:.2f} times as fast as 1D |
| Amazon: 3D is slower than 2D on 25/27 and 64 GPUs | in {cubes['small']} of 2 |
| Amazon: 3D is as fast as 2D on 121/125 | {'yes' if cubes['equal'] else 'no'} |
| Protein: 3D is generally faster | in {cubes['protein']} of 3 |
| what fits 16 GB ({fitted['all']} runs) | right in {fitted['right']}; wrong: {fitted['wrong'] or 'none'} |

64 hidden features (Figure 3):

{cagnet.cube_table(found["cagnet_cubes"])}

{cagnet.sensitivity(summaries)}
{cagnet_exceptions(found, one)}
Graph partitioning (section IV-A.6): METIS saves much of all communication and less of that of the busiest rank, which decides. Bytes of
needed rows on 64 ranks against shuffled vertices; Reddit is as printed, the others are counted from the graphs:

{partition}
"""


def caches(dense):
    """Whether anything is predicted to be faster than its number of GPUs."""
    most = max(gain / ranks for gains in dense.values() for gain, ranks in zip(gains, (2, 4, 8)))
    if most > 1:
        return f"At most {most:.2f} times the number of GPUs; denser graphs gain more, as published."
    return ("**Never more than the number of GPUs**: the paper puts that down to caches, which presets do not know. That denser graphs gain more\n"
            "is as published.")


def kernels(found):
    summary = mg_gcn_figures.summary(found["kernels"], found["v100_fits"])
    dense = found["density"]
    return f"""## Kernels, density, memory: MG-GCN's Figures 5, 9 and 10

2 layers, 512 hidden features, MG-GCN's scheme. Shares of an epoch on one A100 (Figure 5: on the large graphs SpMM takes 60 to 94 %, GEMM
5 to 20 %; on the small ones GEMM comes first):

{mg_gcn_figures.kernel_table(found["kernels"])}

SpMM is within these bounds on {summary['spmm']} of the 3 large graphs, GEMM on {summary['gemm']}, and GEMM comes first on {summary['first']} of the 2 small ones.

Speed-ups on 8 V100 of graphs as large as Arxiv with more edges (Figure 9: more than 2 and 4 from 32x on, more than 8 from 64x on):

{mg_gcn_figures.density_table(dense)}

{caches(dense)}

Proteins on V100 of 32 GB (Figure 10), right in {summary['fits']} of 4:

{mg_gcn_figures.fit_table(found["v100_fits"])}
"""


def perlmutter(found):
    collectives, products = found["collectives"], found["products"]
    large = [row for row in collectives if row[1] >= 16]
    return f"""## Parts of epochs on Perlmutter, measured by Plexus's authors

Plexus trains GCN on up to 2048 A100; its paper (SC'25) draws its epochs and prints none, so none is compared. Its repository
(hpcgroup/plexus) keeps what its authors measured for a model of theirs. The preset `a100x4-perlmutter` was fitted to none of it.

A reduce-scatter and an all-gather of NCCL, against an all-reduce of as many bytes:

{plexus.collective_table(collectives)}

From 16 MB on: {plexus.ratio(large, lambda row: row[0] <= 4):.2f} of the published time inside a node, where two GPUs use four of the twelve links of each, which no
profile says (`docs/catalog.md`); **{plexus.ratio(large, lambda row: row[0] > 4):.2f} between nodes**: an all-reduce is predicted as one ring, through one card of each
node, and NCCL's rings use all four. Of an epoch's messages only gradients of weights are all-reduced.

Products of PyTorch (cuSPARSE) on one A100 with rows of very uneven lengths, against a step of the preset's rate:

{plexus.product_table(products)}

From 128 columns on {plexus.ratio(products, lambda row: row[1] >= 128):.2f}; at 4 to 32 columns {plexus.ratio(products, lambda row: row[1] <= 32):.2f}: the preset's rates know no
slow-down of narrow slices, and PyTorch's product is not gnnplan's.
"""


def distgnn_epochs(found):
    cells, summaries = found["distgnn_by_profile"][PRESET], {name: distgnn.summary(of) for name, of in found["distgnn_by_profile"].items()}
    one, (widths, operations, part_operations, clones) = summaries[PRESET], found["distgnn_operations"]
    return f"""## CPUs: DistGNN's epochs

GraphSAGE with the GCN aggregator, one rank a socket of a Xeon 9242. cd-0 is DistGNN's exact algorithm, by a cut of vertices whose clones
all compute. 1D, RDM and the cut are gnnplan's, without its extras, but on one socket they aggregate first in all layers, as DistGNN does.
The cut has a part a socket; where each row is computed by its owner alone, as many rows travel as with clones, and dense work is
not repeated. Its replication factors are those of Table 4 (docs/cuts.md): nothing but a cut of the data sets would confirm them.
gnnplan's own cd-0, cd-5 and 0c (`--inexact`) are on the same parts, all messages of cd-5 hidden as its overlap is guessed to be.
Speed-ups are over one socket; cd-5 uses sums that are five epochs old.

{distgnn.table(cells)}

{distgnn.sensitivity(summaries)}

- **Seconds of one socket are up to {one['worst']:.0f} times too small**: in the mean {one['single']:.2f} of the published time ({one['least']:.2f} to {one['most']:.2f}). Papers and
  Proteins use memory of several NUMA domains there, and Reddit is faster than predicted because it stays in caches.
- On the most sockets cd-0 took {one['gain']:.1f} times as long as the faster of 1D and RDM is predicted to, at most {one['most_gain']:.1f} times. If predictions
  for many sockets err as those for one, the speed-ups say what is left of that: theirs are {one['least_left']:.1f} to {one['most_left']:.0f} times those of cd-0.
- cd-5 is faster than cd-0, published (predicted by gnnplan's own): {distgnn.late_gains(cells)}. Late sums keep gnnplan from
  transforming Reddit's 602 features before it sends them, as its cd-0 does; DistGNN's aggregates first in either.
- Work (Table 8): {widths} columns times the nonzeros of Products are {operations:.2f} · 10⁹ operations, printed 77.19. A part of 16 has {clones:,}
  vertices with the factor of Table 4, printed 596,499, and a sixteenth of the edges: {part_operations:.2f} · 10⁹ operations. The table prints 18.80: it
  gives each clone all edges of its vertex. Sizes (Table 2) are those of the cards.
- Memory (Table 6): Papers in an epoch. *Arithmetic*: twice the bytes of what its section 6.3 lists, for the vertices that the factors
  of Table 4 give a part. gnnplan's ranks load the whole graph, and on clones they have the tensors of exact evaluation besides.

{distgnn.memory_table(found["distgnn_memory"])}
"""


def deal_weak(found):
    return f"""### On more machines and larger graphs: Figure 15a

Efficiency of 16 machines with 8 billion edges against 2 with 1 billion, 20 edges a vertex, all {deal.MOST // deal.FEWEST} times as large; the fastest grids:

{deal.weak_table(found["deal_weak"])}

Figure 14 has DEAL over DGI and SALIENT++, which infer in batches. How much of what they read is shared depends on the graph; gnnplan
counts none of it, so the figure is not confronted.
"""


ERRATA = """- CAGNET, MG-GCN, DistGNN and DEAL have slips, too (`docs/cost-model.md`). MG-GCN's "40x, 12.4x and 1.77x faster than DistGNN" are
  51x, 26x and 4.1x by its own tables.
"""
