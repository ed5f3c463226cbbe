// Schedules of every scheme on every grid of up to 12 ranks, for networks of 1 to 5 layers, with all switches in turns,
// as they were when tests/golden/schedules.txt was written: a line for each grid has a fingerprint of their JSON. A
// change that is meant to alter schedules writes the file again: GNNPLAN_WRITE_GOLDEN=1 golden_schedules_test.
#include "planner/enumerate/choices.hpp"
#include "planner/io/document.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/schedule_codec.hpp"
#include "tests/planner/lower/configurations.hpp"
#include "tests/planner/search/problems.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace gnnplan {
namespace {

constexpr std::int64_t vertices = 100;

lower::GraphShape shape_of(std::size_t turn, std::size_t layers) {
    lower::GraphShape shape{vertices, turn % 3 != 0, {}, 7};
    shape.symmetric_pattern = turn % 2 == 0;
    shape.nonzeros = 900;
    shape.panel_columns = turn % 5 == 0 ? 30 : 0;
    for (std::size_t l = 0; l <= layers; ++l)
        shape.loss_rows.push_back(vertices - static_cast<std::int64_t>(l * (turn % 4) * 4));
    return shape;
}

// Adds up the texts of schedules, and says how many there were.
class Digest {
public:
    // Without what version 2 of plans has added: where steps come from.
    void add(const Schedule& schedule) {
        io::Document document = io::encode_schedule(schedule);
        io::Document steps = io::Document::array();
        for (io::Document step : *document.find("steps")->get_if<io::Document::Array>()) {
            step.erase("origin");
            steps.push(std::move(step));
        }
        document.set("steps", std::move(steps));
        texts_ += io::canonical(document);
        ++count_;
    }
    std::string text() const { return std::to_string(count_) + " schedules " + io::fingerprint(texts_); }

private:
    std::string texts_;
    int count_ = 0;
};

search::ConfigurationFrame frame_of(const Distribution& on, std::size_t turn) {
    search::ConfigurationFrame frame = test::frame_on(on, turn / 4 % 2 == 1);
    if (on.grid.x > 1 && turn % 2 == 1) frame.switches.exchange = Exchange::rows;
    frame.switches.overlap = on.can_overlap() && turn / 2 % 2 == 1;
    frame.switches.bf16 = turn % 7 == 0;
    frame.switches.permutation = turn / 8 % 2 == 1;
    if (turn / 16 % 4 == 1 && on.grid.x > 1) frame.switches.parts = on.grid.x;
    frame.switches.factored_values = turn / 64 % 2 == 1;
    return frame;
}

std::size_t scrambled(std::size_t index) { return index * 2654435761U >> 7U; }

// One in so many of the choices on a grid that about 24 are left, each under switches of its turn.
Digest full_space_on(const Distribution& on, const search::Space& space, const SiteGraph& model) {
    const std::vector<search::Choices> all = search::all_choices(space, on, false);
    const auto depth = static_cast<std::size_t>(model.depth);
    Digest digest;
    const std::size_t every = all.size() / 24 + 1;
    for (std::size_t i = 0; i < all.size(); i += every) {
        const std::size_t turn = scrambled(i + all.size());
        search::Choices choices = all[i];
        while (choices.size() < depth) choices.insert(choices.begin() + 1, all[(i + turn) % all.size()].back());
        const Configuration configuration = search::configuration_of(frame_of(on, turn), choices);
        digest.add(lower::lower(model, configuration, shape_of(turn, depth)));
    }
    return digest;
}

void write_full_space(std::ostream& out) {
    const std::vector<std::vector<std::int64_t>> networks = {
        {13, 5}, {13, 7, 5}, {7, 13, 5}, {9, 14, 6, 5}, {16, 16, 8, 8, 4, 6}};
    const UniformStats graph(vertices, 900, true);
    for (const auto& widths : networks) {
        // Deeper networks have the choices of two layers, which the others repeat.
        const std::vector<std::int64_t> enumerated =
            widths.size() <= 4 ? widths : std::vector<std::int64_t>(widths.begin(), widths.begin() + 3);
        const SiteGraph model = sites_of(models::gcn(widths, widths.size() % 2 == 0));
        for (const int ranks : {1, 2, 3, 4, 6, 8, 12}) {
            const search::Space space =
                search::make_space(test::problem(enumerated, ranks, graph), test::machine(), {});
            for (const Distribution& on : space.grids) {
                out << model.depth << " layers from " << widths[0] << ", " << scheme_of(on) << " on " << on.grid.text()
                    << ": " << full_space_on(on, space, model).text() << "\n";
            }
        }
    }
}

void write_paper_space(std::ostream& out) {
    for (const std::vector<std::int64_t>& widths : {std::vector<std::int64_t>{13, 5}, {13, 7, 5}, {9, 14, 6, 5}}) {
        for (const int ranks : {1, 2, 4, 8}) {
            for (int replication = 1; replication <= ranks; replication *= 2) {
                Digest digest;
                for (const enumerate::OrderPair& orders : enumerate::all_orders(static_cast<int>(widths.size()) - 1))
                    digest.add(lower::lowered(orders, widths, ranks, replication, vertices, ranks % 4 == 0));
                out << "paper, " << widths.size() - 1 << " layers, " << ranks << " ranks, R_A " << replication << ": "
                    << digest.text() << "\n";
            }
        }
    }
}

std::string golden_path() { return std::string(GNNPLAN_GOLDEN_DIR) + "/schedules.txt"; }

TEST(GoldenSchedules, AreWhatTheyWere) {
    std::ostringstream now;
    write_full_space(now);
    write_paper_space(now);
    if (std::getenv("GNNPLAN_WRITE_GOLDEN") != nullptr) {
        std::ofstream(golden_path()) << now.str();
        return;
    }
    std::ifstream golden(golden_path());
    std::istringstream lines(now.str());
    std::string want, have;
    while (std::getline(golden, want)) {
        ASSERT_TRUE(std::getline(lines, have)) << want;
        EXPECT_EQ(have, want);
    }
    EXPECT_FALSE(std::getline(lines, have)) << have;
}

// The fingerprints notice the smallest change of a schedule.
TEST(GoldenSchedules, NoticeASwitchOfOneStep) {
    Schedule schedule = lower::lowered({parse_orders("SD"), parse_orders("DS")}, {13, 7, 5}, 4, 2);
    Digest before, after;
    before.add(schedule);
    for (Step& step : schedule.steps) {
        if (auto* map = std::get_if<MapStep>(&step.operation)) map->dropout = !map->dropout;
    }
    after.add(schedule);
    EXPECT_NE(before.text(), after.text());
}

}  // namespace
}  // namespace gnnplan
