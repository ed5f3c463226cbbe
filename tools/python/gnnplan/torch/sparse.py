"""Distributed products with the sparse matrix, piece by piece."""

import numpy
import torch

from .grid import balanced, size
from .pieces import dense_rows, matrix_rows, stages_of
from .sources import Sources, Transfers


def base_of(plan, name):
    """The adjacency whose nonzeros a matrix uses: its own, or those of its structure."""
    return plan.tensors[name].structure or name


def index_of(plan, base):
    """The step that tells which rows of others products with a matrix need, None without one."""
    return next((step for step in plan.steps
                 if step.kind == "index" and step["matrix"] == base and not step["targets"]), None)


class SparsePart:
    """A rank's part of a matrix: the stages of its products, and which rows others need."""

    def __init__(self, rank, matrix):
        self.rank, self.matrix = rank, matrix
        self.rows = matrix_rows(rank.grid, matrix, rank.rank)
        self.stages = stages_of(rank.grid, matrix, rank.rank)
        self.needed_rows = index_of(rank.plan, matrix.name) is not None
        self.index = {}  # by stage and peer: which of the rank's rows the peer needs
        self.blocks, self.transfers_of, self.targets = {}, {}, {}
        self._edges = self._edge_rows = None
        self.graph = rank.graph.part_on(rank.grid, matrix, rank.rank)
        self.stored = None  # in a part of a cut: the rows that have nonzeros
        if "x" in matrix.layout[2]:
            self.stored = self.graph.stored_rows(matrix.transposed)

    def request(self, piece):
        """The rows of a piece that this rank needs, None for all of them."""
        if not self.needed_rows or piece.dense_root == self.rank.rank:
            return None
        return self.graph.met(self.matrix.transposed, self.rows, piece.columns)

    def transfers(self, exchange, overlap):
        key = exchange, overlap
        if key not in self.transfers_of:
            plan, graph = self.rank.plan, self.rank.graph
            sources = Sources(plan, graph, self.matrix, exchange, overlap)
            self.transfers_of[key] = Transfers(sources, self.rank.rank, len(self.stages))
        return self.transfers_of[key]

    def own(self, columns):
        """The place of a piece's rows in the rank's block of the dense operand."""
        first = dense_rows(self.rank.grid, self.matrix, self.rank.rank)[0]
        return slice(columns[0] - first, columns[1] - first)

    def edges(self):
        """By stage, where the values of its nonzeros are among those of the rank's edges."""
        if self._edges is None:
            self._edges, end = [], 0
            for stage in self.stages:
                begin = end
                if stage.piece:
                    end += self.graph.nonzeros(self.matrix.transposed, self.rows, stage.piece.columns)
                self._edges.append(slice(begin, end))
        return self._edges

    def edge_rows(self):
        """The row of each of the rank's edges, stage by stage."""
        if self._edge_rows is None:
            found = [self.graph.pairs(self.matrix.transposed, self.rows, stage.piece.columns)[0]
                     for stage in self.stages if stage.piece]
            rows = torch.from_numpy(numpy.concatenate(found) - self.rows[0])
            self._edge_rows = rows.to(self.rank.device)
        return self._edge_rows

    def exchange_index(self, relayed):
        """Tells every rank which of its rows this one gets straight from it, stage by stage."""
        device = self.rank.device
        transfers = self.transfers("relayed_rows" if relayed else "rows", False)
        for k, stage in enumerate(self.stages):
            sends, receives = [], []
            for source, places in transfers.receives[k]:
                if source == stage.piece.dense_root:
                    index = self.request(stage.piece)[places].astype(numpy.int32)
                    sends.append((source, torch.from_numpy(index).to(device)))
            for peer, _, got, rows in transfers.sends[k]:
                if got is None:
                    self.index[k, peer] = torch.empty(len(rows), dtype=torch.int32, device=device)
                    receives.append((peer, self.index[k, peer]))
            self.rank.wire.exchange(sends, receives)

    def block(self, columns, matrix):
        """The nonzeros of a piece in CSR, with the values of a matrix that has this structure."""
        key = columns, matrix.name
        if key not in self.blocks:
            self.blocks[key] = self._cut(columns, matrix)
        return self.blocks[key]

    def _cut(self, columns, matrix):
        start, column, value = self.graph.block(matrix.transposed, self.rows, columns)
        if self.stored is not None:
            start = numpy.append(start[self.stored], start[-1])
        width = size(columns)
        own = dense_rows(self.rank.grid, self.matrix, self.rank.rank)
        if self.needed_rows and not own[0] <= columns[0] < columns[1] <= own[1]:
            met = self.graph.met(self.matrix.transposed, self.rows, columns)
            column, width = numpy.searchsorted(met, column), len(met)
        return Block(*(torch.from_numpy(part).to(self.rank.device) for part in (
            start.astype(numpy.int64), column.astype(numpy.int64), value.astype(numpy.float32))),
            width)


class Block:
    """Some nonzeros in CSR: row starts, columns, values, and how many columns there are."""

    def __init__(self, start, column, value, width):
        self.start, self.column, self.value, self.width = start, column, value, width
        self._csr = None

    def with_values(self, values):
        return Block(self.start, self.column, values.contiguous(), self.width)

    def row_of_each(self):
        """The row of each nonzero."""
        rows = torch.arange(len(self.start) - 1, device=self.start.device)
        return torch.repeat_interleave(rows, self.start.diff())

    def times(self, dense):
        if self._csr is None:
            shape = len(self.start) - 1, self.width
            self._csr = torch.sparse_csr_tensor(self.start, self.column, self.value, shape)
        return self._csr @ dense


class Packing:
    """Nonzeros as bytes: row starts of each source panel, columns, and values unless factored."""

    def __init__(self, plan, matrix, rows, columns, nonzeros):
        per_panel = matrix.panel_columns or max(1, size(columns))
        self.panels = max(1, -(-size(columns) // per_panel))
        self.rows, self.nonzeros, self.factored = size(rows), nonzeros, matrix.factored
        wide = plan.row_start_bytes == 8 or nonzeros >= 2 ** 31
        self.start_type = torch.int64 if wide else torch.int32
        starts = (self.rows + 1) * self.panels * (8 if wide else 4)
        self.cuts = [starts, starts + 4 * nonzeros, starts + (4 if self.factored else 8) * nonzeros]

    @property
    def bytes(self):
        return self.cuts[-1]

    def pack(self, block):
        row = block.row_of_each()
        ends = [balanced((0, block.width), i, self.panels)[1] for i in range(self.panels)]
        ends = torch.tensor(ends, device=row.device)
        panel = torch.bucketize(block.column, ends, right=True)
        order = torch.sort(panel, stable=True).indices
        counts = torch.bincount(panel * self.rows + row, minlength=self.panels * self.rows)
        starts = torch.zeros(self.panels, self.rows + 1, dtype=torch.int64, device=row.device)
        ends = counts.cumsum(0).reshape(self.panels, self.rows)
        starts[:, 1:] = ends
        starts[1:, 0] = ends[:-1, -1] if self.rows else 0
        parts = [starts.to(self.start_type), block.column[order].to(torch.int32)]
        if not self.factored:
            parts.append(block.value[order])
        return torch.cat([part.reshape(-1).view(torch.uint8) for part in parts])

    def unpack(self, buffer, rank, matrix, own_rows, columns, of_columns):
        """The block again; of_columns says which columns of the piece those of it are."""
        a, b, c = self.cuts
        starts = buffer[:a].view(self.start_type).reshape(self.panels, self.rows + 1).long()
        column = buffer[a:b].view(torch.int32).long()
        row = torch.repeat_interleave(torch.arange(self.rows, device=buffer.device).repeat(
            self.panels), starts.diff(dim=1).reshape(-1))
        if self.factored:
            value = scaled(rank, matrix, row + own_rows[0], columns[0] + of_columns[column])
        else:
            value = buffer[b:c].view(torch.float32)
        order = torch.sort(row, stable=True).indices
        start = torch.zeros(self.rows + 1, dtype=torch.int64, device=buffer.device)
        start[1:] = torch.bincount(row, minlength=self.rows).cumsum(0)
        return Block(start, column[order], value[order], len(of_columns))


def scaled(rank, matrix, rows, columns):
    """The values of nonzeros that are a scale of their row times one of their column."""
    by_row, by_column = (torch.from_numpy(of) for of in rank.graph.scales_of(matrix.transposed))
    values = by_row[rows.cpu()] * by_column[columns.cpu()]
    return values.float().to(rank.device)
