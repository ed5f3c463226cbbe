"""gnnplan: plans for distributed whole-graph training of graph neural networks."""
