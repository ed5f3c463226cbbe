// The pieces in which a rank works through a distributed SpMM: who holds the dense rows of each, and who the nonzeros.
//
// The contraction side of a matrix M, whose rows are split over x, is laid out in one of three ways:
//   columns over z     Every rank has all nonzeros of its rows in its slice z. Its pieces are the blocks of the dense
//                      operand, in layout C, that the ranks of its x-group hold (1D, RDM, 1.5D without replication).
//   columns over z, y  The same slice is split over y by position. Pieces are the common refinement of the two splits,
//                      and another rank of the y-group holds the nonzeros of most (2D, 3D).
//   columns over y     The dense operand is in F, and its blocks are dealt to the ranks of a y-group, each of which has
//                      the nonzeros of its own blocks (CAGNET's 1.5D). All ranks of a y-group hold its block, and share
//                      the sending: the one that is dealt the receiver's block sends.
// Or the edges are parts of a vertex cut, one for each rank along x, which has nonzeros in any row and any column. Its
// pieces are as in the first case, and its results partial sums of rows, which their owners add up (SumRowsStep).
// Or the rows of M are split over all ranks and the contraction side is whole. The dense operand is then in R, and its
// blocks come from all ranks (values of edges whose rows are dealt over a y-group, DEAL).
// In groups, the columns of M are those of its rows' group, and so is all that a product reads: M's contraction side is
// split over x as its rows are.
// Each of these pieces is cut into Storage::splits, but for a rank's own block of the first kind, which never travels.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

struct Piece {
    Range columns;        // of the matrix, which are rows of the dense operand
    int dense_root = 0;   // the rank that sends those rows: of the same x-group, unless blocks or rows are dealt
    int matrix_root = 0;  // the rank of the same y-group that stores the nonzeros
};

// A rank's pieces in the order in which it multiplies them. The order starts with what the rank holds itself where it
// can and is staggered over the ranks, so that at each step every rank sends and receives about one piece. Where a rank
// has all nonzeros of its slice, its k-th piece is the block of the rank k further along x.
std::vector<Piece> pieces_of(const Grid& grid, const Tensor& matrix, int rank);

// The piece that `rank` begins with, of the `pieces` of a slice whose nonzeros are sharded, in the order of their
// positions: each rank of its x-group, and of its y-group, begins with another.
std::size_t first_piece(const Grid& grid, std::size_t pieces, int rank);

// Pieces of a rank that have equally many columns, at least one.
struct EqualPieces {
    std::int64_t columns = 0;
    std::int64_t count = 0;
    bool own = false;  // whether the rank has their dense rows
};
// A rank's pieces by size. Takes no time for each piece where a rank has all nonzeros of its slice: the blocks that
// ranks have are of two sizes. A size may occur more than once.
std::vector<EqualPieces> equal_pieces(const Grid& grid, const Tensor& matrix, int rank);

// How many pieces a rank has.
int piece_count(const Grid& grid, const Tensor& matrix, int rank);

// The pieces of `rank` whose dense rows (same y) or nonzeros (other y) live on `root`.
std::vector<Piece> pieces_of(const Grid& grid, const Tensor& matrix, int root, int rank);

// Into how many pieces blocks are cut where products with the matrix overlap their transfers: enough for a pipeline.
int splits_for_overlap(const Grid& grid, const Tensor& matrix);

// The most pieces that blocks may be cut into: what a rank keeps of its pieces stays small beside what it has of a
// graph.
int most_splits(const Grid& grid);

// Step k of a distributed product on one rank: it multiplies its k-th piece, and sends the k-th pieces of others what
// they lack and it has.
struct Stage {
    struct Service {
        int rank = 0;   // whom it serves
        Range columns;  // of that rank's k-th piece
    };
    std::optional<Piece> piece;
    std::vector<Service> rows;      // ranks whose k-th piece has its dense rows here
    std::vector<Service> nonzeros;  // ranks of the y-group whose k-th piece has its nonzeros here
};
std::vector<Stage> stages_of(const Grid& grid, const Tensor& matrix, int rank);

// Whether products with the matrix read nonzeros, or rows of the dense operand, that other ranks hold.
bool gathers_matrix(const Grid& grid, const Tensor& matrix);
bool gathers_rows(const Grid& grid, const Tensor& matrix);

// Whether every rank has rows of its own, also within a y-group.
bool deals_rows(const Tensor& matrix);

// The ranks that send blocks of the dense operand which `rank` reads, and that get its own from it: those of its
// x-group, or all, or of its group itself or all, itself first and each further along than the one before; or those
// that send it the blocks it is dealt, in the order in which it multiplies these.
std::vector<int> dense_roots(const Grid& grid, const Tensor& matrix, int rank);

// The axis over which products with the matrix are partial sums; none when the contraction side is whole.
std::optional<Axis> contraction_axis(const Grid& grid, const Tensor& matrix);
// The same as a list.
Axes partial_over(const Grid& grid, const Tensor& matrix);

// The layout in which a product wants its dense operand.
Layout dense_layout(const Tensor& matrix);

// The rows of an adjacency that a rank has, and those of a dense operand of products with it.
Range matrix_rows(const Grid& grid, const Tensor& matrix, int rank);
Range dense_rows(const Grid& grid, const Tensor& matrix, int rank);

// A block of so many columns is stored in this many source panels of equal size; see Tensor::panel_columns.
std::int64_t panel_count(std::int64_t columns, std::int64_t panel_columns);

// Bytes of the nonzeros of a block of rows.size() x columns.size() as they are stored and sent: for each panel rows + 1
// row starts (row_start_bytes()), for each nonzero 4 for its column and 4 for its value, unless values are factored.
std::int64_t sparse_bytes(const Blocking& blocking, const Tensor& matrix, Range rows, Range columns,
                          std::int64_t nonzeros);

}  // namespace gnnplan
