// One data set in the forms in which publishers lay out theirs: all train the same network, whole or read in shares.
#include "tests/support/test_files.hpp"
#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace gnnplan::testing {
namespace {

using data::files::Array;
using data::files::bytes_of;
using I64 = std::int64_t;
namespace fs = std::filesystem;

// A directed ring with chords, in which every vertex is in one subset.
class Forms : public ::testing::Test {
protected:
    static constexpr I64 vertices = 30, features = 4, classes = 3;

    Forms() {
        for (I64 v = 0; v < vertices; ++v) {
            for (const I64 step : {1, 4, 9}) {
                from_.push_back(v);
                to_.push_back((v * step + step) % vertices);
            }
            label_.push_back((v + v / 7) % classes);
            for (I64 j = 0; j < features; ++j)
                feature_.push_back(static_cast<float>((v * 5 + j * j * 3) % 11) / 8 - 0.5F);
        }
    }

    // Halves and bfloat16 hold these features exactly, in the upper bits of their float.
    Array bfloat16_features(const std::string& name) const {
        std::vector<std::uint16_t> upper;
        for (const float value : feature_) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            EXPECT_EQ(bits & 0xFFFFU, 0U);
            upper.push_back(static_cast<std::uint16_t>(bits >> 16U));
        }
        return {name, "<V2", {vertices, features}, bytes_of(upper)};
    }
    Array half_features(const std::string& name) const {
        std::vector<std::uint16_t> halves;
        for (const float value : feature_) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            const std::uint32_t exponent = bits >> 23U & 0xFFU;
            const std::uint32_t magnitude = exponent == 0 ? 0 : (exponent - 112U) << 10U | (bits >> 13U & 0x3FFU);
            halves.push_back(static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | magnitude));
        }
        return {name, "<f2", {vertices, features}, bytes_of(halves)};
    }
    Array float_features(const std::string& name) const {
        return {name, "<f4", {vertices, features}, bytes_of(feature_)};
    }
    Array by_columns() const {
        std::vector<I64> ends = from_;
        ends.insert(ends.end(), to_.begin(), to_.end());
        return {"edge_index", "<i8", {2, std::ssize(from_)}, bytes_of(ends)};
    }
    Array by_rows() const {
        std::vector<std::int32_t> ends;
        for (std::size_t e = 0; e < from_.size(); ++e) {
            ends.push_back(static_cast<std::int32_t>(from_[e]));
            ends.push_back(static_cast<std::int32_t>(to_[e]));
        }
        return {"edge_index", "<i4", {std::ssize(from_), 2}, bytes_of(ends)};
    }
    Array labels(const std::string& name) const { return {name, "<i8", {vertices}, bytes_of(label_)}; }
    Array float_labels(const std::string& name) const {
        const std::vector<float> values(label_.begin(), label_.end());
        return {name, "<f4", {vertices, 1}, bytes_of(values)};
    }
    // Vertices 0, 3, 6, ... are trained, 1, 4, ... validated.
    static std::vector<Array> masks(bool column) {
        std::vector<Array> all;
        for (const std::string subset : {"train", "val", "test"}) {
            std::string bytes;
            for (I64 v = 0; v < vertices; ++v) bytes += v % 3 == std::ssize(all) ? '\1' : '\0';
            const auto shape = column ? std::vector<I64>{vertices, 1} : std::vector<I64>{vertices};
            all.push_back({subset + "_mask", column ? "|u1" : "|b1", shape, bytes});
        }
        return all;
    }
    std::string archive(const std::string& name, std::vector<Array> arrays, const std::vector<Array>& split,
                        bool stored = true) const {
        arrays.insert(arrays.end(), split.begin(), split.end());
        const fs::path path = folder_.path() / name;
        fs::create_directories(path.parent_path());
        fs::rename(data::files::write_npz(folder_, arrays, stored), path);
        return path;
    }
    void save(const std::string& place, const Array& array) const {
        folder_.write(place + "/" + array.name + ".npy", data::files::npy_bytes(array));
    }
    void save_split(const std::string& place) const {
        std::string lines[3];
        for (I64 v = 0; v < vertices; ++v) lines[v % 3] += std::to_string(v) + "\n";
        folder_.write(place + "/split/time/train.csv.gz", lines[0]);
        folder_.write(place + "/split/time/valid.csv.gz", lines[1]);
        folder_.write(place + "/split/time/test.csv.gz", lines[2]);
    }

    std::string ogb() const {
        std::string edges, rows, classes_of;
        for (std::size_t e = 0; e < from_.size(); ++e)
            edges += std::to_string(from_[e]) + "," + std::to_string(to_[e]) + "\n";
        for (I64 v = 0; v < vertices; ++v) {
            for (I64 j = 0; j < features; ++j)
                rows += (j == 0 ? "" : ",") + std::to_string(feature_[static_cast<std::size_t>(v * features + j)]);
            rows += "\n";
            classes_of += std::to_string(label_[static_cast<std::size_t>(v)]) + "\n";
        }
        folder_.write("arxiv/raw/edge.csv.gz", edges);
        folder_.write("arxiv/raw/num-node-list.csv.gz", std::to_string(vertices) + "\n");
        folder_.write("arxiv/raw/num-edge-list.csv.gz", std::to_string(from_.size()) + "\n");
        folder_.write("arxiv/raw/node-feat.csv.gz", rows);
        folder_.write("arxiv/raw/node-label.csv.gz", classes_of);
        save_split("arxiv");
        return folder_.path() / "arxiv";
    }
    // Rows of features in another order, and the vertices that they are of.
    std::vector<Array> rows_with_ids() const {
        std::vector<I64> ids;
        std::vector<float> rows;
        for (I64 i = 0; i < vertices; ++i) {
            ids.push_back(i * 11 % vertices);
            const auto row = feature_.begin() + ids.back() * features;
            rows.insert(rows.end(), row, row + features);
        }
        return {by_columns(),
                {"x", "<f4", {vertices, features}, bytes_of(rows)},
                {"x_ids", "<i8", {vertices}, bytes_of(ids)},
                labels("y")};
    }
    // Plain files, those of features as programs write them that sort nothing.
    std::string tables() const {
        fs::copy(ogb(), folder_.path() / "tables", fs::copy_options::recursive);
        fs::remove(folder_.path() / "tables/raw/node-feat.csv.gz");
        const char* const separators[] = {",", ";", "\t"};
        std::string parts[3];
        for (I64 i = 0; i < vertices; ++i) {
            const I64 v = i * 7 % vertices;
            std::string& part = parts[i % 3];
            part += std::to_string(v);
            for (I64 j = 0; j < features; ++j)
                part += separators[i % 3] + std::to_string(feature_[static_cast<std::size_t>(v * features + j)]);
            part += "\n";
        }
        folder_.write("tables/raw/node-feat/part-00000.csv", "id,a,b,c,d\n" + parts[0]);
        folder_.write("tables/raw/node-feat/part-00001.csv.gz", parts[1]);
        folder_.write("tables/raw/node-feat/part-00002.csv", parts[2]);
        folder_.write("tables/raw/node-feat/_SUCCESS", "");
        return folder_.path() / "tables";
    }
    std::string papers() const {
        archive("papers/raw/data.npz",
                {by_columns(), float_features("node_feat"), {"num_nodes_list", "<i8", {1}, bytes_of<I64>({vertices})}},
                {});
        archive("papers/raw/node-label.npz", {float_labels("node_label")}, {});
        save_split("papers");
        return folder_.path() / "papers";
    }
    std::string igb() const {
        save("igb/paper__cites__paper", by_rows());
        save("igb/paper", float_features("node_feat"));
        save("igb/paper", float_labels("node_label_19"));
        for (const Array& mask : masks(false)) save("igb/split", mask);
        return folder_.path() / "igb";
    }
    std::string mag() const {
        save("mag/paper___cites___paper", by_columns());
        save("mag/paper", half_features("node_feat"));
        save("mag/paper", float_labels("node_label"));
        for (const Array& mask : masks(true)) save("mag", mask);
        return folder_.path() / "mag";
    }
    std::string scipy() const {
        std::vector<Array> coo{{"row", "<i8", {std::ssize(from_)}, bytes_of(from_)},
                               {"col", "<i8", {std::ssize(to_)}, bytes_of(to_)},
                               {"shape", "<i8", {2}, bytes_of<I64>({vertices, vertices})},
                               {"format", "|S3", {}, "coo"}};
        coo.insert(coo.end(), {float_features("x"), labels("y")});
        return archive("coo.npz", coo, masks(false));
    }

    data::files::TempFolder folder_;
    std::vector<I64> from_, to_, label_;
    std::vector<float> feature_;
};

// The losses of a run, and that all bytes were as predicted.
nlohmann::json losses(const std::string& plan, const std::string& data, const std::string& report) {
    const Outcome run = run_program(
        GNNRUN_TOOL, plan + " --in-process --threads 1 --epochs 3 --autotune 0 --data " + data + " --report " + report);
    EXPECT_EQ(run.code, 0) << data << ": " << run.err;
    EXPECT_THAT(run.out, ::testing::HasSubstr("equal to the byte")) << data;
    nlohmann::json all;
    for (const auto& epoch : nlohmann::json::parse(read_text(report))["epochs"]) all.push_back(epoch["loss"]);
    return all;
}

TEST_F(Forms, TrainTheSameNetworkBitForBit) {
    const std::vector<std::string> forms{
        archive("pyg.npz", {by_columns(), float_features("x"), labels("y")}, masks(false)),
        archive("small.npz", {by_columns(), float_features("x"), labels("y")}, masks(false), false),
        archive("rows.npz", {by_rows(), bfloat16_features("x"), float_labels("y")}, masks(true)),
        archive("ids.npz", rows_with_ids(), masks(false)),
        archive("small_ids.npz", rows_with_ids(), masks(false), false),
        scipy(),
        ogb(),
        tables(),
        papers(),
        igb(),
        mag()};
    const std::string plan = folder_.path() / "plan.json", report = folder_.path() / "report.json";
    for (const std::string ranks : {"1", "2", "3"}) {
        nlohmann::json expected;
        for (const std::string load : {"whole", "sharded"}) {
            for (const std::string& data : forms) {
                const Outcome planned = gnnplan("plan --hidden 5 --loss-rows off --graph " + data + " --ranks " +
                                                ranks + " --load " + load + " -o " + plan);
                ASSERT_EQ(planned.code, 0) << data << ": " << planned.err;
                const nlohmann::json found = losses(plan, data, report);
                if (expected.is_null()) expected = found;
                EXPECT_EQ(found, expected) << data << " on " << ranks << ", " << load;
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::testing
