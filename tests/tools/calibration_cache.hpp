// The common parts of tests of calibrations.
#pragma once

#include "tests/tools/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace gnnplan::testing {

// As little as can be measured.
inline const std::string little = " --quick --seconds 0 --largest 64KiB --ranks 2";

// The user's cache folder as the tools see it, until the end of the test.
class Cache {
public:
    Cache() {
        if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    }
    ~Cache() { setenv("XDG_CACHE_HOME", before_.c_str(), 1); }
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    std::string file(const std::string& kind = "2x1-threads") const {
        return folder_ / ("cache/gnnplan/machine-" + kind + ".json");
    }
    std::string probe() const { return folder_ / "cache/gnnplan/probe-2x1.json"; }
    // Where those are that plans do not use.
    std::string aside() const { return folder_ / "cache/gnnplan/aside/machine-2x1-threads.json"; }
    // A profile made up: plans that use it name its kind.
    void keep(const std::string& kind, int ranks, int threads, const std::string& date) const {
        auto profile = gnnplan("machines show cpu-node --json").json();
        profile["name"] = kind;
        profile["measured"] = true;
        profile["ranks_per_node"] = ranks;
        profile["fingerprint"] = {{"cpu", "Another CPU"}, {"cores", 1},  {"ranks", ranks},
                                  {"threads", threads},   {"mpi", ""},   {"kernels", ""},
                                  {"compiler", ""},       {"date", date}};
        std::filesystem::create_directories(std::filesystem::path(file(kind)).parent_path());
        write_text(file(kind), profile.dump());
    }
    // A calibration of this machine.
    nlohmann::ordered_json calibrate() const {
        const Outcome outcome = gnnplan("calibrate" + little);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return nlohmann::ordered_json::parse(read_text(file()));
    }

private:
    Folder folder_;
    std::string before_;
};

// Other programs take this share of the cores, until the end of the test.
class Busy {
public:
    explicit Busy(const char* share) { setenv("GNNPLAN_BUSY", share, 1); }
    ~Busy() { setenv("GNNPLAN_BUSY", "0", 1); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
};

// The name of the machine that two ranks are planned with.
inline std::string plan_machine(const std::string& flags = "") {
    const Outcome outcome = gnnplan("plan --graph cora --ranks 2 --json " + flags);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json()["machine"]["name"];
}

}  // namespace gnnplan::testing
