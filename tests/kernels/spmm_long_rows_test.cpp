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

// Long rows may be cut, and then their pieces computed by others, as many at a time as there is room for: the bits of a
// column never depend on how many there are beside it. Sums of n terms of either sign and about 1 grow to about
// sqrt(n), and n roundings of them add up to about n 2^-24, 1e-3 for the longest row; the reference rounds, too.
TEST_P(SpmmLongRows, DoNotDependOnTheColumnsBeside) {
    std::mt19937 random(9);
    // The memory for pieces of rows holds those of a million nonzeros on a GPU.
    const std::int64_t longest = GetParam().name == "cuda" ? 2'200'000 : 15'000;
    const std::vector<std::int64_t> lengths = {1, 511, 512, 513, 0, 1024, 1025, 0, 0, 9000, 3, longest, 700, 12000, 0};
    const auto rows = static_cast<std::int64_t>(lengths.size());
    const OwnedCsr valued = with_lengths(random, lengths);
    OwnedCsr column_scaled = factored(valued, random, true, true);
    for (float& scale : column_scaled.column_scale) scale /= 3;
    for (const OwnedCsr& a : {valued, column_scaled}) {
        for (const bool accumulate : {false, true}) {
            const Owned b = Owned(50, 256).fill(random, 3);
            const Owned before = Owned(rows, 256).fill(random, 3);
            Owned whole = before, want = before;
            run(&Table::spmm, a.view(), b.view(), whole.view(), accumulate, PanelRoom{});
            reference_table().spmm(a.view(), b.view(), want.view(), accumulate, {});
            ASSERT_EQ(difference(whole, want, 5e-3 * static_cast<double>(longest) / 15'000), "");
            for (const std::int64_t width : {8, 16, 64, 128}) {
                if (!takes_next()) continue;
                Owned narrow(rows, width, 256 - width), of_whole(rows, width), b_narrow(50, width, 256 - width);
                for (std::int64_t i = 0; i < rows; ++i) {
                    std::copy_n(before.view().row(i), width, narrow.view().row(i));
                    std::copy_n(whole.view().row(i), width, of_whole.view().row(i));
                }
                for (std::int64_t i = 0; i < 50; ++i) std::copy_n(b.view().row(i), width, b_narrow.view().row(i));
                run(&Table::spmm, a.view(), b_narrow.view(), narrow.view(), accumulate, PanelRoom{});
                ASSERT_EQ(difference(narrow, of_whole), "") << "width " << width << ", accumulate " << accumulate;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::kernels::testing
