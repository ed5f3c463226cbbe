#include "planner/io/profile.hpp"

#include "planner/io/machine.hpp"
#include "planner/io/machine_keys.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/schema.hpp"

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, ProfileFingerprint>& fingerprint) {
    archive.field("cpu", fingerprint.cpu);
    archive.positive("cores", fingerprint.cores);
    archive.positive("ranks", fingerprint.ranks);
    archive.positive("threads", fingerprint.threads);
    archive.field("mpi", fingerprint.mpi);
    archive.field("kernels", fingerprint.kernels);
    archive.field("compiler", fingerprint.compiler);
    archive.field("date", fingerprint.date);
    archive.optional("device", fingerprint.device);
    archive.optional("device_exchange", fingerprint.device_exchange);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Sample>& sample) {
    archive.field("what", sample.what);
    archive.field("at", sample.at);
    archive.field("seconds", sample.seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, EpochStep>& step) {
    archive.field("part", step.part);
    archive.field("graph", step.graph);
    archive.field("run", step.run);
    archive.field("predicted", step.predicted);
    archive.field("measured", step.measured);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, Profile>& profile) {
    describe(archive, profile.machine);
    archive.optional("fingerprint", profile.fingerprint);
    archive.optional("samples", profile.samples);
    archive.optional("epoch_steps", profile.epoch_steps);
}

std::string write_profile(const Profile& profile) {
    Writer writer;
    writer.field("schema", machine_schema);
    describe(writer, profile);
    return dump(writer.take(), 1) + "\n";
}

Profile read_profile(std::string_view text, const std::string& where) {
    const Document document = parse(text, where);
    const Cursor root(document, where);
    expect_schema(root, machine_schema);
    Reader reader(root);
    reader.member("schema");
    Profile profile;
    describe(reader, profile);
    reader.finish();
    try {
        validate(profile.machine);
    } catch (const Error& error) {
        root.fail(error.what());
    }
    return profile;
}

}  // namespace gnnplan::io
