// Rows of so many nonzeros that a device may share them out.
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

// Rows of these lengths, with columns and values of thirds, so that another order of a sum would show.
OwnedCsr with_lengths(std::mt19937& random, const std::vector<std::int64_t>& lengths) {
    OwnedCsr csr;
    csr.columns = 50;
    for (const std::int64_t length : lengths) {
        for (std::int64_t k = 0; k < length; ++k) {
            csr.column.push_back(static_cast<std::int32_t>(random() % 50));
            csr.value.push_back(static_cast<float>(random() % 7) / 3 - 1);
        }
        csr.row_start.push_back(static_cast<std::int64_t>(csr.column.size()));
    }
    return csr;
}

class SpmmLongRows : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SpmmLongRows, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Long rows may be cut, and then their pieces computed by others: the bits of one never depend on the rows beside it,
// which may be so many that there is no room for all their pieces. Sums of n terms of either sign and about 1 grow to
// about sqrt(n), and n roundings of them add up to about n 2^-24, 1e-3 for the longest row; the reference rounds, too.
TEST_P(SpmmLongRows, DoNotDependOnTheirNeighbours) {
    std::mt19937 random(9);
    const std::vector<std::int64_t> lengths = {1, 511, 512, 513, 0, 1024, 1025, 9000, 3, 15000, 700, 12000};
    const OwnedCsr valued = with_lengths(random, lengths);
    OwnedCsr column_scaled = factored(valued, random, true, true);
    for (float& scale : column_scaled.column_scale) scale /= 3;
    for (const OwnedCsr& a : {valued, column_scaled}) {
        for (const std::int64_t width : a.value.empty() ? std::vector{41} : std::vector{8, 256}) {
            const Owned b = Owned(50, width, 3).fill(random, 3);
            const Owned before = Owned(12, width).fill(random, 3);
            Owned whole = before, want = before;
            run(&Table::spmm, a.view(), b.view(), whole.view(), true, PanelRoom{});
            reference_table().spmm(a.view(), b.view(), want.view(), true, {});
            ASSERT_EQ(difference(whole, want, 5e-3), "") << "width " << width;
            for (std::int64_t i = 0; i < 12; ++i) {
                if (!takes_next()) continue;
                Owned row(1, width), among_others(1, width);
                std::copy_n(before.view().row(i), width, row.view().data);
                std::copy_n(whole.view().row(i), width, among_others.view().data);
                run(&Table::spmm, a.view().row_slice(i, 1), b.view(), row.view(), true, PanelRoom{});
                ASSERT_EQ(difference(row, among_others), "") << "width " << width << ", row " << i;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
