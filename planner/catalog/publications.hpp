// Main figures of the five papers: the runs that each shows, in the words of a sweep, and the figures printed of them.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::catalog {

// The quantity that a paper prints of a run.
enum class PrintedQuantity : std::uint8_t {
    seconds,   // of an epoch, or of an inference
    speed_up,  // over the fewest ranks of the same case
};

// Stand in the place of a printed figure.
inline constexpr double nothing_printed = 0;
inline constexpr double out_of_memory = -1;
inline constexpr double ran = -2;  // it fitted, and no figure is printed

struct PublishedCase {
    std::string name;             // "Reddit"
    std::string settings;         // "graph=reddit:mg-gcn hidden=16"
    std::vector<double> printed;  // for each setting of PaperFigure::along
};

struct PaperFigure {
    std::string name;      // "mg-gcn"
    std::string title;     // "MG-GCN, Table 3: seconds of an epoch"
    std::string settings;  // of all runs: "machine=dgx-a100 scheme=1d"
    Task task = Task::train;
    std::string along;        // "ranks=1,2,4,8"
    std::string competitors;  // "scheme=1d,rdm"; "": none
    std::string printed_of;   // the competitor that figures are printed of; "" without competitors
    PrintedQuantity printed = PrintedQuantity::seconds;
    std::vector<PublishedCase> cases;
};

std::span<const PaperFigure> publications();
std::vector<std::string> publication_names();
// Throws Error{missing_input} that lists the names.
const PaperFigure& find_publication(std::string_view name);

}  // namespace gnnplan::catalog
