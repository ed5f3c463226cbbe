"""Messages between ranks, whose bytes are counted where they are sent."""

import torch
import torch.distributed as dist

from .grid import balanced, size


class Wire:
    """Point-to-point exchanges, and the rings that the plan counts for sums."""

    def __init__(self, rank, device):
        self.rank, self.device = rank, device
        self.sent = self.received = 0  # bytes

    def begin(self, sends, receives):
        """Starts messages [(peer, tensor)], empty ones left out; returns what to wait for."""
        sends = [(peer, tensor.contiguous()) for peer, tensor in sends if tensor.numel()]
        receives = [(peer, tensor) for peer, tensor in receives if tensor.numel()]
        self.sent += bytes_of(sends)
        self.received += bytes_of(receives)
        todo = [dist.P2POp(dist.irecv, tensor, peer) for peer, tensor in receives]
        todo += [dist.P2POp(dist.isend, tensor, peer) for peer, tensor in sends]
        return Pending(dist.batch_isend_irecv(todo) if todo else [], sends)

    def exchange(self, sends, receives):
        self.begin(sends, receives).wait()

    def all_reduce(self, group, flat, add=torch.add):
        """Sums a vector over a group in place, in a ring (Patarasuk & Yuan 2009)."""
        count, place = len(group), group.index(self.rank)
        if count == 1:
            return
        blocks = [flat[slice(*balanced((0, flat.numel()), i, count))] for i in range(count)]
        self._reduce(group, blocks, place, add)
        for s in range(count - 1):
            self._pass_on(group, blocks[(place + 1 - s) % count], blocks[(place - s) % count])

    def reduce_scatter(self, group, blocks):
        """Sums blocks over a group in a ring; the block of the rank's own place is its sum then."""
        self._reduce(group, blocks, group.index(self.rank) - 1)

    def _reduce(self, group, blocks, first, add=torch.add):
        """Adds blocks up around the ring, so that the one behind `first` ends up complete."""
        count = len(group)
        for s in range(count - 1):
            own = blocks[(first - s - 1) % count]
            received = torch.empty_like(own)
            self._pass_on(group, blocks[(first - s) % count], received)
            own.copy_(add(own, received))

    def _pass_on(self, group, sent, received):
        place, count = group.index(self.rank), len(group)
        self.exchange([(group[(place + 1) % count], sent)],
                      [(group[(place - 1) % count], received)])


class Pending:
    """Messages under way, with what they are sent from."""

    def __init__(self, requests, kept):
        self.requests, self.kept = requests, kept

    def wait(self):
        for request in self.requests:
            request.wait()


def rows_of_blocks(matrix, count):
    """A matrix cut into so many balanced blocks of rows."""
    return [matrix[slice(*balanced((0, matrix.shape[0]), i, count))] for i in range(count)]


def bytes_of(messages):
    return sum(tensor.numel() * tensor.element_size() for _, tensor in messages)


def bytes_of_bits(elements):
    return (elements + 7) // 8


def part_size(block):
    return size(block[0]) * size(block[1])
