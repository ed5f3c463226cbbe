// Redistributes a matrix between rows (H) and columns (V) of all ranks in three ways, alternately:
//   mpirun -n P --bind-to core bench_redistribution [--rows N] [--columns F] [--repeats R]
//   all-to-all   pack for all ranks, one MPI_Alltoallv, unpack
//   exchange     the own part straight, the others packed, one exchange(), unpacked; what has no gaps is not packed
//   blocks       exchange_blocks()
// One thread for each rank. Every way's result is checked. Prints medians of the slowest rank's times.
#include "kernels/large_buffer.hpp"
#include "kernels/table.hpp"
#include "runtime/comm/mpi.hpp"
#include "runtime/comm/mpi_comm.hpp"
#include "runtime/comm/packed_exchange.hpp"
#include "runtime/measure/clock.hpp"

#include <gnnplan/base/range.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gnnplan::bench {
namespace {

struct Options {
    std::int64_t rows = 170'000;
    std::int64_t columns = 128;
    int repeats = 15;
};

struct Block {
    Range rows, columns;
    std::int64_t count() const { return rows.size() * columns.size(); }
};

Block intersect(const Block& a, const Block& b) {
    return {gnnplan::intersect(a.rows, b.rows), gnnplan::intersect(a.columns, b.columns)};
}

// Floats on huge pages, as tensors and staging are, touched so that no page comes up in what is timed.
class Floats {
public:
    explicit Floats(std::int64_t count) : count_(static_cast<std::size_t>(count)), buffer_(count_ * sizeof(float)) {
        std::ranges::fill(all(), -1.0F);
    }
    std::span<float> all() const { return {reinterpret_cast<float*>(buffer_.data()), count_}; }

private:
    std::size_t count_;
    kernels::LargeBuffer buffer_;
};

float element(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 131 + j * 7) % 8191); }

// A block of the matrix, row-major.
class Local {
public:
    explicit Local(const Block& block) : block_(block), floats_(block.count()) {}

    const Block& block() const { return block_; }
    std::span<float> all() const { return floats_.all(); }
    kernels::Matrix part(const Block& part) const {
        const std::int64_t stride = block_.columns.size();
        const std::int64_t first =
            (part.rows.begin - block_.rows.begin) * stride + part.columns.begin - block_.columns.begin;
        return {all().data() + first, part.rows.size(), part.columns.size(), stride};
    }
    // Calls visit(value, what it should be) for each element.
    template <class Visit>
    void each(Visit visit) const {
        const kernels::Matrix matrix = part(block_);
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (std::int64_t j = 0; j < matrix.columns; ++j)
                visit(matrix.row(i)[j], element(block_.rows.begin + i, block_.columns.begin + j));
    }

private:
    Block block_;
    Floats floats_;
};

template <class Byte>
comm::Rows<Byte> rows_of(const kernels::Matrix& matrix) {
    const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
    return {reinterpret_cast<Byte*>(matrix.data), static_cast<std::size_t>(matrix.rows), bytes(matrix.columns),
            bytes(matrix.stride)};
}

// One direction on one rank.
class Redistribution {
public:
    Redistribution(comm::Communicator& comm, const std::function<Block(int)>& from, const std::function<Block(int)>& to)
        : comm_(comm),
          source_(from(comm.rank())),
          target_(to(comm.rank())),
          send_staging_(source_.block().count()),
          receive_staging_(target_.block().count()) {
        source_.each([](float& value, float expected) { value = expected; });
        for (int peer = 0; peer < comm.size(); ++peer) {
            sent_.push_back(intersect(source_.block(), to(peer)));
            received_.push_back(intersect(target_.block(), from(peer)));
        }
        make_blocks();
    }

    void all_to_all();
    void exchange() {
        comm::PackedExchange packed(comm_, others(sends_), others(receives_));
        const auto me = static_cast<std::size_t>(comm_.rank());
        copy(source_.part(sent_[me]), target_.part(sent_[me]));
        packed.wait();
    }
    void blocks() { comm_.exchange_blocks(sends_, receives_); }

    void check() {
        target_.each([](float& value, float expected) {
            ensure(value == expected, "wrong result");
            value = -1;
        });
    }

private:
    static void copy(const kernels::Matrix& from, const kernels::Matrix& to) { kernels::cpu_table().copy(from, to); }
    // A part packed at the `offset`th float of a staging.
    static kernels::Matrix packed(const Floats& staging, std::int64_t offset, const Block& part) {
        return {staging.all().data() + offset, part.rows.size(), part.columns.size(), part.columns.size()};
    }
    template <class Blocks>
    Blocks others(Blocks blocks) const {
        std::erase_if(blocks, [&](const auto& block) { return block.peer == comm_.rank(); });
        return blocks;
    }
    void make_blocks();

    comm::Communicator& comm_;
    Local source_;
    Local target_;
    Floats send_staging_;
    Floats receive_staging_;
    std::vector<Block> sent_;      // by peer
    std::vector<Block> received_;  // by peer
    std::vector<comm::SendBlock> sends_;
    std::vector<comm::ReceiveBlock> receives_;
};

void Redistribution::make_blocks() {
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int peer = 0; peer < comm_.size(); ++peer) {
        const Block& out = sent_[static_cast<std::size_t>(peer)];
        const Block& in = received_[static_cast<std::size_t>(peer)];
        const auto out_count = static_cast<std::size_t>(out.count());
        const auto in_count = static_cast<std::size_t>(in.count());
        sends_.push_back({peer, rows_of<const std::byte>(source_.part(out)),
                          std::as_writable_bytes(send_staging_.all().subspan(sent, out_count))});
        receives_.push_back({peer, rows_of<std::byte>(target_.part(in)),
                             std::as_writable_bytes(receive_staging_.all().subspan(received, in_count))});
        sent += out_count;
        received += in_count;
    }
}

void Redistribution::all_to_all() {
    const bool pack = !sends_[0].rows.contiguous();
    const bool unpack = !receives_[0].rows.contiguous();
    std::vector<int> send_counts;
    std::vector<int> send_starts{0};
    std::vector<int> receive_counts;
    std::vector<int> receive_starts{0};
    for (std::size_t peer = 0; peer < sent_.size(); ++peer) {
        if (pack) copy(source_.part(sent_[peer]), packed(send_staging_, send_starts[peer], sent_[peer]));
        send_counts.push_back(checked_cast<int>(sent_[peer].count()));
        receive_counts.push_back(checked_cast<int>(received_[peer].count()));
        send_starts.push_back(send_starts[peer] + send_counts[peer]);
        receive_starts.push_back(receive_starts[peer] + receive_counts[peer]);
    }
    comm::check_mpi(
        MPI_Alltoallv((pack ? send_staging_.all() : source_.all()).data(), send_counts.data(), send_starts.data(),
                      MPI_FLOAT, (unpack ? receive_staging_.all() : target_.all()).data(), receive_counts.data(),
                      receive_starts.data(), MPI_FLOAT, MPI_COMM_WORLD),
        "MPI_Alltoallv");
    for (std::size_t peer = 0; unpack && peer < received_.size(); ++peer)
        copy(packed(receive_staging_, receive_starts[peer], received_[peer]), target_.part(received_[peer]));
}

void run(comm::Communicator& comm, const std::string& name, const Options& options,
         const std::function<Block(int)>& from, const std::function<Block(int)>& to) {
    Redistribution redistribution(comm, from, to);
    const std::vector<std::pair<std::string, void (Redistribution::*)()>> ways{
        {"all-to-all", &Redistribution::all_to_all},
        {"exchange", &Redistribution::exchange},
        {"blocks", &Redistribution::blocks}};
    std::vector<std::vector<double>> seconds(ways.size());
    measure::SteadyClock clock;
    for (int repeat = -1; repeat < options.repeats; ++repeat)
        for (std::size_t way = 0; way < ways.size(); ++way) {
            comm.barrier();
            const double start = clock.now();
            (redistribution.*ways[way].second)();
            const double slowest = comm::control_max(comm, clock.now() - start);
            if (repeat < 0)
                redistribution.check();
            else
                seconds[way].push_back(slowest);
        }
    if (comm.rank() != 0) return;
    const double reference = measure::median(seconds[0]);
    for (std::size_t way = 0; way < ways.size(); ++way) {
        const double median = measure::median(seconds[way]);
        fmt::print("{:<10} {:<12} {:>9.3f} ms  (min {:.3f})  {:>5.2f} x\n", name, ways[way].first, median * 1e3,
                   *std::ranges::min_element(seconds[way]) * 1e3, reference / median);
    }
}

void run_all(comm::Communicator& comm, const Options& options) {
    const Range rows{0, options.rows};
    const Range columns{0, options.columns};
    const auto horizontal = [&](int rank) { return Block{balanced_block(rows, rank, comm.size()), columns}; };
    const auto vertical = [&](int rank) { return Block{rows, balanced_block(columns, rank, comm.size())}; };
    run(comm, "H to V", options, horizontal, vertical);
    run(comm, "V to H", options, vertical, horizontal);
}

}  // namespace
}  // namespace gnnplan::bench

int main(int argc, char** argv) {
    using namespace gnnplan;
    bench::Options options;
    CLI::App app("Times ways to redistribute a matrix between MPI ranks");
    app.add_option("--rows", options.rows, "rows of the matrix")->check(CLI::PositiveNumber);
    app.add_option("--columns", options.columns, "columns of the matrix")->check(CLI::PositiveNumber);
    app.add_option("--repeats", options.repeats, "timed runs of each way")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    comm::MpiEnvironment mpi;
    return mpi.run_or_abort([&] {
        kernels::set_threads(1);
        bench::run_all(mpi.world(), options);
        return EXIT_SUCCESS;
    });
}
