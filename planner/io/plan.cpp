#include "planner/io/plan.hpp"

#include "planner/io/fingerprint.hpp"
#include "planner/io/older_choice.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/plan_keys.hpp"
#include "planner/io/schedule_codec.hpp"
#include "planner/io/schema.hpp"

#include <gnnplan/ir/panel_relay.hpp>

#include <algorithm>

namespace gnnplan::io {
namespace {

// The part of a plan before the candidates.
template <class Archive>
void describe_head(Archive& archive, Subject<Archive, Plan>& plan) {
    archive.field("tool_version", plan.tool_version);
    archive.field("command_line", plan.command_line);
    archive.field("problem", plan.problem);
    archive.field("machine", plan.machine);
}

void encode_candidate(Document& object, const Candidate& candidate, const Plan& plan) {
    const Machine& machine = plan.machine;
    const Loading loading = loading_for(candidate.schedule.numbering, plan.problem.loading);
    ensure(candidate.schedule.loading == loading, "schedule and problem differ in how the graph is loaded");
    ensure(candidate.schedule.grid == candidate.configuration.grid_of_ranks(),
           "schedule and configuration differ in their grid");
    ensure(candidate.schedule.blocking == machine.blocking, "schedule and machine differ in their blocking");
    const bool relays = std::any_of(candidate.schedule.steps.begin(), candidate.schedule.steps.end(),
                                    [](const Step& step) { return by_nodes(step.operation); });
    ensure(!relays || candidate.schedule.ranks_per_node == machine.ranks_per_node,
           "schedule and machine differ in the ranks of a node");
    object.set("configuration", encode(candidate.configuration));
    object.set("schedule", encode_schedule(candidate.schedule));
    object.set("predicted", encode(candidate.predicted));
}

Candidate decode_candidate(Reader& reader, const Plan& plan, bool older) {
    Candidate candidate;
    reader.field("configuration", candidate.configuration);
    const Cursor schedule = reader.member("schedule");
    candidate.schedule = decode_schedule(schedule, candidate.configuration.grid_of_ranks(), plan.machine, older);
    candidate.schedule.loading = loading_for(candidate.schedule.numbering, plan.problem.loading);
    reader.field("predicted", candidate.predicted);
    return candidate;
}

std::vector<Candidate> decode_candidates(const Cursor& cursor, const Plan& plan, bool older) {
    std::vector<Candidate> candidates;
    for (const Cursor& element : cursor.elements(max_candidates)) {
        Reader reader(element);
        candidates.push_back(decode_candidate(reader, plan, older));
        reader.finish();
    }
    if (candidates.empty()) cursor.fail("a plan has at least one candidate");
    return candidates;
}

// Those of plans whose choices are sentences.
std::vector<Alternative> decode_older_alternatives(const Cursor& cursor) {
    std::vector<Alternative> alternatives;
    for (const Cursor& element : cursor.elements(max_array)) {
        Reader reader(element);
        Alternative& alternative = alternatives.emplace_back();
        alternative.choice = choice_of(reader.member("choice").string());
        describe_costed(reader, alternative);
        reader.finish();
    }
    return alternatives;
}

// The chosen candidate stands first in "candidates" and again at the top level.
void check_chosen(const Cursor& root) {
    const Cursor first = root.member("candidates").elements(max_candidates).front();
    for (const char* key : {"configuration", "schedule", "predicted"}) {
        if (canonical(root.member(key).document()) != canonical(first.member(key).document())) {
            root.member(key).fail("differs from candidates[0]." + std::string(key));
        }
    }
}

void check_fingerprints(const Plan& plan, const Cursor& root) {
    const Cursor fingerprints = root.member("fingerprints");
    if (plan.fingerprints.content != content_fingerprint(root.document())) {
        fingerprints.member("content").fail("the content does not match its fingerprint",
                                            "the file was altered; make the plan again with `plan/`");
    }
    if (plan.fingerprints.machine != machine_fingerprint(plan.machine)) {
        fingerprints.member("machine").fail("not the fingerprint of this plan's machine");
    }
}

template <class Archive>
void describe_data(Archive& archive, Subject<Archive, Fingerprints>& fingerprints) {
    archive.optional("features", fingerprints.features);
    archive.optional("labels", fingerprints.labels);
    archive.optional("split", fingerprints.split);
    archive.optional("listing", fingerprints.listing);
    archive.optional("feature_listing", fingerprints.feature_listing);
}

void check_meaning(const Plan& plan, const std::string& where) {
    try {
        validate(plan);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::internal) throw;
        throw Error(ErrorCode::data, error.what(), where);
    }
}

}  // namespace

std::string write_plan(const Plan& plan) {
    ensure(!plan.candidates.empty(), "a plan without candidates");
    Writer writer;
    writer.field("schema", plan_schema);
    describe_head(writer, plan);
    Document root = writer.take();
    encode_candidate(root, plan.candidates.front(), plan);
    Document candidates = Document::array();
    for (const Candidate& candidate : plan.candidates) {
        Document object = Document::object();
        encode_candidate(object, candidate, plan);
        candidates.push(std::move(object));
    }
    root.set("candidates", std::move(candidates));
    if (!plan.alternatives.empty()) root.set("alternatives", encode(plan.alternatives));
    Writer fingerprints;
    fingerprints.field("graph", plan.fingerprints.graph);
    describe_data(fingerprints, plan.fingerprints);
    fingerprints.field("machine", machine_fingerprint(plan.machine));
    root.set("fingerprints", fingerprints.take());
    root.find("fingerprints")->set("content", content_fingerprint(root));
    return dump(root, 1) + "\n";
}

Plan read_plan(std::string_view text, const std::string& where) {
    const Document document = parse(text, where);
    const Cursor root(document, where);
    expect_schema(root, plan_schema, older_plan_schemas);
    const std::string& version = root.member("schema").string();
    const bool has_spaces = version == plan_schema || version == "gnnplan.plan/3";
    Reader reader(root);
    reader.member("schema");
    Plan plan;
    describe_head(reader, plan);
    decode_candidate(reader, plan, !has_spaces);
    plan.candidates = decode_candidates(reader.member("candidates"), plan, !has_spaces);
    if (version == plan_schema) {
        reader.optional("alternatives", plan.alternatives);
    } else if (document.find("alternatives") != nullptr) {
        plan.alternatives = decode_older_alternatives(reader.member("alternatives"));
    }
    reader.group("fingerprints", [&](auto& inner) {
        inner.field("graph", plan.fingerprints.graph);
        describe_data(inner, plan.fingerprints);
        inner.field("machine", plan.fingerprints.machine);
        inner.field("content", plan.fingerprints.content);
    });
    reader.finish();
    check_chosen(root);
    check_fingerprints(plan, root);
    check_meaning(plan, where);
    return plan;
}

}  // namespace gnnplan::io
