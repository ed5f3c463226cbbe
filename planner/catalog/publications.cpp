// Figures exactly as the papers print them; bench/published compares them with predictions at length.
#include "planner/catalog/publications.hpp"

#include "planner/catalog/suggest.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>

namespace gnnplan::catalog {
namespace {

// Table VIII prints the fastest of the Pareto-optimal orders and of the others; this is the faster of both.
PaperFigure figure_of_rdm() {
    return {"rdm",
            "GNN-RDM, Table VIII: seconds of an epoch (those of CAGNET are in its Figures 8 and 9 alone)",
            "machine=a6000x8 space=paper layers=2 hidden=128",
            Task::train,
            "ranks=2,4,8",
            "scheme=1d,1.5d,rdm",
            "rdm",
            PrintedQuantity::seconds,
            {{"OGB-Arxiv", "graph=ogbn-arxiv:rdm", {0.030, 0.022, 0.022}},
             {"OGB-MAG", "graph=ogbn-mag:rdm", {0.126, 0.085, 0.076}},
             {"OGB-Products", "graph=ogbn-products:rdm", {0.756, 0.422, 0.402}},
             {"Reddit", "graph=reddit:rdm", {0.384, 0.157, 0.138}},
             {"Web-Google", "graph=web-google:rdm", {0.135, 0.095, 0.090}},
             {"Com-Orkut", "graph=com-orkut:rdm", {0.772, 0.445, 0.473}},
             {"CAMI-Airways", "graph=cami-airways:rdm", {0.182, 0.119, 0.113}},
             {"CAMI-Oral", "graph=cami-oral:rdm", {0.174, 0.117, 0.114}}}};
}

// Figure 1 shows bars without figures; section V-C says what does not fit.
PaperFigure figure_of_cagnet() {
    return {"cagnet",
            "CAGNET, Figure 1 and section V-C: what ran on Summit (its seconds are bars without figures)",
            "machine=summit space=paper layers=3 hidden=16",
            Task::train,
            "ranks=4,16,36,64,100",
            "scheme=1d,1.5d,2d,3d",
            "1d",
            PrintedQuantity::seconds,
            {{"Reddit", "graph=reddit:cagnet", {ran, ran, ran, ran, ran}},
             {"Amazon", "graph=amazon:cagnet", {out_of_memory, ran, ran, ran, ran}},
             {"Protein", "graph=protein:cagnet", {out_of_memory, out_of_memory, ran, ran, ran}}}};
}

PaperFigure figure_of_mg_gcn() {
    const std::string deep = " layers=3 forward=SDD backward=SS- hidden=";
    return {"mg-gcn",
            "MG-GCN, Table 3: seconds of an epoch",
            "machine=dgx-a100 normalisation=row_mean scheme=1d exchange=panels extras=off",
            Task::train,
            "ranks=1,2,4,8",
            "",
            "",
            PrintedQuantity::seconds,
            {{"Reddit", "graph=reddit:mg-gcn hidden=16 layers=2 forward=DS backward=D-", {0.033, 0.017, 0.012, 0.012}},
             {"Products", "graph=ogbn-products:mg-gcn" + deep + "256", {0.355, 0.202, 0.110, 0.067}},
             {"Proteins", "graph=protein:mg-gcn" + deep + "256", {4.221, 2.272, 1.191, 0.641}},
             {"Papers",
              "graph=ogbn-papers100m:mg-gcn" + deep + "208",
              {out_of_memory, out_of_memory, out_of_memory, 2.89}}}};
}

// The paper's own figures are bars. MG-GCN prints those of cd-0, which is exact: of one socket, and of the most.
PaperFigure figure_of_distgnn() {
    const std::string deep = " layers=3 hidden=256 forward=SSS";
    return {"distgnn",
            "DistGNN's cd-0 (vertex cuts, exact) as MG-GCN's Table 2 prints it: seconds of an epoch",
            "machine=xeon-9242 memory=1500GB model=sage:gcn extras=off",
            Task::train,
            "ranks=1,16,64,128",
            "scheme=1d,rdm",
            "rdm",
            PrintedQuantity::seconds,
            {{"Reddit", "graph=reddit:distgnn layers=2 hidden=16 forward=SS", {0.60, 0.61, 0, 0}},
             {"Products", "graph=ogbn-products:distgnn" + deep, {11, 0, 1.74, 0}},
             {"Proteins", "graph=protein:distgnn" + deep, {100, 0, 2.63, 0}},
             {"Papers", "graph=ogbn-papers100m:distgnn" + deep, {1000, 0, 0, 36.45}}}};
}

PaperFigure figure_of_deal() {
    const std::string gcn = " model=gcn", gat = " model=gat heads=4";
    const std::string products = "graph=ogbn-products:deal features=100 hidden=100 classes=100";
    const std::string spammer = "graph=social-spammer features=128 hidden=128 classes=128";
    const std::string papers = "graph=ogbn-papers100m:deal features=128 hidden=128 classes=128";
    return {"deal",
            "DEAL, Figure 15: how many times faster the pass of an inference is than on 2 machines",
            "machine=r5-16xlarge layers=3 fanout=50",
            Task::infer,
            "ranks=2,4,8,16",
            "",
            "",
            PrintedQuantity::speed_up,
            {{"Products GCN", products + gcn, {0, 0, 0, 2.28}},
             {"spammer GCN", spammer + gcn, {0, 0, 0, 4.98}},
             {"Papers GCN", papers + gcn, {0, 0, 0, 3.98}},
             {"Products GAT", products + gat, {0, 0, 0, 2.38}},
             {"spammer GAT", spammer + gat, {0, 0, 0, 5.32}},
             {"Papers GAT", papers + gat, {0, 0, 0, 4.83}}}};
}

}  // namespace

std::span<const PaperFigure> publications() {
    static const std::array all{figure_of_rdm(), figure_of_cagnet(), figure_of_mg_gcn(), figure_of_distgnn(),
                                figure_of_deal()};
    return all;
}

std::vector<std::string> publication_names() {
    std::vector<std::string> names;
    for (const PaperFigure& each : publications()) names.push_back(each.name);
    return names;
}

const PaperFigure& find_publication(std::string_view name) {
    const auto found = std::ranges::find(publications(), name, &PaperFigure::name);
    if (found != publications().end()) return *found;
    throw Error(ErrorCode::missing_input, "there is no such publication", std::string(name),
                name_hint(name, publication_names()));
}

}  // namespace gnnplan::catalog
