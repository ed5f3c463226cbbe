// A kernel is chosen for a matrix that stays on the GPU. cuSPARSE is plain loops here.
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/gpu.hpp"
#include "kernels/cuda/prepared.hpp"
#include "kernels/cuda/queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace gnnplan::kernels::cuda {
namespace {

using ::testing::HasSubstr;

class ChooseKernel : public ::testing::Test {
protected:
    static constexpr std::int64_t rows = 300, columns = 40, degree = 9;

    ChooseKernel() {
        std::mt19937 random(3);
        std::vector<std::int32_t> row_start, column;
        for (std::int32_t i = 0; i <= rows; ++i) row_start.push_back(degree * i);
        for (std::int64_t k = 0; k < degree * rows; ++k) column.push_back(static_cast<std::int32_t>(random() % rows));
        a_.rows = a_.columns = rows;
        a_.narrow_row_start = on_device(row_start);
        a_.column = on_device(column);
        a_.value = on_device(std::vector<float>(column.size(), 0.5F));
        a_.most_nonzeros = std::ssize(column);
        std::vector<float> b(rows * columns);
        for (float& x : b) x = static_cast<float>(random() % 7);
        b_ = {on_device(b), rows, columns, columns};
        c_ = {const_cast<float*>(on_device(b)), rows, columns, columns};
    }

    template <class T>
    const T* on_device(std::vector<T> values) {
        memory_.push_back(take(*device_, std::move(values)));
        return reinterpret_cast<const T*>(memory_.back()->data());
    }
    // The matrix as prepared with so much room.
    struct Ready {
        PreparedRoom room;
        std::unique_ptr<PreparedMatrix> prepared;
        Csr a;
    };
    Ready ready(std::int64_t bytes, const Csr& from) {
        Ready all{PreparedRoom(*device_, bytes), nullptr, from};
        all.prepared = std::make_unique<PreparedMatrix>(*device_, from, all.room.take(PreparedMatrix::bytes(from)));
        all.a.prepared = all.prepared.get();
        return all;
    }
    std::vector<ProductKernel> choose(Ready& of, std::string_view wanted = {}, PanelRoom panel_room = {}) {
        return choose_kernel(*device_, of.room, of.a, b_, c_, panel_room, wanted);
    }
    std::vector<float> product(const Csr& a) {
        device_->table().spmm(a, b_, c_, false, {});
        std::vector<float> values(rows * columns);
        device_->download(reinterpret_cast<const std::byte*>(c_.data), std::as_writable_bytes(std::span(values)));
        device_->finish();
        return values;
    }
    static const ProductKernel& named(const std::vector<ProductKernel>& all, const std::string& name) {
        return *std::ranges::find(all, name, &ProductKernel::name);
    }

    // Two thirds of its L2 hold 33 columns of the operand.
    static std::unique_ptr<Device> open() {
        setenv("GNNPLAN_HOST_CUDA", "l2=60000", 1);
        return cuda_device(choose_gpu(0));
    }

    std::unique_ptr<Device> device_ = open();
    std::vector<std::unique_ptr<DeviceMemory>> memory_;
    Csr a_;
    ConstMatrix b_;
    Matrix c_;
};

constexpr std::int64_t much = 1 << 20;

TEST_F(ChooseKernel, TakesTheFastestOrTheOneWanted) {
    const std::vector<float> plain = product(a_);
    for (const char* wanted : {"", "sliced", "whole", "cusparse"}) {
        Ready one = ready(much, a_);
        const std::vector<ProductKernel> found = choose(one, wanted);
        ASSERT_EQ(found.size(), product_kernel_names.size());
        const bool any = *wanted == '\0';
        for (const ProductKernel& kernel : found) {
            const bool asked = kernel.name != "cusparse" || any || kernel.name == wanted;
            EXPECT_EQ(kernel.why_not.has_value(), !asked) << kernel.name;
            EXPECT_EQ(kernel.seconds.has_value(), any) << "one that is wanted is taken untimed";
            EXPECT_LE(found[0].seconds, kernel.seconds);
        }
        EXPECT_EQ(found[0].name, any ? found[0].name : wanted);
        EXPECT_EQ(product_kernel_names[static_cast<std::size_t>(PreparedMatrix::choice(one.a, columns).kernel)],
                  found[0].name);
        EXPECT_EQ(product(one.a), plain) << "sums of small integers are exact in every order";
        EXPECT_EQ(choose(one, "whole").front().name, found[0].name) << "it is chosen once";
    }
}

TEST_F(ChooseKernel, SaysWhyCusparseCannot) {
    const auto why_not = [&](Ready one, PanelRoom panel_room = {}) {
        return named(choose(one, "cusparse", panel_room), "cusparse").why_not.value_or("");
    };
    Csr factored = a_;
    factored.value = nullptr;
    EXPECT_THAT(why_not(ready(much, factored)), HasSubstr("factored"));
    const std::int64_t own = PreparedMatrix::bytes(a_);
    EXPECT_THAT(why_not(ready(own + 4 * rows, a_)), HasSubstr("wants 1208 bytes, and 1200 are left"));
    EXPECT_EQ(why_not(ready(own + 4 * rows + 8, a_)), "") << "it reads the row starts where they are";
    Csr wide = a_;
    const std::vector<std::int64_t> row_start = [] {
        std::vector<std::int64_t> starts;
        for (std::int64_t i = 0; i <= rows; ++i) starts.push_back(degree * i);
        return starts;
    }();
    wide.row_start = on_device(row_start);
    wide.narrow_row_start = nullptr;
    EXPECT_THAT(why_not(ready(much, wide)), HasSubstr("reads row starts of 32 bits"));
    EXPECT_EQ(why_not(ready(much, a_)), "");
    auto memory = device_->allocate(rows * 64 * sizeof(std::uint16_t));
    const PanelRoom rounding{{memory->data(), memory->size()}, true, 64};
    EXPECT_THAT(why_not(ready(much, a_), rounding), HasSubstr("bf16"));
}

// Setting cuSPARSE up takes time and memory.
TEST_F(ChooseKernel, LeavesCusparseAloneWhereAnotherIsWanted) {
    for (const char* wanted : {"sliced", "whole", "cusparse"}) {
        Ready one = ready(much, a_);
        choose(one, wanted);
        product(one.a);
        EXPECT_EQ(queue().sparse != nullptr, std::string(wanted) == "cusparse") << wanted;
    }
}

// A product that it refuses while it is timed leaves the others to be taken, and nothing behind.
TEST_F(ChooseKernel, LeavesCusparseOutWhereItFails) {
    const std::vector<float> plain = product(a_);
    setenv("GNNPLAN_HOST_CUDA", "l2=60000 sparse_products=0", 1);
    Ready one = ready(much, a_);
    const std::vector<ProductKernel> found = choose(one);
    EXPECT_THAT(named(found, "cusparse").why_not.value_or(""), HasSubstr("CUSPARSE_STATUS_INVALID_VALUE"));
    EXPECT_NE(found[0].name, "cusparse");
    EXPECT_TRUE(found[0].seconds && found[1].seconds);
    EXPECT_EQ(product(one.a), plain);
}

// A name that cannot compute a product takes the first of the others, and times none.
TEST_F(ChooseKernel, TakesTheFirstThatCanInPlaceOfTheOneWanted) {
    Csr factored = a_;
    factored.value = nullptr;
    Ready one = ready(much, factored);
    const std::vector<ProductKernel> found = choose(one, "cusparse");
    EXPECT_EQ(found[0].name, "sliced");
    for (const ProductKernel& kernel : found) EXPECT_FALSE(kernel.seconds) << kernel.name;
}

TEST_F(ChooseKernel, GivesItsRoomBack) {
    PreparedRoom room(*device_, much);
    {
        Csr a = a_;
        PreparedMatrix prepared(*device_, a_, room.take(PreparedMatrix::bytes(a_)));
        a.prepared = &prepared;
        choose_kernel(*device_, room, a, b_, c_, {}, "cusparse");
        EXPECT_EQ(room.left(), much - PreparedMatrix::bytes(a_) - 4 * (rows + 1) - 4) << "its buffer";
        EXPECT_EQ(room.take(much), nullptr);
    }
    EXPECT_EQ(room.left(), much);
}

// As cuSPARSE's product is of one shape, operands with other strides are multiplied by a kernel of ours.
TEST_F(ChooseKernel, OtherStridesAreMultipliedByOurs) {
    Ready one = ready(much, a_);
    choose(one, "cusparse");
    const std::vector<float> plain = product(a_);
    std::vector<float> wide(rows * 2 * columns);
    const std::vector<float> b = [&] {
        std::vector<float> values(rows * columns);
        device_->download(reinterpret_cast<const std::byte*>(b_.data), std::as_writable_bytes(std::span(values)));
        device_->finish();
        return values;
    }();
    for (std::size_t i = 0; i < b.size(); ++i) wide[i / columns * 2 * columns + i % columns] = b[i];
    b_ = {on_device(wide), rows, columns, 2 * columns};
    EXPECT_EQ(product(one.a), plain);
}

// The block that cuSPARSE's product was made for, with other values: weights of edges that a layer computes.
TEST_F(ChooseKernel, OtherValuesAreMultipliedByOurs) {
    Ready one = ready(much, a_);
    choose(one, "cusparse");
    const auto nonzeros = static_cast<std::size_t>(degree * rows);
    Csr other = a_;
    other.value = on_device(std::vector<float>(nonzeros, 1.5F));
    const std::vector<float> plain = product(other);
    other.prepared = one.a.prepared;
    EXPECT_EQ(product(other), plain);
    EXPECT_NE(product(one.a), plain);
}

}  // namespace
}  // namespace gnnplan::kernels::cuda
