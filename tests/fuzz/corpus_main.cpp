// Runs a fuzz target without libFuzzer: each file of the folder given, each of its prefixes, and each file with one
// byte changed.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    if (argc != 2) return 64;
    std::size_t inputs = 0;
    const auto run = [&](const std::vector<char>& bytes, std::size_t size) {
        // A copy of the exact size, so that AddressSanitizer sees a read behind its end.
        const std::vector<std::uint8_t> input(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        LLVMFuzzerTestOneInput(input.data(), input.size());
        ++inputs;
    };
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        for (std::size_t size = 0; size <= bytes.size(); ++size) run(bytes, size);
        for (char& byte : bytes) {
            for (const int change : {0x01, 0x10, 0x80, 0xff}) {
                byte = static_cast<char>(byte ^ change);
                run(bytes, bytes.size());
                byte = static_cast<char>(byte ^ change);
            }
        }
    }
    std::printf("%zu inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
