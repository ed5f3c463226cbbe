#include "planner/io/machine.hpp"

#include "planner/io/enumeration.hpp"
#include "planner/io/fingerprint.hpp"
#include "tests/planner/io/expect_error.hpp"
#include "tests/planner/io/samples.hpp"

#include <nlohmann/json.hpp>

namespace gnnplan::io {
namespace {

using nlohmann::json;
using test::expect_error;
using test::sample_machine;

TEST(Machine, RoundTrip) {
    const std::string text = write_machine(sample_machine());
    const Machine machine = read_machine(text, "m.json");
    EXPECT_EQ(write_machine(machine), text);
    EXPECT_EQ(machine.spmm.at(1).flops_per_second, 2.25e10);
    EXPECT_EQ(machine.intra_node.latency_seconds, 2e-6);
    EXPECT_EQ(json::parse(text)["memory_per_rank_bytes"], 51539607552);
    EXPECT_FALSE(json::parse(text).contains("reserved_bytes"));
    Machine card = sample_machine();
    card.reserved_bytes = 1 << 20;
    EXPECT_EQ(read_machine(write_machine(card), "m.json").reserved_bytes, 1 << 20);
}

TEST(Machine, NetworkCardsAndAllToAllHaveKeysWhereTheyAreKnown) {
    const json plain = json::parse(write_machine(sample_machine()));
    for (const char* key : {"network_cards", "all_to_all", "threads_per_rank"})
        EXPECT_FALSE(plain.contains(key)) << key;
    Machine machine = sample_machine();
    machine.network_cards = NetworkCards{2, 12.5e9};
    machine.all_to_all = Link{1e-5, 1e10};
    const std::string text = write_machine(machine);
    EXPECT_EQ(json::parse(text)["network_cards"], json::parse(R"({"per_node": 2, "bytes_per_second": 12.5e9})"));
    const Machine read = read_machine(text, "m.json");
    EXPECT_EQ(read.network_cards, machine.network_cards);
    EXPECT_EQ(read.all_to_all.value().bytes_per_second, 1e10);
    EXPECT_FALSE(read_machine(plain.dump(), "m.json").network_cards);
}

TEST(Machine, BlockingHasAKeyWhereItIsNotThatOfCpus) {
    EXPECT_FALSE(json::parse(write_machine(sample_machine())).contains("blocking"));
    EXPECT_EQ(read_machine(write_machine(sample_machine()), "m.json").blocking, Blocking{});
    Machine gpu = sample_machine();
    gpu.blocking = gpu_blocking(6'000'000);
    const std::string text = write_machine(gpu);
    EXPECT_EQ(json::parse(text)["blocking"], json::parse(R"({"unit_bytes": 32, "slice_columns": 256,
        "cache_bytes": 4000000, "least_slice_columns": 32, "packs_single_panels": true,
        "row_start_bytes": 4})"));
    EXPECT_EQ(read_machine(text, "m.json").blocking, gpu.blocking);
    json older = json::parse(text);  // which said nothing of row starts
    older["blocking"].erase("row_start_bytes");
    EXPECT_EQ(read_machine(older.dump(), "m.json").blocking.row_start_bytes, 8);
}

TEST(Machine, MistakesAreNamed) {
    const auto refused = [](const char* op, const char* path, const json& value, const char* message) {
        Machine machine = sample_machine();
        machine.blocking = gpu_blocking(6'000'000);
        const json document = json::parse(write_machine(machine));
        const std::string text = document.patch({{{"op", op}, {"path", path}, {"value", value}}}).dump();
        expect_error([&] { read_machine(text, "m.json"); }, ErrorCode::data, message);
    };
    refused("add", "/colour", 1, "m.json: unknown key \"colour\"");
    refused("remove", "/source", 1, "missing key \"source\"");
    refused("replace", "/schema", "gnnplan.machine/2", "unknown version \"gnnplan.machine/2\"");
    refused("replace", "/inter_node/latency_seconds", -1, "inter_node.latency_seconds: expected a number from 0");
    refused("replace", "/spmm", json::array(), "m.json: machine two-sockets: spmm needs at least one measured width");
    refused("replace", "/gemm_flops_per_second", -1, "gemm_flops_per_second must be positive");
    refused("replace", "/inter_node/bytes_per_second", -1, "inter_node.bytes_per_second must be positive");
    refused("replace", "/spmm/0/flops_per_second", -1, "spmm[0].flops_per_second must be positive");
    refused("replace", "/memory_bytes_per_second", -1, "memory_bytes_per_second must be positive");
    refused("replace", "/gemm_flops_per_second", 0, "gemm_flops_per_second must be positive");
    refused("replace", "/gemm_flops_per_second", 1e-308, "gemm_flops_per_second must be from 1e-30 to 1e30");
    refused("replace", "/memory_bytes_per_second", 1e300, "memory_bytes_per_second must be from 1e-30 to 1e30");
    refused("replace", "/step_seconds", 1e300, "step_seconds must be at most 1e30");
    refused("replace", "/spmm/1/width", 16, "spmm[1].width must be positive and increasing");
    refused("replace", "/blocking/unit_bytes", 48, "m.json: machine two-sockets: blocking.unit_bytes must be 32, a");
    refused("replace", "/blocking/slice_columns", 0, "blocking.slice_columns: expected an integer from 1");
    refused("replace", "/blocking/row_start_bytes", 6, "blocking.row_start_bytes must be 4 or 8");
    refused("remove", "/blocking/cache_bytes", 1, "missing key \"cache_bytes\"");
}

TEST(Fingerprint, IsXxh64) {
    EXPECT_EQ(fingerprint(""), "xxh64:ef46db3751d8e999");  // the published value of the empty input
    EXPECT_EQ(fingerprint("abc"), "xxh64:44bc2cf5ad770999");
}

TEST(Fingerprint, OfAMachineFollowsItsFieldsOnly) {
    const Machine machine = sample_machine();
    json sorted = json::parse(write_machine(machine));
    EXPECT_EQ(machine_fingerprint(read_machine(sorted.dump(), "m.json")), machine_fingerprint(machine));
    Machine other = machine;
    other.step_seconds *= 2;
    EXPECT_NE(machine_fingerprint(other), machine_fingerprint(machine));
}

TEST(Enumeration, HasTheKeysScriptsRelyOn) {
    EnumerationDocument enumeration;
    enumeration.vertices = 100;
    enumeration.nonzeros = 1000;
    enumeration.ranks = 3;
    enumeration.widths = {602, 128, 41};
    Configuration full;
    full.sharing = Sharing::sharded;
    full.grid = {1, 3, 1};
    full.forward = parse_orders("DS");
    full.backward = parse_orders("S-");
    full.operands = parse_operands("GT");
    enumeration.configurations = {{10, "DS", "DS", 512, 512, 512 * 100.0 * 2 / 3, 512000, true, {}, 0},
                                  {11, "DS", "S-", 4.5, 0, 0, 0, false, full, 4096}};
    const std::string text = write_enumeration(enumeration);
    EXPECT_THAT(text, testing::HasSubstr("\"redistribution_units\": 512,"));
    const json document = json::parse(text);
    EXPECT_EQ(document["schema"], "gnnplan.enumeration/1");
    EXPECT_EQ(document["truncated"], false);
    EXPECT_EQ(document["scheme"], nullptr);
    EXPECT_EQ(document["replication"], nullptr);
    EXPECT_EQ(document["widths"], json::parse("[602, 128, 41]"));
    const json& first = document["configurations"][0];
    EXPECT_EQ(first["id"], 10);
    EXPECT_EQ(first["forward"], "DS");
    EXPECT_EQ(first["backward"], "DS");
    EXPECT_TRUE(first["sparse_units"].is_number_integer());
    EXPECT_EQ(first["communication_elements"], 512 * 100.0 * 2 / 3);
    EXPECT_EQ(first["spmm_ops"], 512000);
    EXPECT_EQ(first["pareto"], true);
    for (const char* key : {"kept", "scheme", "operands", "total_bytes"}) EXPECT_FALSE(first.contains(key)) << key;
    const json& second = document["configurations"][1];
    EXPECT_EQ(second["id"], 11) << "the number in the list stays";
    EXPECT_EQ(second["kept"], json::parse(R"(["T2"])"));
    EXPECT_EQ(second["redistribution_units"], 4.5);
    EXPECT_EQ(second["scheme"], "2d");
    EXPECT_EQ(second["grid"], json::parse("[1, 3, 1]"));
    EXPECT_EQ(second["operands"], "GT");
    EXPECT_EQ(second["total_bytes"], 4096);
}

}  // namespace
}  // namespace gnnplan::io
