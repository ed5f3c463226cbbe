// Peak memory of loading a graph against the graph itself: load_memory PATH [symmetrise]
#include "runtime/data/dataset.hpp"

#include <gnnplan/base/error.hpp>

#include <sys/resource.h>

#include <cstdio>
#include <cstring>

namespace {

double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: load_memory PATH [symmetrise]\n");
        return 64;
    }
    try {
        using namespace gnnplan::data;
        const double before = peak_megabytes();
        DatasetOptions options;
        options.preparation.symmetrise = argc > 2 && std::strcmp(argv[2], "symmetrise") == 0;
        options.graph_only = true;
        const Dataset dataset = open_dataset(argv[1], options);
        const double rows = 8 * static_cast<double>(dataset.vertices() + 1);
        const double patterns = dataset.graph().symmetric ? 1 : 2;
        const double graph = patterns * (rows + 4 * static_cast<double>(dataset.nonzeros())) / 1e6;
        const double peak = peak_megabytes() - before;
        std::printf("%s\ngraph %.1f MB, peak above the start %.1f MB, ratio %.2f\n",
                    dataset.report().describe().c_str(), graph, peak, peak / graph);
    } catch (const gnnplan::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
