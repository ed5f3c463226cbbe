#include "planner/io/files.hpp"

#include "tests/planner/io/expect_error.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>

namespace gnnplan::io {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

class Files : public testing::Test {
protected:
    Files() {
        std::string pattern = (fs::temp_directory_path() / "gnnplan-files-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~Files() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

private:
    fs::path folder_;
};

TEST_F(Files, WritesAndReadsBack) {
    std::string bytes("a\0b\n\xff", 5);
    bytes.append(200000, 'x');
    write_file_atomically(path("f"), bytes);
    EXPECT_EQ(read_file(path("f")), bytes);
    write_file_atomically(path("f"), "");
    EXPECT_EQ(read_file(path("f")), "");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, FollowsLinks) {
    write_file_atomically(path("target"), "old");
    fs::create_symlink("target", path("link"));
    write_file_atomically(path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(Files, KeepsDevices) {
    write_file_atomically("/dev/null", "text");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    expect_error([] { write_file_atomically("/dev/full", "text"); }, ErrorCode::io, "/dev/full: cannot write");
}

TEST_F(Files, MinusIsAName) {
    const fs::path before = fs::current_path();
    fs::current_path(path(""));
    write_file_atomically("-", "text");
    EXPECT_EQ(read_file("-"), "text");
    fs::current_path(before);
    EXPECT_TRUE(fs::exists(path("-")));
}

TEST_F(Files, MissingInput) {
    expect_error([&] { read_file(path("none")); }, ErrorCode::missing_input, "none: cannot open: No such file");
    expect_error([&] { read_file(path("")); }, ErrorCode::missing_input, "is a directory");
}

TEST_F(Files, LargerThanTheLimitIsRefused) {
    write_file_atomically(path("f"), "");
    fs::resize_file(path("f"), (std::uintmax_t{1} << 30U) + 1);  // a hole, takes no space
    expect_error([&] { read_file(path("f")); }, ErrorCode::data, "larger than 1 GiB");
}

TEST_F(Files, CannotCreateLeavesNothing) {
    expect_error([&] { write_file_atomically(path("no/such/f"), "x"); }, ErrorCode::cannot_create, "No such file");
    write_file_atomically(path("f"), "kept");
    expect_error([&] { write_file_atomically(path("f/g"), "x"); }, ErrorCode::cannot_create, "cannot create");
    fs::create_directory(path("folder"));
    expect_error([&] { write_file_atomically(path("folder"), "x"); }, ErrorCode::cannot_create, "is a directory");
    EXPECT_EQ(entries(), 2U);
    EXPECT_TRUE(fs::is_empty(path("folder")));
    EXPECT_EQ(read_file(path("f")), "kept");
}

TEST_F(Files, UnwritableFolder) {
    expect_error([] { write_file_atomically("/proc/gnnplan.json", "x"); }, ErrorCode::cannot_create,
                 "/proc/gnnplan.json");
}

// A full disk, played by a limit on the size of files.
TEST_F(Files, WriteFailureLeavesTheOldFile) {
    write_file_atomically(path("f"), "kept");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_error([&] { write_file_atomically(path("f"), std::string(10000, 'x')); }, ErrorCode::io, "cannot write");
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(read_file(path("f")), "kept");
    EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace gnnplan::io
