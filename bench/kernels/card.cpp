#include "bench/kernels/card.hpp"

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/queue.hpp"

#include <fstream>
#include <sstream>

namespace gnnplan::bench {
namespace {

using kernels::cuda::check;

// "580.82.07 " where NVIDIA's kernel module says so, else nothing.
std::string driver_number() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line, word;
    std::getline(file, line);
    for (std::istringstream words(line); words >> word;) {
        if (word.find_first_not_of("0123456789.") == std::string::npos) return word + " ";
    }
    return "";
}

template <class Status>
std::string library_version(Status (*property)(libraryPropertyType, int*)) {
    std::string text;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int number = 0;
        check(property(part, &number), "asking a library for its version");
        text += (text.empty() ? "" : ".") + std::to_string(number);
    }
    return text;
}

// Units for fp32 of a multiprocessor, by NVIDIA's table of compute capabilities.
int units(const cudaDeviceProp& properties) {
    const int capability = 10 * properties.major + properties.minor;
    return capability == 75 || capability == 80 ? 64 : 128;
}

}  // namespace

Card card(const kernels::cuda::Gpu& gpu) {
    cudaDeviceProp properties{};
    int driver = 0, runtime = 0, kilohertz = 0;
    check(cudaGetDeviceProperties(&properties, gpu.index), "asking the GPU what it is");
    check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, gpu.index), "asking the GPU for its clock");
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    check(cudaRuntimeGetVersion(&runtime), "asking for CUDA's version");
    Card card;
    card.name = gpu.name;
    card.capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    card.driver = driver_number() + "for CUDA " + kernels::cuda::version_text(driver);
    card.libraries = "CUDA " + kernels::cuda::version_text(runtime) + ", cuBLAS " + library_version(cublasGetProperty) +
                     ", cuSPARSE " + library_version(cusparseGetProperty);
    card.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    card.l2_bytes = properties.l2CacheSize;
    card.peak = 2.0 * properties.multiProcessorCount * units(properties) * 1000.0 * kilohertz;
    return card;
}

std::int64_t free_bytes(const kernels::cuda::Gpu& gpu) {
    std::size_t free = 0, all = 0;
    check(cudaSetDevice(gpu.index), "opening the GPU");
    check(cudaMemGetInfo(&free, &all), "asking how much of the GPU's memory is free");
    return static_cast<std::int64_t>(free);
}

void copy_memory(const std::byte* from, std::byte* to, std::size_t bytes) {
    kernels::cuda::Queue& on = kernels::cuda::queue();
    on.note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on.stream), "copying within the GPU's memory");
}

}  // namespace gnnplan::bench
