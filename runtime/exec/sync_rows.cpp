#include "runtime/exec/handlers.hpp"
#include "runtime/exec/packed_rows.hpp"

#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>

namespace gnnplan::exec {
namespace {

class SyncRows {
public:
    SyncRows(const SyncRowsStep& step, const StepContext& context)
        : step_(step),
          context_(context),
          clones_(*context.store.clone_rows()),
          later_(shares_later(context.store.schedule())),
          turn_(turn_of(context.store.schedule().numbering, context.turn)),
          bin_(clones_.bins()[static_cast<std::size_t>(turn_.bin)]),
          rows_(context.store.matrix(step.rows)) {}

    void run() const {
        if (step_.part == SyncPart::to_owners) add_to_owners();
        if (step_.part == SyncPart::to_clones) put_in_clones();
        if (later_ && step_.part != SyncPart::to_owners) scale_all_others();
    }

private:
    // In which rows lie packed, as they travel.
    struct Buffers {
        std::byte* sent;
        std::byte* received;
    };
    // In the memory of what is in flight, or staged.
    Buffers buffers(std::int64_t sent) const {
        std::byte* const staging = context_.store.staging(context_.step);
        if (!later_) return {staging, staging + context_.store.send_staging_bytes(context_.step)};
        std::byte* const first = context_.store.bytes(*step_.in_flight) + bytes_of_rows(bin_.in_flight);
        return {first, first + bytes_of_rows(sent)};
    }

    bool rounds() const { return step_.wire == Wire::bfloat16; }
    std::int64_t bytes_of_rows(std::int64_t rows) const { return wire_bytes(step_.wire, rows * rows_.columns); }
    template <class T>
    kernels::Dense<T> packed(std::byte* begin, std::int64_t rows) const {
        return packed_rows<T>(begin, rows, rows_.columns);
    }

    // Sends `sent` rows, of a list's range, which lie packed, and gets rows likewise: now or later.
    void exchange(const Buffers& buffers, const std::vector<CloneRange>& to, Range sent,
                  const std::vector<CloneRange>& from, Range received) const {
        const auto bytes = [&](std::byte* begin, Range rows, Range of) {
            return std::span(begin + bytes_of_rows(rows.begin - of.begin),
                             static_cast<std::size_t>(bytes_of_rows(rows.size())));
        };
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        sends.reserve(to.size()), receives.reserve(from.size());
        for (const CloneRange& peer : to) sends.push_back({peer.rank, bytes(buffers.sent, peer.rows, sent)});
        for (const CloneRange& peer : from)
            receives.push_back({peer.rank, bytes(buffers.received, peer.rows, received)});
        later_ ? context_.background->start(context_.step, sends, receives) : context_.world.exchange(sends, receives);
    }

    void add_to_owners() const {
        const Buffers at = buffers(bin_.sent_to_owners());
        if (later_ && turn_.owners_know) receive_sums(at);
        later_ ? pack_without_loops(at.sent) : pack(clones_.of_others(), bin_.of_others, at.sent);
        exchange(at, bin_.owners, bin_.of_others, bin_.others, bin_.elsewhere);
        if (!later_) receive_sums(at);
    }

    void put_in_clones() const {
        const Buffers at = buffers(bin_.sent_to_clones());
        if (later_ && turn_.clones_know) receive_whole_sums(at);
        if (!turn_.owners_know) return;
        pack(clones_.elsewhere(), bin_.elsewhere, at.sent);
        exchange(at, bin_.others, bin_.elsewhere, bin_.owners, bin_.of_others);
        if (!later_) receive_whole_sums(at);
    }

    void pack(const CloneList& list, Range of, std::byte* to) const {
        if (rounds())
            context_.kernels.gather_rows_narrow(rows_, list.rows(of), packed<kernels::Bf16>(to, of.size()));
        else
            context_.kernels.gather_rows(rows_, list.rows(of), packed<float>(to, of.size()));
    }

    // Every clone has the self loop, and the owner's is the one that counts. What is rounded is what is left without.
    void pack_without_loops(std::byte* to) const {
        const Range of = bin_.of_others;
        std::byte* const staging = context_.store.staging(context_.step);
        std::byte* const behind = staging + bytes_of(DType::f32, of.size() * rows_.columns);
        const kernels::Matrix loops = packed<float>(staging, of.size());
        const kernels::Matrix sums = packed<float>(rounds() ? behind : to, of.size());
        const kernels::Matrix own = context_.store.matrix(*step_.own);
        context_.kernels.gather_rows(rows_, clones_.of_others().rows(of), sums);
        context_.kernels.gather_rows(own, clones_.of_others().rows(of), loops);
        context_.kernels.scale_rows(nullptr, clones_.of_others().loop(of), of.size(), loops);
        context_.kernels.add(loops, sums);
        if (rounds()) context_.kernels.narrow(sums, packed<kernels::Bf16>(to, of.size()));
    }

    // Adds rows that have come to some of a list.
    void add(std::byte* received, const CloneList& list, Range of) const {
        if (rounds())
            context_.kernels.add_rows_widened(packed<const kernels::Bf16>(received, of.size()), list.rows(of), 0,
                                              rows_);
        else
            context_.kernels.add_rows(packed<const float>(received, of.size()), list.rows(of), 0, rows_);
    }

    // Group after group, whatever came first.
    void receive_sums(const Buffers& at) const {
        if (later_) context_.background->finish(context_.step);
        for (const CloneRange& peer : bin_.others)
            add(at.received + bytes_of_rows(peer.rows.begin - bin_.elsewhere.begin), clones_.elsewhere(), peer.rows);
    }
    void receive_whole_sums(const Buffers& at) const {
        if (later_) context_.background->finish(context_.step);
        const Range of = bin_.of_others;
        context_.kernels.scale_rows(clones_.of_others().rows(of), nullptr, of.size(), rows_);
        add(at.received, clones_.of_others(), of);
    }

    // Clones of other bins, and those of this one whose sum is of their group's edges alone.
    void scale_all_others() const {
        const auto scale = [&](const CloneList& list, Range of) {
            context_.kernels.scale_rows(list.rows(of), list.alone(of), of.size(), rows_);
        };
        for (const CloneRows::Bin& bin : clones_.bins()) {
            if (&bin != &bin_ || !turn_.clones_know) scale(clones_.of_others(), bin.of_others);
            if (&bin != &bin_ || !turn_.owners_know) scale(clones_.owned(), bin.owned);
        }
    }

    const SyncRowsStep& step_;
    const StepContext& context_;
    const CloneRows& clones_;
    bool later_;
    CloneTurn turn_;
    const CloneRows::Bin& bin_;
    kernels::Matrix rows_;
};

}  // namespace

void run_step(const SyncRowsStep& step, const StepContext& context) { SyncRows(step, context).run(); }

}  // namespace gnnplan::exec
