#include "runtime/exec/handlers.hpp"

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
    struct Buffers {
        float* sent;
        float* received;
    };
    // In the memory of what is in flight, or staged.
    Buffers buffers(std::int64_t sent) const {
        float* first = nullptr;
        if (!later_) {
            first = reinterpret_cast<float*>(context_.store.staging(context_.step));
            const std::int64_t staged = context_.store.send_staging_bytes(context_.step);
            return {first, first + staged / static_cast<std::int64_t>(sizeof(float))};
        }
        first = context_.store.data<float>(*step_.in_flight) + bin_.in_flight * rows_.columns;
        return {first, first + sent * rows_.columns};
    }

    kernels::Matrix packed(float* data, std::int64_t rows) const { return {data, rows, rows_.columns, rows_.columns}; }

    // Sends `sent` rows, of a list's range, which lie packed, and gets rows likewise: now or later.
    void exchange(const Buffers& buffers, const std::vector<CloneRange>& to, Range sent,
                  const std::vector<CloneRange>& from, Range received) const {
        const auto bytes = [&](float* data, Range rows, Range of) {
            return std::span(reinterpret_cast<std::byte*>(data + (rows.begin - of.begin) * rows_.columns),
                             static_cast<std::size_t>(rows.size() * rows_.columns) * sizeof(float));
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
        pack(clones_.of_others(), bin_.of_others, at.sent);
        if (later_) take_loops_off(at.sent);
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

    void pack(const CloneList& list, Range of, float* to) const {
        context_.kernels.gather_rows(rows_, list.rows(of), packed(to, of.size()));
    }

    // Every clone has the self loop, and the owner's is the one that counts.
    void take_loops_off(float* sent) const {
        const Range of = bin_.of_others;
        const kernels::Matrix own = context_.store.matrix(*step_.own);
        const kernels::Matrix loops =
            packed(reinterpret_cast<float*>(context_.store.staging(context_.step)), of.size());
        context_.kernels.gather_rows(own, clones_.of_others().rows(of), loops);
        context_.kernels.scale_rows(nullptr, clones_.of_others().loop(of), of.size(), loops);
        context_.kernels.add(loops, packed(sent, of.size()));
    }

    // Group after group, whatever came first.
    void receive_sums(const Buffers& at) const {
        if (later_) context_.background->finish(context_.step);
        for (const CloneRange& peer : bin_.others) {
            float* const from = at.received + (peer.rows.begin - bin_.elsewhere.begin) * rows_.columns;
            context_.kernels.add_rows(packed(from, peer.rows.size()), clones_.elsewhere().rows(peer.rows), 0, rows_);
        }
    }
    void receive_whole_sums(const Buffers& at) const {
        if (later_) context_.background->finish(context_.step);
        const Range of = bin_.of_others;
        const std::int32_t* const index = clones_.of_others().rows(of);
        context_.kernels.scale_rows(index, nullptr, of.size(), rows_);
        context_.kernels.add_rows(packed(at.received, of.size()), index, 0, rows_);
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
