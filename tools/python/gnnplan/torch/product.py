"""Runs a sum over nonzeros: stage by stage, with the transfers of later stages under way."""

import numpy
import torch

from .grid import size
from .sparse import Packing, base_of


class Product:
    """One product of the matrix with a dense operand."""

    def __init__(self, step, rank):
        self.rank, self.step = rank, step
        self.matrix = rank.tensor(step["matrix"])
        self.part = rank.part(step["matrix"])
        self.dense = rank.values[step["in"]]
        self.width = self.dense.shape[1]
        self.transfers = self.part.transfers(step["exchange"], bool(step["overlap"]))
        self.arriving = {}  # of a stage: the bytes of nonzeros, and the messages
        self.rows = {}      # of a stage: the rows of its piece that came from others

    def run(self):
        out = self.rank.zeros(self.rank.tensor(self.step["out"]))
        ahead = self.matrix.ahead if self.step["overlap"] else 0
        begun = 0
        for k, stage in enumerate(self.part.stages):
            begun = self.begin_up_to(k, begun)
            nonzeros, arriving, messages = self.arriving.pop(k)
            messages.wait()
            self.place(k, arriving)
            begun = self.begin_up_to(k + ahead, begun)
            if stage.piece and out.numel():
                self.multiply(k, stage.piece, nonzeros, out)
            for got in [got for got in self.rows if self.transfers.last_use.get(got, k) < begun]:
                del self.rows[got]

    def begin_up_to(self, last, begun):
        while begun < len(self.part.stages) and begun <= last:
            self.arriving[begun] = self.begin(begun)
            begun += 1
        return begun

    def begin(self, k):
        """Starts the messages of a stage: nonzeros, and rows of this rank or got before."""
        stage = self.part.stages[k]
        sends = [(peer, self.rows_for(k, peer, *of)) for peer, *of in self.transfers.sends[k]]
        receives, arriving, nonzeros = [], [], None
        for peer, columns in stage.nonzeros:
            block = self.part.block(columns, self.matrix)
            sends.append((peer, self.packing(columns).pack(block)))
        for source, places in self.transfers.receives[k]:
            count = size(stage.piece.columns) if places is None else len(places)
            arriving.append((places, self.dense.new_empty(count, self.width)))
            receives.append((source, arriving[-1][1]))
        if stage.piece and stage.piece.matrix_root != self.rank.rank:
            nonzeros = torch.empty(self.packing(stage.piece.columns).bytes, dtype=torch.uint8,
                                   device=self.rank.device)
            receives.append((stage.piece.matrix_root, nonzeros))
        return nonzeros, arriving, self.rank.wire.begin(sends, receives)

    def rows_for(self, k, peer, columns, got, rows):
        """Rows of a piece for another rank: of this rank's own, or of those that it has got."""
        if got is not None:
            return self.rows[got] if rows is None else self.rows[got][torch.from_numpy(rows)]
        own = self.dense[self.part.own(columns)]
        return own if rows is None else own[self.part.index[k, peer].long()]

    def place(self, k, arriving):
        """Puts the rows that came from several ranks in their order."""
        if len(arriving) == 1:
            self.rows[k] = arriving[0][1]
        elif arriving:
            total = sum(len(part) for _, part in arriving)
            self.rows[k] = self.dense.new_empty(total, self.width)
            for places, part in arriving:
                self.rows[k][torch.from_numpy(places)] = part

    def packing(self, columns):
        count = self.rank.graph.nonzeros(self.part.matrix.transposed, self.part.rows, columns)
        return Packing(self.rank.plan, self.matrix, self.part.rows, columns, count)

    def multiply(self, k, piece, nonzeros, out):
        dense = self.rows.get(k)
        if dense is None:
            dense = self.dense[self.part.own(piece.columns)]
        if nonzeros is None:
            block = self.part.block(piece.columns, self.matrix)
        else:
            request = self.part.request(piece)
            met = numpy.arange(size(piece.columns)) if request is None else request
            block = self.packing(piece.columns).unpack(
                nonzeros, self.rank, self.matrix, self.part.rows, piece.columns,
                torch.from_numpy(met).to(self.rank.device))
        if len(block.column):
            out += block.times(dense)


def spmm(step, rank):
    Product(step, rank).run()


def index(step, rank):
    rank.parts[base_of(rank.plan, step["matrix"])].exchange_index(step["relayed"])
