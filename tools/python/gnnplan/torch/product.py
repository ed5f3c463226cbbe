"""Runs a product, of whatever program, in stages, with transfers of later stages under way."""

import numpy
import torch

from .grid import size
from .programs import PROGRAMS
from .sparse import Packing, base_of
from .summands import index_targets


class Product:
    """One pass over the nonzeros of the matrix, with one or more dense operands."""

    def __init__(self, step, rank):
        self.rank, self.step = rank, step
        self.matrix = rank.tensor(step["matrix"])
        self.part = rank.part(step["matrix"])
        self.program = PROGRAMS[step["program"]](step, rank)
        self.operands = [as_sent(rank.values[name]) for name in self.program.operands]
        self.transfers = self.part.transfers(step["exchange"], bool(step["overlap"]))
        self.arriving = {}  # by stage: the bytes of nonzeros, and the messages
        self.rows = {}      # by stage: for each operand, the rows of the piece that others sent

    def run(self):
        ahead = self.matrix.ahead if self.step["overlap"] else 0
        begun = 0
        for k, stage in enumerate(self.part.stages):
            begun = self.begin_up_to(k, begun)
            nonzeros, arriving, messages = self.arriving.pop(k)
            messages.wait()
            self.place(k, arriving)
            begun = self.begin_up_to(k + ahead, begun)
            if stage.piece:
                self.multiply(k, stage.piece, nonzeros)
            for got in [got for got in self.rows if self.transfers.last_use.get(got, k) < begun]:
                del self.rows[got]
        self.program.finish()

    def begin_up_to(self, last, begun):
        while begun < len(self.part.stages) and begun <= last:
            self.arriving[begun] = self.begin(begun)
            begun += 1
        return begun

    def begin(self, k):
        """Starts the messages of a stage: nonzeros, and rows of this rank or got before."""
        stage = self.part.stages[k]
        sends = [(peer, rows) for peer, *of in self.transfers.sends[k]
                 for rows in self.rows_for(k, peer, *of)]
        receives, arriving, nonzeros = [], [], None
        for peer, columns in stage.nonzeros:
            block = self.part.block(columns, self.matrix)
            sends.append((peer, self.packing(columns).pack(block)))
        for source, places in self.transfers.receives[k]:
            count = size(stage.piece.columns) if places is None else len(places)
            parts = [x.new_empty(count, x.shape[1]) for x in self.operands]
            arriving.append((places, parts))
            receives += [(source, part) for part in parts]
        if stage.piece and stage.piece.matrix_root != self.rank.rank:
            nonzeros = torch.empty(self.packing(stage.piece.columns).bytes, dtype=torch.uint8,
                                   device=self.rank.device)
            receives.append((stage.piece.matrix_root, nonzeros))
        return nonzeros, arriving, self.rank.wire.begin(sends, receives)

    def rows_for(self, k, peer, columns, got, rows):
        """Rows of a piece for another rank: of this rank's own, or of those that it has got."""
        if got is not None:
            got_rows = self.rows[got]
            return got_rows if rows is None else [of[self.on_device(rows)] for of in got_rows]
        own = [x[self.part.own(columns)] for x in self.operands]
        return own if rows is None else [of[self.part.index[k, peer].long()] for of in own]

    def on_device(self, index):
        return torch.from_numpy(index).to(self.rank.device)

    def place(self, k, arriving):
        """Puts the rows that came from several ranks in their order."""
        if len(arriving) == 1:
            self.rows[k] = arriving[0][1]
        elif arriving:
            total = sum(len(places) for places, _ in arriving)
            self.rows[k] = [x.new_empty(total, x.shape[1]) for x in self.operands]
            for places, parts in arriving:
                index = self.on_device(places)
                for whole, part in zip(self.rows[k], parts):
                    whole[index] = part

    def packing(self, columns):
        count = self.part.graph.nonzeros(self.part.matrix.transposed, self.part.rows, columns)
        return Packing(self.rank.plan, self.matrix, self.part.rows, columns, count)

    def multiply(self, k, piece, nonzeros):
        operands = self.rows.get(k)
        if operands is None:
            operands = [x[self.part.own(piece.columns)] for x in self.operands]
        if nonzeros is None:
            block = self.part.block(piece.columns, self.matrix)
        else:
            request = self.part.request(piece)
            met = numpy.arange(size(piece.columns)) if request is None else request
            block = self.packing(piece.columns).unpack(
                nonzeros, self.rank, self.matrix, self.part.rows, piece.columns,
                self.on_device(met))
        if len(block.column) and any(of.shape[1] for of in operands):
            self.program.take(block, operands, self.part.edges()[k])


def as_sent(values):
    """Integers travel in 4 bytes."""
    return values.to(torch.int32) if values.dtype == torch.int64 else values


def spmm(step, rank):
    Product(step, rank).run()


def index(step, rank):
    if step["targets"]:
        index_targets(step, rank)
    else:
        rank.parts[base_of(rank.plan, step["matrix"])].exchange_index(step["relayed"])
