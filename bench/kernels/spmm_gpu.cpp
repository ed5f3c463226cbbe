// Our SpMM on a GPU beside cuSPARSE's three algorithms for CSR and beside bounds by the card's own rates:
//
//     spmm_gpu [--graphs arxiv,mid,reddit,products] [--widths 5,8,...] [--scale 1] [--repeats 9] [--json FILE]
//
// Graphs are R-MAT graphs with self loops, normalised symmetrically, of the sizes of the data sets; --scale 0.01 makes
// them a hundredth as large. cuSPARSE's handle, descriptors, buffers and preprocessing are made before anything is
// timed. "no reuse" is nonzeros * (4 width + 8) bytes over the rate of copies in memory: the time in which nothing is
// found in a cache; "L2" is the same at the rate of the L2. Times are medians by the device's clock, alternating, with
// quartiles. The results of all are compared, and those of two runs bit by bit; ours must have the same. Where a plan
// reads rows as they are that lie across sectors, since no slice of them stays in the L2, "copied" is the product that
// copies them nevertheless.
#include "bench/kernels/gpu_bench.hpp"
#include "bench/kernels/rmat_block.hpp"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/packed_panel.hpp>

#include <gnnplan/base/out_of_memory.hpp>

#include <fmt/format.h>

#include <cmath>
#include <list>
#include <optional>

namespace {

using namespace gnnplan;
using namespace gnnplan::bench;
using Json = nlohmann::ordered_json;
using kernels::Device;
using kernels::cuda::LibraryAlgorithm;

struct SpmmOptions : Options {
    std::vector<std::string> graphs = {"arxiv", "mid", "reddit", "products"};
    std::vector<std::int64_t> widths = {5, 8, 16, 32, 41, 64, 75, 128, 256, 602};
};

struct GraphSize {
    const char* name;
    std::int64_t vertices, edges;  // drawn, each in both directions, before duplicates are dropped
};
// The last two come out with about as many nonzeros as the data sets have, 115 and 126 millions.
constexpr GraphSize sizes[] = {{"arxiv", 170'000, 1'245'000},
                               {"mid", 233'000, 14'250'000},
                               {"reddit", 232'965, 94'700'000},
                               {"products", 2'449'029, 66'250'000}};

const GraphSize& size_of(const std::string& graph) {
    const auto* size = std::ranges::find(sizes, graph, &GraphSize::name);
    if (size == std::end(sizes)) throw Error(ErrorCode::usage, "arxiv, mid, reddit or products expected", graph);
    return *size;
}

// The result that it makes where zeros were.
std::vector<float> result_of(Device& device, const Contender& contender, const DeviceMatrix& out) {
    const kernels::Matrix c = out.view();
    const auto bytes = static_cast<std::size_t>(c.rows * c.columns) * sizeof(float);
    device.table().zero({reinterpret_cast<std::byte*>(c.data), bytes});
    contender.queue();
    return sample(device, out);
}

// All numbers are positive, so that no sum is much smaller than what it is of.
double largest_difference(const std::vector<float>& x, const std::vector<float>& y) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
        const double relative = difference / static_cast<double>(std::max(std::abs(x[i]), std::abs(y[i])));
        if (difference != 0 && !(relative <= largest)) largest = relative;
    }
    return largest;
}

// Memory for the rows of an operand that a product copies.
class PanelMemory {
public:
    PanelMemory(Device& device, const Blocking& blocking, const DeviceCsr& a, std::int64_t width)
        : packed_(packed_panel(blocking, a.view().columns, 0, width, false)),
          memory_(device.allocate(static_cast<std::size_t>(bytes()))) {}
    std::int64_t bytes() const { return packed_.bytes(); }
    kernels::PanelRoom view() const {
        return {{memory_->data(), static_cast<std::size_t>(bytes())}, false, packed_.stride};
    }

private:
    PackedPanel packed_;
    std::unique_ptr<kernels::DeviceMemory> memory_;
};

SpmmCase measure(Device& device, const Card& card, const std::string& graph, const DeviceCsr& a, std::int64_t width,
                 int repeats) {
    const DeviceMatrix in(device, a.view().columns, width, 0.5F, 1.5F);
    const DeviceMatrix out(device, a.view().rows, width);
    const kernels::ConstMatrix b = in.view();
    const kernels::Matrix c = out.view();
    // As a plan counts it, and with a copy of rows that lie across sectors, however large the operand is.
    const Blocking planned = gpu_blocking(card.l2_bytes);
    Blocking copying = planned;
    copying.cache_bytes = 0;
    const PanelMemory room(device, planned, a, width);
    const PanelMemory copied_room(device, room.bytes() > 0 ? Blocking{} : copying, a, width);
    const ChosenProduct sliced(device, a, b, c, room.view(), "sliced"), whole(device, a, b, c, room.view(), "whole");
    std::optional<ChosenProduct> copied;
    if (copied_room.bytes() > 0) copied.emplace(device, a, b, c, copied_room.view(), "sliced");
    std::list<LibraryProduct> prepared;
    std::vector<Contender> contenders;
    std::vector<double> buffer_bytes;
    const auto add = [&](const ChosenProduct& ours, const PanelMemory& memory, const std::string& name) {
        contenders.push_back({name, [&] { device.table().spmm(ours.matrix(), b, c, false, memory.view()); }});
        buffer_bytes.push_back(static_cast<double>(memory.bytes()));
    };
    for (const ChosenProduct* ours : {&sliced, &whole}) add(*ours, room, fmt::format("gnnplan, {}", ours->kernel()));
    if (copied) add(*copied, copied_room, "gnnplan, copied");
    const std::size_t first_of_library = contenders.size();
    SpmmCase result{graph, width, a.nonzeros(), {}, {}};
    for (const auto& [name, algorithm] : {std::pair("CSR_ALG1", LibraryAlgorithm::csr1),
                                          {"CSR_ALG2", LibraryAlgorithm::csr2},
                                          {"CSR_ALG3", LibraryAlgorithm::csr3}}) {
        const LibraryProduct& each = prepared.emplace_back(device, a, b, c, algorithm);
        buffer_bytes.push_back(static_cast<double>(each.buffer_bytes()));
        contenders.push_back({name, [&] { each.queue(b, c); }});
    }
    const auto results = [&] {
        std::vector<std::vector<float>> all;
        all.reserve(contenders.size());
        for (const Contender& each : contenders) all.push_back(result_of(device, each, out));
        return all;
    };
    const std::vector<std::vector<float>> first = results();
    alternate(device, contenders, repeats);
    const std::vector<std::vector<float>> second = results();
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        Timed timed{contenders[i].name, summary(contenders[i].seconds), buffer_bytes[i],
                    largest_difference(first.front(), first[i]), same_bits(first[i], second[i])};
        if (i >= first_of_library) {
            result.library.push_back(std::move(timed));
        } else if (i >= 2) {
            result.copied = std::move(timed);
        } else if (i == 0 || timed.times.median < result.ours.times.median) {
            result.ours = std::move(timed);  // a plan's products are computed by whichever is faster
        }
    }
    return result;
}

void print(const SpmmCase& each, const Rates& rates) {
    fmt::print("{} {:>3} {:9.3f} ms {:6.2f} x no reuse {:6.2f} x L2 {:6.2f} x fastest", each.graph, each.width,
               each.ours.times.median * 1e3, each.over_no_reuse(rates), each.over_l2(rates), each.gain());
    fmt::print("  [{:.3f} .. {:.3f}]{}", each.ours.times.low * 1e3, each.ours.times.high * 1e3,
               each.ours.same_bits ? "" : " bits differ!");
    if (each.copied) fmt::print("; {} {:.3f}", each.copied->name, each.copied->times.median * 1e3);
    for (const Timed& library : each.library) {
        fmt::print("; {} {:.3f} [{:.3f} .. {:.3f}] {:.1e}{}", library.name, library.times.median * 1e3,
                   library.times.low * 1e3, library.times.high * 1e3, library.difference,
                   library.same_bits ? "" : " bits differ");
    }
    fmt::print("\n");
    std::fflush(stdout);
}

Json json_of(const Timed& timed) {
    return {{"name", timed.name},
            {"seconds", bench::json_of(timed.times)},
            {"buffer_bytes", timed.buffer_bytes},
            {"difference", timed.difference},
            {"same_bits", timed.same_bits}};
}

Json json_of(const SpmmCase& each, const Rates& rates) {
    Json library = Json::array();
    for (const Timed& timed : each.library) library.push_back(json_of(timed));
    Json all = {{"graph", each.graph},
                {"width", each.width},
                {"nonzeros", each.nonzeros},
                {"over_no_reuse", each.over_no_reuse(rates)},
                {"over_l2", each.over_l2(rates)},
                {"gain", each.gain()},
                {"ours", json_of(each.ours)},
                {"library", library}};
    if (each.copied) all["copied"] = json_of(*each.copied);
    return all;
}

// Sums of the same positive numbers in another order agree to this; and ours have the same bits each time.
bool is_right(const SpmmCase& each) {
    constexpr double tolerance = 1e-4;
    return each.ours.same_bits && (!each.copied || (each.copied->same_bits && each.copied->difference == 0)) &&
           std::ranges::all_of(each.library, [](const Timed& timed) { return timed.difference <= tolerance; });
}

int run(Device& device, const Card& card, const SpmmOptions& options) {
    for (const std::string& name : options.graphs) size_of(name);  // a wrong name is told at once
    const auto scaled = [&](std::int64_t count) { return std::llround(static_cast<double>(count) * options.scale); };
    const Rates rates = measure_rates(device, card, options.repeats);
    print_card(card, rates);
    std::vector<SpmmCase> cases;
    Outcome outcome{
        "spmm_gpu", {}, Json::array(), true, "results differ by more than 1e-4, or ours from one run to the next"};
    for (const std::string& name : options.graphs) {
        const DeviceCsr a(device, rmat_block(scaled(size_of(name).vertices), scaled(size_of(name).edges)).view());
        fmt::print("{}: {} vertices, {} nonzeros\n", name, a.view().rows, a.nonzeros());
        for (const std::int64_t width : options.widths) {
            try {
                cases.push_back(measure(device, card, name, a, width, options.repeats));
                print(cases.back(), rates);
                outcome.right = outcome.right && is_right(cases.back());
                outcome.cases.push_back(json_of(cases.back(), rates));
            } catch (const OutOfMemory& error) {
                fmt::print("{} {:>3} left out: {}\n", name, width, error.what());
                outcome.cases.push_back({{"graph", name}, {"width", width}, {"why_not", error.what()}});
            }
            write_figures(outcome, options, card, rates);
        }
    }
    outcome.bars = spmm_bars(cases, rates);
    return conclude(outcome, options, card, rates);
}

}  // namespace

int main(int argc, char** argv) {
    SpmmOptions options;
    CLI::App app("SpMM on a GPU beside cuSPARSE and beside bounds by the card's rates");
    app.add_option("--graphs", options.graphs, "of arxiv, mid, reddit, products")->delimiter(',');
    app.add_option("--widths", options.widths, "columns of the dense operand")->delimiter(',');
    add_options(app, options);
    CLI11_PARSE(app, argc, argv);
    return on_gpu("spmm_gpu", [&](Device& device, const Card& card) { return run(device, card, options); });
}
