// gnnplan graph, datasets and machines.
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::testing {
namespace {

using ::testing::HasSubstr;

TEST(GraphInfo, CountsAnEdgeList) {
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "# a comment\n0 1\n1 0\n0 1\n2 2\n3 0\n");
    const auto json = gnnplan("graph info --json " + edges).json();
    EXPECT_EQ(json["vertices"], 4);
    EXPECT_EQ(json["edges"], 3);
    EXPECT_EQ(json["nonzeros"], 7);
    EXPECT_EQ(json["edges_read"], 5);
    EXPECT_EQ(json["directed"], true);
    EXPECT_EQ(json["symmetric"], false);
    EXPECT_EQ(json["self_loops_dropped"], 1);
    EXPECT_EQ(json["duplicates_dropped"], 1);
    EXPECT_EQ(json["degree_min"], 0);
    EXPECT_EQ(json["degree_max"], 1);
    EXPECT_EQ(json["degree_mean"], 0.75);
    EXPECT_TRUE(json["features"].is_null());
    EXPECT_TRUE(json["split"].is_null());
    EXPECT_THAT(json["fingerprint"].get<std::string>(), ::testing::MatchesRegex("xxh3:[0-9a-f]{16}"));

    const auto symmetrised = gnnplan("graph info --symmetrise --json " + edges).json();
    EXPECT_EQ(symmetrised["edges"], 4);
    EXPECT_EQ(symmetrised["symmetric"], true);
    EXPECT_EQ(symmetrised["symmetrised"], true);
    EXPECT_NE(symmetrised["fingerprint"], json["fingerprint"]);

    const std::string text = gnnplan("graph info " + edges).out;
    EXPECT_THAT(text, HasSubstr("vertices     4\n"));
    EXPECT_THAT(text, HasSubstr("dropped 1 self loops and 1 duplicates"));
}

TEST(GraphInfo, RemarksOnIdsFromOneAndEdgesListedOnce) {
    const Folder folder;
    const std::string edges = folder / "edges.csv";
    write_text(edges, "1,2\n2,3\n");
    const std::string base = "note: vertex 0 has no edges: ids from 1? (--index-base 1)\n";
    const std::string once = "note: no edge comes with its reverse; --symmetrise if undirected\n";
    EXPECT_EQ(gnnplan("graph info " + edges).err, base + once);
    EXPECT_EQ(gnnplan("graph info --json " + edges).err, base + once);
    EXPECT_EQ(gnnplan("graph info --index-base 0 " + edges).err, once);
    EXPECT_EQ(gnnplan("graph info --symmetrise " + edges).err, base);
    for (const std::string given : {"1", "auto"}) {
        const Outcome outcome = gnnplan("graph info --json --symmetrise --index-base " + given + " " + edges);
        EXPECT_EQ(outcome.err, "") << given;
        EXPECT_EQ(outcome.json()["vertices"], 3) << given;
        EXPECT_EQ(outcome.json()["index_base"], 1) << given;
    }
    write_text(edges, "0,1\n1,2\n2,1\n");
    EXPECT_EQ(gnnplan("graph info " + edges).err, "");
    EXPECT_EQ(gnnplan("graph info --json --index-base auto " + edges).json()["index_base"], 0);
    const Outcome refused = gnnplan("graph info --index-base 1 " + edges);
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.err, HasSubstr("edges.csv:1: vertex id '0' is out of range: it must be 1 to 2147483647"));
    EXPECT_EQ(gnnplan("graph info --index-base 2 " + edges).code, 64);
}

// These are the texts that public reports of misread files ask for: see docs/text-files.md.
TEST(GraphInfo, TextsAreWhatTheySayOrRefusedWithTheWayOut) {
    const Folder folder;
    const auto info = [&](const std::string& name, const std::string& text, const std::string& flags = "") {
        write_text(folder / name, text);
        return gnnplan("graph info --json " + flags + (folder / name));
    };
    const auto sizes = [&](const std::string& name, const std::string& text) {
        const auto json = info(name, text).json();
        return std::pair<int, int>(json["vertices"], json["edges"]);
    };
    using Sizes = std::pair<int, int>;
    const std::string metis = "% five vertices, six edges\n5 6\n2 3\n1 3 4\n1 2 5\n2 5\n3 4\n";
    EXPECT_EQ(sizes("metis.graph", metis), Sizes(5, 12));
    EXPECT_EQ(info("metis.txt", metis).code, 65);
    for (const std::string list :
         {"0 1 2 3\n1 2 3\n2 3 4\n3 4\n4 0\n", "#nx write_adjlist\n0 1 2 3\n1 2\n2 4\n3 4\n4\n"}) {
        const Outcome refused = info("list.adjlist", list);
        EXPECT_EQ(refused.code, 65);
        EXPECT_THAT(refused.err, HasSubstr("networkx.write_edgelist"));
        EXPECT_EQ(info("list.adjlist", list, "--edge-weights ").code, 65);
    }
    EXPECT_EQ(sizes("times.txt", "0 1 1 1082008561\n1 2 1 1082008561\n2 0 -1 1082008562\n"), Sizes(3, 3));
    EXPECT_EQ(sizes("id-first.csv", "id,source,target\n0,4,7\n1,5,6\n2,6,4\n"), Sizes(8, 3));
    EXPECT_EQ(info("id-first.csv", "id,source,target\n0,4,7\n", "--edge-weights ").code, 65);
    EXPECT_EQ(sizes("target-first.csv", "target,source\n1,0\n2,0\n3,0\n"), Sizes(4, 3));
    EXPECT_EQ(sizes("tsv-header.txt", "FromNodeId\tToNodeId\n0\t1\n1\t2\n"), Sizes(3, 2));
    EXPECT_EQ(sizes("pandas-index.csv", ",source,target\n0,4,7\n1,5,6\n2,6,4\n"), Sizes(8, 3));
    const std::string matrix = " matrix coordinate pattern general\n4 4 4\n1 2\n2 3\n3 4\n4 1\n";
    for (const std::string banner :
         {"%%MATRIXMARKET", "  %%MatrixMarket", "%MatrixMarket", "\xEF\xBB\xBF%%MatrixMarket"})
        EXPECT_EQ(sizes("matrix.txt", banner + matrix), Sizes(4, 4)) << banner;
    for (const std::string name : {"nohead.txt", "nohead.mtx"}) {
        const Outcome refused = info(name, "4 4 4\n1 2\n2 3\n3 4\n4 1\n");
        EXPECT_EQ(refused.code, 65);
        EXPECT_THAT(refused.err, HasSubstr("%%MatrixMarket matrix coordinate pattern general"));
    }
    EXPECT_THAT(info("nx.edgelist", "0 1 {}\n1 2 {}\n").err, HasSubstr("data=False"));
    EXPECT_THAT(info("utf16.txt", "\xFF\xFE" + std::string("0\0 \0001\0\n\0", 8)).err, HasSubstr("save it as UTF-8"));
}

TEST(GraphInfo, RemarksOnIdsWithGapsWhereverAGraphIsLoaded) {
    const Folder folder;
    const std::string edges = folder / "snap-header.txt";
    write_text(edges, "# Nodes: 6 Edges: 7\n1\t881\n1\t1180\n2\t881\n2\t5485\n9\t1180\n9\t5485\n");
    const std::string few = "note: 6 of 5,486 ids have edges, and the file declares 6 nodes";
    const std::string fewer = "note: the file declares 7 edges and lists 6\n";
    const Outcome seen = gnnplan("graph info " + edges);
    EXPECT_THAT(seen.err, HasSubstr(few));
    EXPECT_THAT(seen.err, HasSubstr(fewer));
    EXPECT_THAT(seen.err, ::testing::Not(HasSubstr("--index-base")));
    for (const std::string ranks : {"1", "2"}) {
        for (const std::string load : {"whole", "sharded"}) {
            const std::string plan = folder / "plan.json";
            const Outcome planned =
                gnnplan("plan --task infer --graph " + edges + " --features 4 --classes 2 --hidden 4 --ranks " + ranks +
                        " --load " + load + " -o " + plan);
            ASSERT_EQ(planned.code, 0) << planned.err;
            EXPECT_THAT(planned.err, HasSubstr(few));
            const Outcome run = run_program(GNNRUN_TOOL, plan + " --data " + edges + " --in-process --threads 1");
            EXPECT_EQ(run.code, 0) << run.err;
            EXPECT_THAT(run.err, HasSubstr(few)) << load;
            EXPECT_THAT(run.err, HasSubstr(fewer)) << load;
        }
    }
    write_text(edges, "0 1\n1 2\n2 4\n4 0\n");
    EXPECT_THAT(gnnplan("graph info " + edges).err, ::testing::Not(HasSubstr("ids")));
}

TEST(GraphInfo, IndexBaseIsOfEdgeLists) {
    const Folder folder;
    const std::string matrix = folder / "graph.mtx";
    write_text(matrix, "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    EXPECT_EQ(gnnplan("graph info --index-base 1 " + matrix).code, 0);  // as it has anyway
    const std::string archive = folder / "graph.npz";
    ASSERT_EQ(gnnplan("graph generate rmat --vertices 16 --nonzeros 40 -o " + archive).code, 0);
    const Outcome refused = gnnplan("graph info --index-base 1 " + archive);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.err, HasSubstr("leave --index-base out"));
    EXPECT_EQ(gnnplan("plan --graph reddit --index-base 1").code, 64);
}

TEST(GraphInfo, BadInput) {
    const Folder folder;
    const std::string edges = folder / "edges.txt";
    write_text(edges, "0 1\n1 x\n");
    const Outcome outcome = gnnplan("graph info " + edges);
    EXPECT_EQ(outcome.code, 65);
    EXPECT_THAT(outcome.err, HasSubstr(edges + ":2"));
    EXPECT_EQ(gnnplan("graph info /nonexistent/graph").code, 66);

    const std::string matrix = folder / "bad.mtx";
    write_text(matrix, "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n4 1\n");
    EXPECT_THAT(gnnplan("graph info " + matrix).err, HasSubstr("row index '4' is out of range: it must be 1 to 3"));
}

TEST(GraphGenerate, PlantedPartitionAsOgbFolder) {
    const Folder folder;
    const std::string graph = folder / "graph";
    const Outcome made =
        gnnplan("graph generate planted --vertices 500 --nonzeros 4000 --features 6 --classes 3 --seed 2 -o " + graph);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("symmetrised, randomly relabelled, duplicates and self loops dropped"));
    const auto json = gnnplan("graph info --json " + graph).json();
    EXPECT_EQ(json["vertices"], 500);
    EXPECT_EQ(json["features"], 6);
    EXPECT_EQ(json["classes"], 3);
    EXPECT_EQ(json["symmetric"], true);
    EXPECT_EQ(json["split"]["train"].get<int>() + json["split"]["valid"].get<int>() + json["split"]["test"].get<int>(),
              500);
    const Outcome again = gnnplan("graph generate planted --vertices 5 --nonzeros 4 --features 6 -o " + graph);
    EXPECT_EQ(again.code, 73);
    EXPECT_THAT(again.err, HasSubstr(graph + " exists; choose another -o"));
}

TEST(GraphGenerate, RmatIsTheSameForTheSameSeed) {
    const Folder folder;
    const auto fingerprint = [&](const std::string& flags) {
        const std::string file = folder / "graph.npz";
        const Outcome made = gnnplan("graph generate rmat --vertices 256 --nonzeros 2000 -o " + file + " " + flags);
        EXPECT_EQ(made.code, 0) << made.err;
        return gnnplan("graph info --json " + file).json()["fingerprint"].get<std::string>();
    };
    const std::string first = fingerprint("--seed 5");
    EXPECT_EQ(fingerprint("--seed 5 --abcd 0.57,0.19,0.19,0.05"), first);
    EXPECT_NE(fingerprint("--seed 6"), first);
    EXPECT_NE(fingerprint("--seed 5 --abcd 0.25,0.25,0.25,0.25"), first);
    EXPECT_NE(fingerprint("--seed 5 --no-relabel"), first);
    EXPECT_NE(fingerprint("--seed 5 --directed"), first);
}

TEST(GraphGenerate, RmatWithFeatures) {
    const Folder folder;
    const std::string file = folder / "graph.npz";
    ASSERT_EQ(gnnplan("graph generate rmat --vertices 64 --nonzeros 300 --features 5 --classes 2 -o " + file).code, 0);
    const auto json = gnnplan("graph info --json " + file).json();
    EXPECT_EQ(json["features"], 5);
    EXPECT_EQ(json["classes"], 2);
}

TEST(GraphGenerate, PlantedPartitionHasFeaturesUnlessToldOtherwise) {
    const Folder folder;
    const std::string graph = folder / "graph";
    ASSERT_EQ(gnnplan("graph generate planted --vertices 100 --nonzeros 600 -o " + graph).code, 0);
    const auto json = gnnplan("graph info --json " + graph).json();
    EXPECT_GT(json["features"], 0);
    EXPECT_GT(json["classes"], 1);
}

TEST(GraphGenerate, WrongUsage) {
    const Folder folder;
    const std::string out = " -o " + (folder / "graph");
    for (const std::string flags :
         {"rmat --vertices 10", "rmat --nonzeros 10", "rmat --vertices 0 --nonzeros 1",
          "rmat --vertices 10 --nonzeros -1", "rmat --vertices 10 --nonzeros 10 --features 3",
          "rmat --vertices 10 --nonzeros 10 --abcd 0.5,0.5", "rmat --vertices 10 --nonzeros 10 --abcd 0.9,0.9,0.1,0.1",
          "rmat --vertices 10 --nonzeros 10 --abcd nan,0,0,1", "ring --vertices 10 --nonzeros 10", ""}) {
        EXPECT_EQ(gnnplan("graph generate " + flags + out).code, 64) << flags;
    }
    EXPECT_EQ(gnnplan("graph generate rmat --vertices 10 --nonzeros 10 -o /nonexistent/graph").code, 73);
}

TEST(Catalog, DatasetsOfThePapers) {
    const auto list = gnnplan("datasets list --json").json()["datasets"];
    std::vector<std::string> names;
    for (const auto& card : list) names.push_back(card["name"]);
    for (const char* name :
         {"cora", "ogbn-arxiv", "ogbn-mag", "ogbn-products", "reddit", "web-google", "com-orkut", "cami-airways",
          "cami-oral", "amazon", "protein", "ogbn-papers100m", "am", "social-spammer"}) {
        EXPECT_THAT(names, ::testing::Contains(name));
        EXPECT_THAT(gnnplan("datasets list").out, HasSubstr(name));
    }
    const auto reddit = gnnplan("datasets show reddit --json").json();
    EXPECT_EQ(reddit["vertices"], 232965);
    EXPECT_EQ(reddit["nonzeros"], 114848857);
    EXPECT_THAT(gnnplan("datasets show reddit").out, HasSubstr("as PyG loads it"));
    EXPECT_THAT(gnnplan("datasets show reddit:rdm").out, HasSubstr("GNN-RDM Table V"));
    const Outcome unknown = gnnplan("datasets show redit");
    EXPECT_EQ(unknown.code, 66);
    EXPECT_THAT(unknown.err, HasSubstr("reddit"));
}

TEST(Catalog, MachinesOfThePapers) {
    const std::string list = gnnplan("machines list").out;
    for (const char* name :
         {"cpu-node", "a6000x8", "summit", "dgx-1-v100", "dgx-a100", "a100x4-perlmutter", "h100x8", "h200x8", "gh200",
          "mi300x8", "mi250x4-frontier", "xeon-9242", "r5-16xlarge", "epyc-9654", "epyc-9655p", "xeon-8480", "grace"}) {
        EXPECT_THAT(list, HasSubstr(name));
        EXPECT_EQ(gnnplan(std::string("machines show ") + name).code, 0);
    }
    EXPECT_EQ(gnnplan("machines list --json").json()["machines"].size(), 17U);
    const auto detected = gnnplan("machines detect --json").json();
    EXPECT_EQ(detected["schema"], "gnnplan.machine/1");
    EXPECT_EQ(detected["measured"], false);
    EXPECT_EQ(gnnplan("machines show laptop").code, 66);
}

// On two nodes, so that their network counts.
TEST(Catalog, EveryMachineCanBePlannedFor) {
    for (const auto& machine : gnnplan("machines list --json").json()["machines"]) {
        const auto name = machine["name"].get<std::string>();
        const int ranks = 2 * machine["ranks_per_node"].get<int>();
        const Outcome plan =
            gnnplan("plan --json --graph reddit --hidden 128 --machine " + name + " --ranks " + std::to_string(ranks));
        ASSERT_EQ(plan.code, 0) << name << "\n" << plan.err;
        EXPECT_GT(plan.json()["predicted"]["epoch_seconds"].get<double>(), 0) << name;
    }
}

// Six figures of data sheets make a profile to plan for.
TEST(Catalog, MachinesFromDataSheets) {
    const Folder folder;
    const std::string file = folder / "mine.json";
    const std::string figures =
        "machines new --gpus-per-node 4 --memory 80GiB --memory-bandwidth 3.35TB/s --fp32 67TF --in-node 450GB/s "
        "--between-nodes 50GB/s";
    EXPECT_EQ(gnnplan(figures + " -o " + file).code, 0);
    const auto mine = gnnplan("machines show " + file + " --json").json();
    EXPECT_EQ(mine["ranks_per_node"], 4);
    EXPECT_EQ(mine["memory_bytes_per_second"], 0.8 * 3.35e12);
    EXPECT_EQ(gnnplan("plan --graph reddit --ranks 8 --machine " + file).code, 0);
    EXPECT_EQ(gnnplan(figures).json()["schema"], "gnnplan.machine/1");
    EXPECT_EQ(gnnplan(figures + " --cards 2").json()["network_cards"]["per_node"], 2);
    for (const char* wrong : {"--fp32 67", "--fp32 fast", "--in-node 450", "--memory-bandwidth 3.35", "--l2 0"})
        EXPECT_EQ(gnnplan(figures + " " + wrong).code, 64) << wrong;
}

}  // namespace
}  // namespace gnnplan::testing
