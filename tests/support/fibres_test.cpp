// The promises of fibres about the threads of a kernel, and their limits: kernels that forget to wait must fail.
#include "tests/support/host_cuda/cuda_runtime.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace gnnplan::testing {
namespace {

constexpr unsigned threads = 64;

template <class... Parameters, class... Arguments>
void run(unsigned blocks, unsigned block, void (*kernel)(Parameters...), Arguments... arguments) {
    const cudaLaunchConfig_t config{{blocks}, {block}, 0, nullptr};
    ASSERT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
}

// Each thread writes a number, and reads that of the thread across the block.
template <bool waits>
void reversed(int* out) {
    __shared__ int numbers[threads];
    numbers[threadIdx.x] = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (waits) __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = numbers[threads - 1 - threadIdx.x];
}

// The same within a warp.
template <bool waits>
void reversed_in_warps(int* out) {
    __shared__ int numbers[threads];
    numbers[threadIdx.x] = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (waits) __syncwarp();
    out[blockIdx.x * threads + threadIdx.x] = numbers[threadIdx.x ^ 31U];
}

// In how many of 20 orders the kernel's results are wrong.
int wrong_orders(void (*kernel)(int*), unsigned across) {
    int wrong = 0;
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        fibres::seed_order(seed);
        std::vector<int> out(3 * threads, -1);
        run(3, threads, kernel, out.data());
        std::vector<int> want(out.size());
        for (unsigned i = 0; i < want.size(); ++i) want[i] = static_cast<int>(i ^ across);
        wrong += out == want ? 0 : 1;
    }
    return wrong;
}

TEST(Fibres, AMissingBarrierShowsInNearlyEveryOrder) {
    EXPECT_EQ(wrong_orders(reversed<true>, threads - 1), 0);
    EXPECT_GE(wrong_orders(reversed<false>, threads - 1), 19);
    EXPECT_EQ(wrong_orders(reversed_in_warps<true>, 31), 0);
    EXPECT_GE(wrong_orders(reversed_in_warps<false>, 31), 19);
}

void note_blocks(std::vector<unsigned>* order) {
    if (threadIdx.x == 0 && threadIdx.y == 1) order->push_back(blockIdx.y * gridDim.x + blockIdx.x);
}

TEST(Fibres, BlocksRunOnceEachInAnOrderOfTheSeed) {
    std::set<std::vector<unsigned>> orders;
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        fibres::seed_order(seed);
        std::vector<unsigned> order;
        const cudaLaunchConfig_t config{{3, 4}, {2, 2}, 0, nullptr};
        ASSERT_EQ(cudaLaunchKernelEx(&config, note_blocks, &order), cudaSuccess);
        orders.insert(order);
        std::sort(order.begin(), order.end());
        std::vector<unsigned> all(12);
        std::iota(all.begin(), all.end(), 0U);
        EXPECT_EQ(order, all);
    }
    EXPECT_GE(orders.size(), 19U);
}

// Sums over groups of lanes; lanes of other groups are elsewhere.
void group_sums(double* sums, unsigned* votes) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned group = lane / 8;
    double sum = threadIdx.x;
    for (unsigned turn = 0; turn < group; ++turn) __syncwarp(0xffU << (8 * group));
    for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffU << (8 * group), sum, distance);
    sums[threadIdx.x] = sum;
    votes[threadIdx.x] = __ballot_sync(0xffffffffU, lane % 3 == 0 ? 1 : 0);
}

TEST(Fibres, LanesExchangeValuesAndVotes) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        fibres::seed_order(seed);
        std::vector<double> sums(threads);
        std::vector<unsigned> votes(threads);
        run(1, threads, group_sums, sums.data(), votes.data());
        for (unsigned t = 0; t < threads; ++t) {
            EXPECT_EQ(sums[t], 8 * (t / 8 * 8) + 28);
            EXPECT_EQ(votes[t], 0x49249249U);
        }
    }
}

void some_wait() {
    if (threadIdx.x > 0) __syncthreads();
}
void some_vote() {
    if (threadIdx.x == 0)
        __ballot_sync(0xffffffffU, 1);
    else
        __syncwarp();
}
void takes_from_another_group() {
    if (threadIdx.x < 8) __shfl_sync(0xffU, 1, 8);
}

TEST(FibresDeathTest, KernelsThatWaitInVainEnd) {
    EXPECT_DEATH(run(1, 32, some_wait), "do not come");
    EXPECT_DEATH(run(1, 32, some_vote), "different calls");
    EXPECT_DEATH(run(1, 32, takes_from_another_group), "not there");
}

TEST(Fibres, GridsThatADeviceRefusesAreRefused) {
    cudaLaunchConfig_t config{{0}, {32}, 0, nullptr};
    EXPECT_EQ(cudaLaunchKernelEx(&config, some_wait), cudaErrorInvalidConfiguration);
    config = {{1}, {2048}, 0, nullptr};
    EXPECT_EQ(cudaLaunchKernelEx(&config, some_wait), cudaErrorInvalidConfiguration);
}

}  // namespace
}  // namespace gnnplan::testing
