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
        self.arriving = {}  # of a stage: the rows, the bytes of nonzeros, and the messages

    def run(self):
        out = self.rank.zeros(self.rank.tensor(self.step["out"]))
        stages, begun = self.part.stages, 0
        ahead = self.matrix.ahead if self.step["overlap"] else 0
        for k, stage in enumerate(stages):
            while begun < len(stages) and begun <= k + ahead:
                self.arriving[begun] = self.begin(begun)
                begun += 1
            rows, nonzeros, messages = self.arriving.pop(k)
            messages.wait()
            if stage.piece and out.numel():
                self.multiply(stage.piece, rows, nonzeros, out)

    def begin(self, k):
        stage, sends, receives = self.part.stages[k], [], []
        rows = nonzeros = None
        for peer, columns in stage.rows:
            own = self.dense[self.part.own(columns)]
            index = self.part.index.get((k, peer))
            sends.append((peer, own if index is None else own[index.long()]))
        for peer, columns in stage.nonzeros:
            block = self.part.block(columns, self.matrix)
            sends.append((peer, self.packing(columns).pack(block)))
        piece = stage.piece
        if piece and piece.dense_root != self.rank.rank:
            request = self.part.request(piece)
            count = size(piece.columns) if request is None else len(request)
            rows = self.dense.new_empty(count, self.width)
            receives.append((piece.dense_root, rows))
        if piece and piece.matrix_root != self.rank.rank:
            nonzeros = torch.empty(self.packing(piece.columns).bytes, dtype=torch.uint8,
                                   device=self.rank.device)
            receives.append((piece.matrix_root, nonzeros))
        return rows, nonzeros, self.rank.wire.begin(sends, receives)

    def packing(self, columns):
        count = self.rank.graph.nonzeros(self.part.matrix.transposed, self.part.rows, columns)
        return Packing(self.rank.plan, self.matrix, self.part.rows, columns, count)

    def multiply(self, piece, rows, nonzeros, out):
        dense = self.dense[self.part.own(piece.columns)] if rows is None else rows
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
    rank.parts[base_of(rank.plan, step["matrix"])].exchange_index()
