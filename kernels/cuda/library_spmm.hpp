// One sparse product of cuSPARSE, made ready once and then queued as often as wanted.
#pragma once

#include "kernels/views.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gnnplan::kernels::cuda {

// Those of cuSPARSE for CSR (CUSPARSE_SPMM_CSR_ALG1 to 3). By its documentation csr3 gives the same bits each time, but
// on an H100 rows of 700 nonzeros had others from run to run (bench/results/gpu.md).
enum class LibraryAlgorithm { csr1, csr2, csr3 };

// c = a b, or c += a b, for one block a and dense matrices of one width and one pair of strides. The constructor and
// prepare() throw Error{unavailable} where cuSPARSE refuses; what fails in multiply() comes out of Device::finish().
class LibrarySpmm {
public:
    // `a` is on the device and stays where it is as long as the product is used: one panel with values and, since
    // cuSPARSE wants row starts as wide as columns, narrow ones, from 0 to `nonzeros`. `b` and `c` are operands as
    // multiply() will get them.
    LibrarySpmm(const Csr& a, std::int64_t nonzeros, ConstMatrix b, Matrix c, LibraryAlgorithm algorithm);
    ~LibrarySpmm();
    LibrarySpmm(LibrarySpmm&&) noexcept;
    LibrarySpmm& operator=(LibrarySpmm&&) noexcept;

    // The product needs so much of the device's memory for itself.
    std::size_t buffer_bytes() const;

    // Queued; once, before the first product. cuSPARSE keeps in `buffer` (buffer_bytes() or more, 256-byte aligned)
    // what it finds out about `a`, so the buffer belongs to the product from then on.
    void prepare(std::span<std::byte> buffer);

    // Queued. `b` and `c` have the shapes and strides of the constructor's, and addresses of their own.
    void multiply(ConstMatrix b, Matrix c, bool accumulate);

private:
    struct Prepared;
    std::unique_ptr<Prepared> prepared_;
};

}  // namespace gnnplan::kernels::cuda
