#include <array>

#include "kernels/cpu/vector.hpp"
#include "tests/kernels/attention_support.hpp"
#include "tests/kernels/on_device.hpp"

namespace gnnplan::kernels::testing {
namespace {

const std::vector<std::int64_t> head_counts = {1, 3, 4, 8, 9};
const std::vector<std::int64_t> head_widths = {1, 4, 5, 16};
const std::vector<std::vector<std::int64_t>> panels = {{0}, {0, 20}, {0, 0, 17, 35}};

// Three vertices have edges to the first row, whose scores are log 2, 0 and log(1 / 2): the last is 5 log(1 / 2) times
// 0.2. Those that are not positive have 3 / 7 of the weight. The second row has no entries.
TEST(AttentionReference, OfThreeNeighbours) {
    const OwnedCsr a{3, {0, 3, 3}, {0, 1, 2}};
    const double unit = std::log(2);
    Doubles h(3, 2), s(3, 1), t(2, 1), sum(2, 2), logs(2, 1), totals(2, 1), parts(2, 2), shares(2, 1);
    const std::array<std::array<double, 2>, 3> values = {{{7, 0}, {14, 7}, {-7, 21}}};
    for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < 2; ++j)
            h.at(i, j) = values[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
    s.at(0, 0) = unit + 1, s.at(1, 0) = 1, s.at(2, 0) = -5 * unit + 1, t.at(0, 0) = -1;
    const Attention how{{2, 0}, 0.2F, {}};
    reference::attend<double>(in_double(a.view()), {h.view(), s.view(), t.view()},
                              {sum.view(), logs.view(), totals.view(), parts.view(), shares.view()}, how, false, true);
    EXPECT_NEAR(logs.at(0, 0), std::log(3.5), 1e-7);
    EXPECT_NEAR(sum.at(0, 0), 4 + 4 - 1, 1e-6);
    EXPECT_NEAR(sum.at(0, 1), 0 + 2 + 3, 1e-6);
    EXPECT_NEAR(parts.at(0, 0), -0.8 * (4 - 1 - 7 * 3 / 7.0), 1e-6);
    EXPECT_NEAR(parts.at(0, 1), -0.8 * (2 + 3 - 5 * 3 / 7.0), 1e-6);
    for (const double zero : {logs.at(1, 0), sum.at(1, 0), sum.at(1, 1), parts.at(1, 0), parts.at(1, 1)})
        EXPECT_EQ(zero, 0);
}

// A loss of what attention makes of a small graph, in double, and its derivatives.
class SmallAttention {
    std::mt19937 random_{3};

public:
    explicit SmallAttention(bool drops) : dropout_(random_, forward_.view()) {
        AttentionShape shape{.heads = 3, .head_columns = 2, .columns = 6, .drops = drops};
        forward_how = dropout_.attention(shape);
        back_how = forward_how;
        std::swap(back_how.dropout.row_ids, back_how.dropout.column_ids);
    }

    Doubles h = Doubles(5, 6).fill(random_);
    Doubles s = Doubles(5, 3).fill(random_);
    Doubles t = Doubles(4, 3).fill(random_);
    Attention forward_how, back_how;

    double loss() {
        attend();
        return sum_.dot(gradient_);
    }
    void attend() {
        reference::attend<double>(
            in_double(forward_.view()), {h.view(), s.view(), t.view()},
            {sum_.view(), logs_.view(), totals_.view(), by_target_.view(), shares_.view(), scores_.view()}, forward_how,
            false, true);
    }
    // The derivatives by h, s and t, of scores that are stored or made again.
    std::array<Doubles, 3> derivatives(bool stored = false) {
        attend();
        std::array<Doubles, 3> by = {h, s, t};
        const Doubles back_scores = transposed_scores();
        const Dense<const double> none{};
        Doubles inner(4, 3);
        reference::head_dot<double>(gradient_.view(), sum_.view(), forward_how.heads, inner.view());
        reference::attend_back<double>(
            in_double(back_.view()),
            {gradient_.view(), stored ? none : std::as_const(t).view(), logs_.view(), inner.view(), h.view(),
             stored ? none : std::as_const(s).view(), stored ? back_scores.view() : none},
            {by[0].view(), by[1].view()}, back_how, false);
        reference::head_dot<double>(gradient_.view(), by_target_.view(), forward_how.heads, by[2].view());
        return by;
    }

private:
    // Edges that are there twice have the same scores and draws.
    Doubles transposed_scores() const {
        Doubles to(10, 3);
        const Csr forward = forward_.view(), back = back_.view();
        for (std::int64_t u = 0; u < back.rows; ++u) {
            reference::for_entries(back, u, [&](std::int64_t e, std::int32_t v) {
                reference::for_entries(forward, v, [&](std::int64_t from, std::int32_t source) {
                    for (std::int64_t k = 0; k < 3 && source == u; ++k) to.at(e, k) = scores_.at(from, k);
                });
            });
        }
        return to;
    }

    // Four targets, the third without edges, and an edge that is there twice.
    OwnedCsr forward_{5, {0, 4, 6, 6, 10}, {0, 2, 3, 4, 1, 2, 0, 1, 1, 4}};
    OwnedCsr back_{4, {0, 2, 5, 7, 8, 10}, {0, 3, 1, 3, 3, 0, 1, 0, 0, 3}};
    VertexDropout dropout_;
    Doubles gradient_ = Doubles(4, 6).fill(random_);
    Doubles sum_{4, 6}, logs_{4, 3}, totals_{4, 3}, by_target_{4, 6}, shares_{4, 3}, scores_{10, 3};
};

TEST(AttentionReference, DerivativesOfStoredScoresAreTheSame) {
    for (const bool drops : {false, true}) {
        SmallAttention attention(drops);
        const std::array<Doubles, 3> again = attention.derivatives(false), stored = attention.derivatives(true);
        for (std::size_t x = 0; x < 3; ++x) {
            for (std::int64_t i = 0; i < again[x].view().rows; ++i) {
                for (std::int64_t j = 0; j < again[x].view().columns; ++j)
                    EXPECT_NEAR(again[x].at(i, j), stored[x].at(i, j), 1e-13) << x << ", dropout " << drops;
            }
        }
    }
}

// A score of 0 is not positive, whether its weight is dropped or not.
TEST(AttentionReference, StoredScoresKeepTheirSign) {
    for (const float x : {0.0F, -0.0F, 1.0F, -1.0F, 0.1F, -3e4F, 1e-30F}) {
        for (const bool dropped : {false, true}) {
            const float stored = stored_score(x, dropped);
            EXPECT_EQ(stored > 0, x > 0) << x;
            EXPECT_EQ(is_dropped(stored), dropped) << x;
            EXPECT_NEAR(stored, x, std::ldexp(std::abs(x), -23) + 1e-44) << x;
        }
    }
}

TEST(AttentionReference, DerivativesAreThoseOfFiniteDifferences) {
    for (const bool drops : {false, true}) {
        SmallAttention attention(drops);
        const std::array<Doubles, 3> by = attention.derivatives();
        const std::array<Doubles*, 3> of = {&attention.h, &attention.s, &attention.t};
        for (std::size_t x = 0; x < 3; ++x) {
            for (std::int64_t i = 0; i < of[x]->view().rows; ++i) {
                for (std::int64_t j = 0; j < of[x]->view().columns; ++j) {
                    constexpr double step = 1e-5;
                    const double at = of[x]->at(i, j);
                    of[x]->at(i, j) = at + step;
                    const double above = attention.loss();
                    of[x]->at(i, j) = at - step;
                    const double below = attention.loss();
                    of[x]->at(i, j) = at;
                    EXPECT_NEAR(by[x].at(i, j), (above - below) / (2 * step), 1e-8)
                        << "operand " << x << ", (" << i << ", " << j << "), dropout " << drops;
                }
            }
        }
    }
}

class AttentionKernels : public OnDevice {
protected:
    // Attends to the entries of each panel of `pieces` in a call of its own, or to all of them in one.
    void attend(const Csr& pieces, bool apart, Attending& to, const Attention& how) {
        const std::int64_t calls = apart ? pieces.panels : 1;
        for (std::int64_t p = 0; p < calls; ++p)
            run(&Table::attend, apart ? pieces.panel(p) : pieces, to.in(), to.to(), how, p > 0, p + 1 == calls);
    }
    void attend_back(const Csr& pieces, bool apart, AttendingBack& to, const Attention& how, bool accumulate) {
        for (std::int64_t p = 0; p < (apart ? pieces.panels : 1); ++p)
            run(&Table::attend_back, apart ? pieces.panel(p) : pieces, to.in(), to.to(), how, accumulate || p > 0);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionKernels, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Calls body(a, apart, shape) with shapes of heads, whole or cut, and matrices whose panels are one call's or each a
// call's own.
template <class Body>
void for_shapes(std::mt19937& random, const Body& body) {
    const OwnedCsr whole = random_csr(random, 37, 50);
    for (const std::int64_t heads : head_counts) {
        for (const std::int64_t width : head_widths) {
            for (const auto& begins : panels) {
                for (const bool apart : {false, true}) {
                    for (const bool drops : {false, true}) {
                        const bool cut = random() % 2 == 0;
                        body(in_panels(whole, begins), apart, attention_shape(random, heads, width, cut, drops));
                    }
                }
            }
        }
    }
}

TEST_P(AttentionKernels, AttendEqualsReference) {
    std::mt19937 random(1);
    for_shapes(random, [&](const OwnedCsr& a, bool apart, const AttentionShape& shape) {
        if (!takes_next() || HasFatalFailure()) return;
        const VertexDropout dropout(random, a.view());
        const Attention how = dropout.attention(shape);
        Attending got(random, a.view(), shape, random() % 3 != 0);
        attend(a.view(), apart, got, how);
        ASSERT_EQ(got.wrong(a.view(), how), "")
            << shape.name() << ", by target " << got.keeps << ", panels " << a.panels << ", apart " << apart;
    });
}

TEST_P(AttentionKernels, AttendBackEqualsReference) {
    std::mt19937 random(2);
    for_shapes(random, [&](const OwnedCsr& a, bool apart, const AttentionShape& shape) {
        if (!takes_next() || HasFatalFailure()) return;
        const VertexDropout dropout(random, a.view());
        const Attention how = dropout.attention(shape);
        const bool accumulate = random() % 2 == 0;
        AttendingBack got(random, a.view(), shape);
        attend_back(a.view(), apart, got, how, accumulate);
        ASSERT_EQ(got.wrong(a.view(), how, accumulate), "")
            << shape.name() << ", panels " << a.panels << ", apart " << apart << ", accumulate " << accumulate;
    });
}

TEST_P(AttentionKernels, LongRowsEqualReference) {
    std::mt19937 random(4);
    const std::vector<std::int64_t> lengths = {1, 2, 31, 32, 33, 0, 127, 128, 129, 255, 513, 1023, 1025, 2000, 3};
    const OwnedCsr a = in_panels(csr_of_lengths(random, lengths, 300), {0, 100, 290});
    for (const auto& [heads, width] : {std::pair{1, 64}, {1, 7}, {3, 5}, {8, 8}, {9, 16}, {40, 2}}) {
        for (const bool drops : {false, true}) {
            const bool apart = random() % 2 == 0;
            const AttentionShape shape = attention_shape(random, heads, width, false, drops);
            const VertexDropout dropout(random, a.view());
            const Attention how = dropout.attention(shape);
            Attending got(random, a.view(), shape, true);
            attend(a.view(), apart, got, how);
            ASSERT_EQ(got.wrong(a.view(), how), "") << shape.name() << ", apart " << apart;
            AttendingBack back(random, a.view(), shape);
            attend_back(a.view(), apart, back, how, false);
            ASSERT_EQ(back.wrong(a.view(), how, false), "") << shape.name() << ", apart " << apart;
        }
    }
}

// Rows without entries in any call, or in some of them only, and calls without any entry.
TEST_P(AttentionKernels, CallsWithoutEntriesChangeNothing) {
    std::mt19937 random(5);
    const OwnedCsr a = in_panels(csr_of_lengths(random, {0, 5, 0, 1, 9, 0}, 20), {0, 0, 10, 20, 20});
    for (const std::int64_t heads : {1, 8}) {
        const AttentionShape shape = attention_shape(random, heads, 4, false, false);
        const VertexDropout dropout(random, a.view());
        const Attention how = dropout.attention(shape);
        Attending got(random, a.view(), shape, true);
        attend(a.view(), true, got, how);
        ASSERT_EQ(got.wrong(a.view(), how), "") << shape.name();
        const OwnedCsr none = csr_of_lengths(random, std::vector<std::int64_t>(6, 0), 20);
        Attending nothing(random, none.view(), shape, true);
        attend(none.view(), false, nothing, how);
        for (std::int64_t v = 0; v < 6; ++v) {
            for (std::int64_t j = 0; j < shape.columns; ++j) {
                EXPECT_EQ(nothing.sum.at(v, j), 0);
                EXPECT_EQ(nothing.by_target.at(v, j), 0);
            }
            for (std::int64_t k = 0; k < heads; ++k) EXPECT_EQ(nothing.log_total.at(v, k), 0);
        }
    }
}

// However entries are cut into calls, and in whatever order these come.
TEST_P(AttentionKernels, CombinesPiecesInAnyOrder) {
    std::mt19937 random(6);
    const OwnedCsr whole = random_csr(random, 29, 50);
    const OwnedCsr cut = in_panels(whole, {0, 11, 40});
    const AttentionShape shape{.heads = 4, .head_columns = 5, .columns = 20, .score = 60, .drops = true};
    const VertexDropout dropout(random, whole.view());
    const Attention how = dropout.attention(shape);
    const Attending operands(random, cut.view(), shape, true);
    std::vector<std::int64_t> order = {0, 1, 2};
    do {
        Attending got = operands;
        for (std::size_t i = 0; i < order.size(); ++i)
            run(&Table::attend, cut.view().panel(order[i]), got.in(), got.to(), how, i > 0, i == 2);
        ASSERT_EQ(got.wrong(cut.view(), how), "") << order[0] << order[1] << order[2];
    } while (std::next_permutation(order.begin(), order.end()));
}

// A network that diverged is seen to have.
TEST_P(AttentionKernels, NansGetThrough) {
    std::mt19937 random(7);
    const OwnedCsr a{4, {0, 2, 4, 5}, {0, 1, 1, 2, 3}};
    const AttentionShape shape{.heads = 2, .head_columns = 3, .columns = 6};
    const VertexDropout dropout(random, a.view());
    const Attention how = dropout.attention(shape);
    for (const bool of_score : {false, true}) {
        Attending got(random, a.view(), shape, false);
        AttendingBack back(random, a.view(), shape);
        (of_score ? got.source.at(0, 1) : got.h.at(0, 4)) = std::nanf("");
        (of_score ? back.target.at(0, 1) : back.gradient.at(0, 4)) = std::nanf("");
        attend(a.view(), false, got, how);
        attend_back(a.view(), false, back, how, false);
        for (std::int64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(std::isnan(got.sum.at(i, 4)), i == 0) << "row " << i << ", of a score " << of_score;
            EXPECT_EQ(std::isnan(back.to_h.at(i, 4)), i == 0) << "row " << i << ", of a score " << of_score;
            EXPECT_EQ(std::isnan(back.to_source.at(i, 1)), i == 0) << "row " << i << ", of a score " << of_score;
            EXPECT_FALSE(std::isnan(got.sum.at(i, 0)) || std::isnan(back.to_h.at(i, 0)));
        }
    }
}

cpu::WeightDropout compared(const AttentionDropout& dropout) {
    if (dropout.probability == 0) return {};
    return {.key = stream_key(dropout.seed, StreamUse::attention, dropout.pass->epoch, dropout.layer),
            .threshold = dropout_threshold(dropout.probability),
            .scale = 1 / (1 - dropout.probability),
            .groups = (dropout.all_heads + dropout_group - 1) / dropout_group,
            .first_head = dropout.first_head,
            .row_ids = dropout.row_ids,
            .column_ids = dropout.column_ids};
}

// A matrix in whole aligned cache lines, which can be written past the caches.
class Aligned {
public:
    explicit Aligned(Owned& to)
        : to_(to),
          stride_((to.view().columns + 15) / 16 * 16),
          lines_(static_cast<std::size_t>(to.view().rows * stride_ / 16)) {}
    Matrix view() { return {lines_.data()->values, to_.view().rows, to_.view().columns, stride_}; }
    void keep() {
        for (std::int64_t i = 0; i < view().rows; ++i) std::copy_n(view().row(i), view().columns, to_.view().row(i));
    }

private:
    struct alignas(64) Line {
        float values[16];
    };
    Owned& to_;
    std::int64_t stride_;
    std::vector<Line> lines_;
};

// Rows that are written past the caches, too: whole aligned vectors.
TEST(AttentionVectors, EveryInstructionSetEqualsReference) {
    std::mt19937 random(11);
    const OwnedCsr owned = csr_of_lengths(random, {1, 0, 7, 40, 700, 0, 3, 2, 16, 17}, 50);
    const Csr a = owned.view();
    for (const auto* kernels : cpu::supported_kernels()) {
        for (const auto& [heads, width] :
             {std::pair{1, 64}, {1, 7}, {1, 1}, {2, 1}, {3, 5}, {8, 8}, {4, 32}, {16, 1}, {17, 3}}) {
            for (const bool keeps : {false, true}) {
                AttentionShape shape = attention_shape(random, heads, width, false, random() % 2 == 0);
                shape.padding = 0;
                const VertexDropout vertices(random, a);
                const Attention how = vertices.attention(shape);
                std::vector<std::int32_t> head_of;
                for (std::int64_t j = 0; j < shape.columns; ++j)
                    head_of.push_back(static_cast<std::int32_t>(how.heads.of(j)));
                Attending got(random, a, shape, keeps);
                Aligned sum(got.sum), by_target(got.by_target);
                AttendResults to = got.to();
                to.sum = sum.view();
                if (keeps) to.by_target = by_target.view();
                const cpu::AttendBlock block{.a = a,
                                             .in = got.in(),
                                             .to = to,
                                             .head_of = head_of.data(),
                                             .slope = how.slope,
                                             .dropout = compared(how.dropout),
                                             .last = true,
                                             .streams = true};
                for (const auto& [first, last] : {std::pair{0, 4}, {4, 10}}) kernels->attend_rows(block, first, last);
                sum.keep(), by_target.keep();
                ASSERT_EQ(got.wrong(a, how), "") << kernels->name << ", " << shape.name();
                AttendingBack back(random, a, shape);
                const cpu::AttendBackBlock of_back{.a = a,
                                                   .in = back.in(),
                                                   .to = back.to(),
                                                   .heads = how.heads,
                                                   .head_of = head_of.data(),
                                                   .slope = how.slope,
                                                   .dropout = compared(how.dropout),
                                                   .accumulate = true};
                for (const auto& [first, last] : {std::pair{0, 4}, {4, 10}})
                    kernels->attend_back_rows(of_back, first, last);
                ASSERT_EQ(back.wrong(a, how, true), "") << kernels->name << ", " << shape.name();
            }
        }
    }
}

class HeadKernels : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, HeadKernels, ::testing::ValuesIn(gnnplan::testing::devices()), name_of);

// Calls body(rows, heads, columns, head_count) with whole heads and cut ones.
template <class Body>
void for_heads(std::mt19937& random, const Body& body) {
    for (const std::int64_t rows : {0, 1, 37, 1100}) {
        for (const std::int64_t count : head_counts) {
            for (const std::int64_t width : {1, 4, 5, 7, 16, 64}) {
                const AttentionShape shape = attention_shape(random, count, width, random() % 2 == 0, false);
                body(rows, Heads{width, shape.first}, shape.columns, count);
            }
        }
    }
}

// All operands are small integers, and sums of them exact.
TEST_P(HeadKernels, DotAndSpreadEqualReference) {
    std::mt19937 random(8);
    for_heads(random, [&](std::int64_t rows, Heads heads, std::int64_t columns, std::int64_t count) {
        if (!takes_next() || HasFatalFailure()) return;
        const bool repeats = random() % 2 == 0;
        const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
        Owned x = Owned(rows, columns, padding).fill(random, 3);
        Owned y = Owned(repeats ? 1 : rows, columns, 2 * padding).fill(random, 3);
        ConstMatrix by_row = y.view();
        if (repeats) by_row.rows = rows, by_row.stride = 0;
        Owned dots(rows, count, padding);
        Owned want_dots = dots;
        run(&Table::head_dot, ConstMatrix(x.view()), by_row, heads, dots.view());
        reference_table().head_dot(x.view(), by_row, heads, want_dots.view());
        ASSERT_EQ(difference(dots, want_dots), "") << rows << " rows, " << count << " heads of " << heads.columns;
        Owned want = x;
        run(&Table::head_spread, ConstMatrix(want_dots.view()), by_row, heads, x.view());
        reference_table().head_spread(want_dots.view(), by_row, heads, want.view());
        ASSERT_EQ(difference(x, want), "") << rows << " rows, " << count << " heads of " << heads.columns;
    });
}

TEST_P(HeadKernels, FoldEqualsReference) {
    std::mt19937 random(9);
    for_heads(random, [&](std::int64_t rows, Heads heads, std::int64_t columns, std::int64_t count) {
        if (!takes_next() || HasFatalFailure()) return;
        const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
        const Owned x = Owned(rows, columns, padding).fill(random, 3);
        const Owned by = Owned(rows, count, padding).fill(random, 3);
        Owned got(1, columns);
        Owned want(1, columns);
        run(&Table::head_fold, x.view(), by.view(), heads, got.span());
        reference_table().head_fold(x.view(), by.view(), heads, want.view().data);
        ASSERT_EQ(difference(got, want), "") << rows << " rows, " << count << " heads of " << heads.columns;
    });
}

TEST_P(HeadKernels, MeanAndShareEqualReference) {
    std::mt19937 random(10);
    for_heads(random, [&](std::int64_t rows, Heads heads, std::int64_t, std::int64_t count) {
        if (!takes_next() || HasFatalFailure()) return;
        const std::int64_t padding = random() % 2 == 0 ? 3 : 0;
        const Owned x = Owned(rows, heads.columns * count, padding).fill(random, 9);
        Owned mean(rows, heads.columns, 2 * padding);
        Owned want_mean = mean;
        run(&Table::head_mean, x.view(), mean.view());
        reference_table().head_mean(x.view(), want_mean.view());
        ASSERT_EQ(difference(mean, want_mean, 1e-6), "") << rows << " rows, " << count << " heads of " << heads.columns;
        Owned share(rows, heads.columns * count, padding);
        Owned want_share = share;
        run(&Table::head_share, ConstMatrix(want_mean.view()), share.view());
        reference_table().head_share(want_mean.view(), want_share.view());
        ASSERT_EQ(difference(share, want_share, 1e-6), "") << rows << " rows, " << count << " heads";
    });
}

}  // namespace
}  // namespace gnnplan::kernels::testing
