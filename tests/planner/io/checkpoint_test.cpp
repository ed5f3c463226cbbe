// Weights and checkpoints: what is written is read, and what was damaged is refused.
#include "planner/io/checkpoint.hpp"
#include "planner/io/files.hpp"
#include "planner/io/safetensors.hpp"
#include "tests/planner/io/expect_error.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <random>

namespace gnnplan::io {
namespace {

using test::expect_error;

// A file of the format, put together by hand.
std::string file_of(const std::string& header, const std::string& values) {
    std::string file(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 0xFFU);
    return file + header + values;
}

void expect_refused(const std::string& file, const std::string& why) {
    expect_error([&] { read_safetensors(file, "w"); }, ErrorCode::data, why);
}

Checkpoint sample() {
    Checkpoint checkpoint;
    checkpoint.tool_version = "1.2";
    checkpoint.command_line = "gnnrun 'my plan.json'";
    checkpoint.facts = {{"--seed", "7"}, {"the graph", "xxh3:1"}};
    checkpoint.state.epoch = 3;
    checkpoint.state.tensors = {{"layers.1.weight", {2, 3}, {1, -2, 3.5F, 1e-40F, 5, 6}},
                                {"layers.1.bias", {3}, {0.1F, 0.2F, 0.3F}},
                                {"adam.layers.1.weight.exp_avg", {2, 3}, {0, 0, 0, 0, 0, 1}}};
    checkpoint.state.epochs = {{1, 2.5, {}, 0.25}, {2, 2.25, {{0.5, 0.25, {}}, {}, {}}, 0.125}, {3, 1.0 / 3, {}, 0.5}};
    checkpoint.state.tuning = {"xxh64:2", 0, {0, 3}, 200, 2, 4, {{2, 0.5, 0.25}, {3, 1.5, 0}}};
    return checkpoint;
}

// Reading as many tensors and texts as a header may have takes a time proportional to their number: a search through
// all names for each of them took more than a minute.
TEST(Safetensors, OfManyNamesIsRead) {
    std::string header = "{\"__metadata__\": {";
    for (int i = 0; i < 60'000; ++i) header += (i > 0 ? ", \"m" : "\"m") + std::to_string(i) + "\": \"\"";
    header += "}";
    for (int i = 0; i < 60'000; ++i)
        header += ", \"layers." + std::to_string(i) +
                  R"(.weight": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]})";
    const std::string file = file_of(header + "}", "");
    EXPECT_EQ(read_safetensors(file, "w").tensors.size(), 60'000U);
    EXPECT_EQ(read_safetensors(file, "w").metadata.size(), 60'000U);
    const std::string text = read_content(file, "w").text;
    EXPECT_THAT(text, ::testing::EndsWith("0x3 and 59968 more"));
    EXPECT_LT(text.size(), 300U);
}

// Whatever the error is, its message quotes only the begin of a long name.
TEST(Safetensors, LongNamesAreCutInMessages) {
    const std::string name(2'000'000, 'n');
    for (const std::string& header : {"{\"" + name + "\": 3}", "{\"" + name + "\": {\"dtype\": \"F32\"}}",
                                      "{\"" + name + R"(": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
                                      "{\"" + name + "\": {}, \"" + name + "\": {}}", "{\"" + name + "\": [",
                                      "{\"__metadata__\": {\"" + name + "\": 3}}",
                                      R"({"a": {"dtype": ")" + name + "\"}}", "{\"a\": {\"" + name + "\": 3}}"}) {
        try {
            read_safetensors(file_of(header, std::string(8, '\0')), "w");
            ADD_FAILURE() << header.substr(header.size() - 40);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            EXPECT_LT(std::string(error.what()).size(), 500U) << header.substr(header.size() - 40);
        }
    }
}

TEST(Safetensors, HasTheLayoutOfTheFormat) {
    const std::string values("\0\0\x80\x3f\0\0\0\x40", 8);  // 1 and 2
    const std::string file =
        write_safetensors({{{"format", "pt"}}, {{"a", "F32", {2}, values}, {"b", "U8", {0, 3}, ""}}});
    std::size_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8U | static_cast<unsigned char>(file[i]);
    EXPECT_EQ(length % 8, 0U) << "values begin aligned";
    const auto header = nlohmann::json::parse(file.substr(8, length));
    EXPECT_EQ(header["__metadata__"]["format"], "pt");
    EXPECT_EQ(header["a"], nlohmann::json::parse(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})"));
    EXPECT_EQ(header["b"], nlohmann::json::parse(R"({"dtype": "U8", "shape": [0, 3], "data_offsets": [8, 8]})"));
    EXPECT_EQ(file.substr(8 + length), values);

    const Safetensors read = read_safetensors(file, "w");
    ASSERT_EQ(read.tensors.size(), 2U);
    EXPECT_EQ(read.tensors[0].bytes, values);
    EXPECT_EQ(read.tensors[1].shape, (std::vector<std::int64_t>{0, 3}));
}

TEST(Safetensors, RefusesWhatDoesNotFit) {
    const auto entry = [](const std::string& type, const std::string& shape, const std::string& offsets) {
        return R"({"a": {"dtype": ")" + type + R"(", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}";
    };
    const std::string eight(8, '\0');
    EXPECT_NO_THROW(read_safetensors(file_of(entry("F32", "[2]", "[0, 8]"), eight), "w"));
    expect_refused("short", "shorter than 8 bytes");
    expect_refused("\x93NUMPY and more", "and no safetensors file (save the weights in Python");
    expect_refused(std::string(8, '\xff'), "its header would take");
    expect_refused(file_of("{}", "").substr(0, 9), "its header would take");
    expect_refused(file_of("[]", ""), "is an object");
    expect_refused(file_of("{", ""), "w");
    expect_refused(file_of(entry("F31", "[2]", "[0, 8]"), eight), "is no type of safetensors");
    expect_refused(file_of(entry("F32", "[3]", "[0, 8]"), eight), "other bytes than type and shape say");
    expect_refused(file_of(entry("F32", "[-2]", "[0, 8]"), eight), "shape");
    expect_refused(file_of(entry("F32", "[4294967296, 4294967296]", "[0, 8]"), eight), "larger than any file");
    expect_refused(file_of(entry("F32", "[2]", "[8, 16]"), eight), "end after the file");
    expect_refused(file_of(entry("F32", "[2]", "[8, 16]"), eight + eight), "leave a gap");
    expect_refused(file_of(entry("F32", "[2]", "[0]"), eight), "expected the begin and the end");
    expect_refused(file_of(entry("F32", "[2]", "[0, 8]"), eight + eight), "bytes follow the last tensor");
    expect_refused(file_of(R"({"a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]},
                               "b": {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]}})",
                           eight),
                   "overlap others");
    expect_refused(file_of(R"({"__metadata__": {"a": 1}})", ""), "__metadata__");
}

TEST(Checkpoint, IsReadAsItWasWritten) {
    const Checkpoint before = sample();
    const Checkpoint after = read_checkpoint(write_checkpoint(before), "c");
    EXPECT_EQ(after.tool_version, before.tool_version);
    EXPECT_EQ(after.command_line, before.command_line);
    EXPECT_EQ(after.facts, before.facts);
    EXPECT_EQ(after.state.epoch, 3);
    ASSERT_EQ(after.state.tensors.size(), before.state.tensors.size());
    for (std::size_t i = 0; i < after.state.tensors.size(); ++i) {
        EXPECT_EQ(after.state.tensors[i].name, before.state.tensors[i].name);
        EXPECT_EQ(after.state.tensors[i].shape, before.state.tensors[i].shape);
        EXPECT_EQ(after.state.tensors[i].values, before.state.tensors[i].values);
    }
    ASSERT_EQ(after.state.epochs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        const EpochRecord& a = after.state.epochs[i];
        const EpochRecord& b = before.state.epochs[i];
        EXPECT_EQ(std::tie(a.epoch, a.loss, a.judgement, a.seconds), std::tie(b.epoch, b.loss, b.judgement, b.seconds));
    }
    const TuningLog& log = after.state.tuning;
    EXPECT_EQ(log.plan, "xxh64:2");
    EXPECT_EQ(log.candidates, (std::vector<int>{0, 3}));
    EXPECT_EQ(log.epochs, 200);
    EXPECT_EQ(log.first, 2);
    EXPECT_EQ(log.asked, 4);
    ASSERT_EQ(log.built.size(), 2U);
    EXPECT_EQ(log.built[1].seconds, 1.5);
}

TEST(Checkpoint, HasTheEpochsOfTheRunsBefore) {
    Checkpoint checkpoint = sample();
    checkpoint.state.tuning.run = 1;
    checkpoint.state.runs_before = {{{1, 4, {}, 1}, {2, 3.5, {{0.5, 0.25, {}}, {}, {}}, 2}},
                                    {{1, 5, {{}, {{}, {}, 0.75}, {0.125, 1, 0}}, 3}}};
    const TrainingState state = read_checkpoint(write_checkpoint(checkpoint), "c").state;
    EXPECT_EQ(state.epochs_of_all_runs(), 6);
    EXPECT_EQ(state.tuning.run, 1);
    ASSERT_EQ(state.runs_before.size(), 2U);
    ASSERT_EQ(state.runs_before[0].size(), 2U);
    EXPECT_EQ(state.runs_before[0][1].epoch, 2);
    EXPECT_EQ(state.runs_before[0][1].judgement.accuracy.valid, 0.25);
    EXPECT_EQ(state.runs_before[1][0].judgement, checkpoint.state.runs_before[1][0].judgement);
    EXPECT_EQ(state.runs_before[1][0].loss, 5);
    EXPECT_EQ(state.runs_before[1][0].epoch, 1);
    ASSERT_EQ(state.epochs.size(), 3U);
    EXPECT_EQ(state.epochs[2].epoch, 3);
    EXPECT_EQ(state.epochs[2].loss, 1.0 / 3);
    checkpoint.state.runs_before.emplace_back();
    expect_error([&] { read_checkpoint(write_checkpoint(checkpoint), "c"); }, ErrorCode::data,
                 "the history does not have the epochs that the checkpoint says");
}

TEST(Checkpoint, IsRefusedWhenItWasCutOrAltered) {
    const std::string whole = write_checkpoint(sample());
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) {
        const std::string cut = whole.substr(0, random() % whole.size());
        expect_error([&] { read_checkpoint(cut, "c"); }, ErrorCode::data, "c: is no checkpoint, or was cut or altered");
        std::string altered = whole;
        char& byte = altered[random() % whole.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
        expect_error([&] { read_checkpoint(altered, "c"); }, ErrorCode::data, "its hash does not match");
        expect_error([&] { read_weights(altered, "c"); }, ErrorCode::data, "c");
    }
}

TEST(Weights, AreReadFromWeightsAndFromCheckpoints) {
    const Checkpoint checkpoint = sample();
    const std::vector<NamedTensor> weights(checkpoint.state.tensors.begin(), checkpoint.state.tensors.begin() + 2);
    for (const std::string& file : {write_weights(weights), write_checkpoint(checkpoint)}) {
        const std::vector<NamedTensor> read = read_weights(file, "w");
        ASSERT_EQ(read.size(), 2U);
        EXPECT_EQ(read[0].name, "layers.1.weight");
        EXPECT_EQ(read[0].values, weights[0].values);
        EXPECT_EQ(read[1].shape, weights[1].shape);
    }
    expect_error([&] { read_checkpoint(write_weights(weights), "w"); }, ErrorCode::data, "is no checkpoint");
    const std::string eight(8, '\0');
    expect_error(
        [&] {
            read_weights(write_safetensors({{}, {{"other", "F32", {2}, eight}}}), "w");
        },
        ErrorCode::data, "holds no weights");
    expect_error(
        [&] {
            read_weights(write_safetensors({{}, {{"conv1.lin.weight", "F32", {2, 1}, eight}}}), "w");
        },
        ErrorCode::data, "it holds \"conv1.lin.weight\" 2 x 1; docs/models.md");
}

// Files that the safetensors package wrote: golden/make_weights.py.
TEST(Weights, OfOtherPrecisionsBecomeFloats) {
    const std::vector<std::pair<std::string, std::vector<float>>> cases = {
        {"f64", {1, -2, 0x1.99999ap-4F, 65504, 0x1p-24F, -0x1.54fdf4p-2F}},
        {"f32", {1, -2, 0x1.99999ap-4F, 65504, 0x1p-24F, -0x1.54fdf4p-2F}},
        {"f16", {1, -2, 0x1.998p-4F, 65504, 0x1p-24F, -0x1.55p-2F}},
        {"bf16", {1, -2, 0x1.9ap-4F, 65536, 0x1p-24F, -0x1.54p-2F}},
    };
    for (const auto& [name, values] : cases) {
        const std::string file = read_file(std::string(GNNPLAN_GOLDEN_DIR) + "/weights_" + name + ".safetensors");
        const std::vector<NamedTensor> weights = read_weights(file, name);
        ASSERT_EQ(weights.size(), 2U) << name;
        for (const NamedTensor& tensor : weights) {
            const bool bias = tensor.name == "layers.1.bias";
            EXPECT_EQ(tensor.shape, bias ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>({2, 3})) << name;
            EXPECT_EQ(tensor.values, std::vector<float>(values.begin() + (bias ? 3 : 0), values.end())) << name;
        }
    }
}

template <class T>
std::string weights_of(const std::string& type, const std::vector<T>& values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return write_safetensors({{}, {{"layers.1.weight", type, {std::ssize(values)}, bytes}}});
}

TEST(Weights, ThatNoFloatHoldsAreRefused) {
    const auto refused = [](const std::string& file, const std::string& why) {
        expect_error([&] { read_weights(file, "w"); }, ErrorCode::data, "w: " + why);
    };
    constexpr const char* element = "element 1 of tensor \"layers.1.weight\" is ";
    refused(weights_of<double>("F64", {1, 1e300}), std::string(element) + "1e+300, beyond what fp32 holds");
    refused(weights_of<double>("F64", {1, NAN}), std::string(element) + "nan, not a finite number");
    refused(weights_of<float>("F32", {1, -INFINITY}), std::string(element) + "-inf, not a finite number");
    refused(weights_of<std::uint16_t>("F16", {0x3c00, 0x7c00}), std::string(element) + "inf");
    refused(weights_of<std::uint16_t>("F16", {0x3c00, 0x7c01}), std::string(element) + "nan");
    refused(weights_of<std::uint16_t>("BF16", {0x3f80, 0xff80}), std::string(element) + "-inf");
    refused(weights_of<std::int32_t>("I32", {1, 2}), "tensor \"layers.1.weight\" is of type I32 (F32, F64, F16");
}

// Its hash is right: what wrote it was not.
TEST(Checkpoint, IsRefusedWhenItHoldsWhatNoRunLeaves) {
    const auto refused = [](const std::function<void(TrainingState&)>& spoil, const std::string& why) {
        Checkpoint checkpoint = sample();
        checkpoint.state.tensors.push_back({"adam.layers.1.weight.exp_avg_sq", {2}, {0, 0}});
        ASSERT_NO_THROW(read_checkpoint(write_checkpoint(checkpoint), "c"));
        spoil(checkpoint.state);
        expect_error([&] { read_checkpoint(write_checkpoint(checkpoint), "c"); }, ErrorCode::data, "c: " + why);
    };
    refused([](TrainingState& s) { s.tensors[0].values[3] = NAN; }, "element 3 of tensor \"layers.1.weight\" is nan");
    refused([](TrainingState& s) { s.tensors[2].values[0] = INFINITY; },
            "element 0 of tensor \"adam.layers.1.weight.exp_avg\" is inf");
    refused([](TrainingState& s) { s.tensors[3].values[1] = -1; },
            "element 1 of tensor \"adam.layers.1.weight.exp_avg_sq\" is -1, and a mean of squares is not below 0");
    refused([](TrainingState& s) { s.epochs[1].loss = NAN; }, "history.loss of epoch 2 is nan, which no run measures");
    refused([](TrainingState& s) { s.epochs[0].loss = -1; }, "history.loss of epoch 1 is -1");
    refused([](TrainingState& s) { s.epochs[2].seconds = -0.5; }, "history.seconds of epoch 3 is -0.5");
    refused([](TrainingState& s) { s.epochs[2].seconds = INFINITY; }, "history.seconds of epoch 3 is inf");
    refused([](TrainingState& s) { s.epochs[1].judgement.accuracy.valid = 1.5; },
            "history.valid_accuracy of epoch 2 is 1.5, and scores are from 0 to 1");
    refused([](TrainingState& s) { s.epochs[0].judgement.accuracy.test = -INFINITY; },
            "history.test_accuracy of epoch 1 is -inf");
    refused([](TrainingState& s) { s.epoch = 2; }, "the history does not have the epochs");
    refused(
        [](TrainingState& s) {
            s.epoch = 0;
            s.epochs.clear();
        },
        "epoch");
}

}  // namespace
}  // namespace gnnplan::io
