#include "planner/io/files.hpp"

#include "planner/io/draft.hpp"
#include "tests/planner/io/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

namespace gnnplan::io {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

class Files : public testing::Test {
protected:
    std::string path(const std::string& name) const { return folder_ / name; }
    // Runs the work in another process until that is killed; nobody waits for it, so that it stays a zombie.
    static pid_t start(const std::function<void()>& work) {
        const pid_t child = ::fork();
        if (child == 0) {
            work();
            ::_exit(0);
        }
        return child;
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
    }

private:
    test::TemporaryFolder folder_;
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

TEST_F(Files, FollowsLinksToWhatIsNotThere) {
    fs::create_symlink("middle", path("link"));
    fs::create_symlink(path("target"), path("middle"));
    write_file_atomically(path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(read_file(path("target")), "new");
    fs::create_symlink("round", path("round"));
    expect_error([&] { write_file_atomically(path("round"), "x"); }, ErrorCode::cannot_create, "too many links");
    fs::create_symlink("none/target", path("nowhere"));
    expect_error([&] { write_file_atomically(path("nowhere"), "x"); }, ErrorCode::cannot_create, "No such file");
}

// A draft that nobody locks was left by a killed process; the next writer of the file removes it, and nothing else.
TEST_F(Files, TheNextWriterRemovesLeftovers) {
    for (const char* name : {"f.tmp-12-0", "f.tmp-2147483646-3", "f.tmp-77-1", "f.tmp-77", "f.tmp-x-1", "g.tmp-12-0"})
        write_file_atomically(path(name), "left");
    fs::create_symlink("g.tmp-12-0", path("f.tmp-13-0"));
    const int written = ::open(path("f.tmp-77-1").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(written, LOCK_EX | LOCK_NB), 0);
    write_file_atomically(path("f"), "new");
    EXPECT_FALSE(fs::exists(path("f.tmp-12-0")));
    EXPECT_FALSE(fs::exists(path("f.tmp-2147483646-3")));
    for (const char* name : {"f", "f.tmp-77-1", "f.tmp-77", "f.tmp-x-1", "g.tmp-12-0", "f.tmp-13-0"})
        EXPECT_TRUE(fs::exists(path(name))) << name;
    ::close(written);
    check_can_create(path("f"));
    EXPECT_FALSE(fs::exists(path("f.tmp-77-1")));
}

// A draft that several processes write to has a name; its process may be dead while nobody has waited for it yet.
TEST_F(Files, ASharedDraftOfADeadProcessIsALeftover) {
    const pid_t child = start([&] {
        const Draft draft({path("f")}, Draft::Use::shared);
        ::raise(SIGKILL);
    });
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(entries(), 1U);
    EXPECT_EQ(::kill(child, 0), 0) << "it can be asked for";
    write_file_atomically(path("f"), "new");
    EXPECT_EQ(entries(), 1U);
    EXPECT_EQ(read_file(path("f")), "new");
    ::waitpid(child, nullptr, 0);
}

// Whenever a writer is killed, the file is one of those that were written, and the next writer removes its leftovers.
TEST_F(Files, KilledWritersLeaveAWholeFile) {
    const std::string a(30000, 'a'), b(40000, 'b');
    std::size_t left = 0;
    write_file_atomically(path("f"), a);
    for (int kill = 0; kill < 200; ++kill) {
        const pid_t child = start([&] {
            for (;;) {
                write_file_atomically(path("f"), a);
                write_file_atomically(path("f"), b);
            }
        });
        ::usleep(static_cast<useconds_t>(500 + 37 * kill));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::string found = read_file(path("f"));
        ASSERT_TRUE(found == a || found == b) << found.size();
        left += entries() - 1;
        write_file_atomically(path("f"), a);
        ASSERT_EQ(entries(), 1U);
    }
    RecordProperty("left", static_cast<int>(left));
}

TEST_F(Files, ManyWritersAtATime) {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) {
        writers.emplace_back([&, i] {
            for (int round = 0; round < 50; ++round) {
                write_file_atomically(path("f"), std::string(5000, static_cast<char>('a' + i)));
                const Draft other({path("f")}, Draft::Use::shared);
                check_can_create(path("f"));
                EXPECT_TRUE(fs::exists(other.place()));
            }
        });
    }
    writers.clear();
    const std::string found = read_file(path("f"));
    EXPECT_EQ(found, std::string(5000, found.front()));
    EXPECT_EQ(entries(), 1U);
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
