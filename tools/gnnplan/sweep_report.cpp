#include "tools/gnnplan/sweep_report.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/sweep/sweep_certainty.hpp"
#include "tools/advise/sweep/sweep_contest.hpp"
#include "tools/advise/sweep/sweep_dropout.hpp"
#include "tools/advise/sweep/sweep_printed.hpp"
#include "tools/advise/switch_words.hpp"
#include "tools/gnnplan/plot.hpp"
#include "tools/gnnplan/sweep_output.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gnnplan::tools {
namespace {

// Details of the fastest point that have no room in its row of a table, where all points answer one problem.
std::string fastest_text(const Sweep& sweep) {
    const std::vector<Race> races = races_of(sweep);
    const std::optional<std::size_t> axis = race_axis(sweep.variations);
    if (races.size() != 1 || (axis && sweep.variations[*axis].name != "ranks")) return "";
    const SweepPoint* fastest = races.front().fastest();
    if (fastest == nullptr) return "";
    const std::string where = axis ? place_text(sweep.variations[*axis], fastest->at[*axis]) + ": " : "";
    return where + configuration_text(fastest->best->configuration);
}

// Says which rows have other results than full-batch training; "" where none has.
std::string inexact_text(const Sweep& sweep) {
    std::set<std::string> ways;
    for (const SweepPoint& point : sweep.points) {
        if (point.best && !other_results(point.best->configuration).empty())
            ways.insert(inexact_way(point.best->configuration));
    }
    if (ways.empty()) return "";
    return labelled("inexact", fmt::format("rows with {} have other results than full-batch training (docs/cuts.md "
                                           "says by how much)",
                                           fmt::join(ways, ", ")));
}

// The remarks below the tables.
std::vector<std::string> remarks_of(const SweepReport& report, std::size_t width) {
    std::vector<std::string> remarks;
    const std::string marks = marks_text(report.shown.sweep, width);
    if (!marks.empty()) remarks.push_back(marks);
    for (const std::string& note : report.shown.notes) remarks.push_back(note);
    const std::string printed = printed_sentence(report.shown.sweep);
    if (!printed.empty()) remarks.push_back(printed);
    return remarks;
}

std::string paragraph(const std::string& text) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    return wrapped(std::string(blanks, ' '), std::string(blanks + 2, ' '), text.substr(blanks));
}

std::string html_paragraphs(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += "<p>" + xml_escaped(line) + "</p>\n";
    return out;
}

}  // namespace

std::string report_text(const SweepReport& report, bool color) {
    const Sweep& sweep = report.shown.sweep;
    std::string out = inexact_text(sweep) + labelled("graph", report.graph) + labelled("model", report.model) +
                      labelled("machine", report.machine);
    for (const NamedTable& named : sweep_tables(sweep, line_width())) {
        out += "\n" + (named.name.empty() ? "" : named.name + "\n") + named.table.text(color);
    }
    for (const std::string& remark : remarks_of(report, line_width())) out += paragraph(remark);
    const std::string fastest = fastest_text(sweep);
    if (!fastest.empty()) out += "\n" + labelled("fastest", fastest);
    const std::string dropout = with_dashes(dropout_sentence(sweep));
    if (!dropout.empty()) out += (fastest.empty() ? "\n" : "") + labelled("dropout", dropout);
    if (!report.sentences.empty()) out += "\n";
    for (const std::string& sentence : report.sentences) out += paragraph(sentence);
    return out + "\n" + labelled("sure", sure_text(certainty_of(sweep)));
}

std::vector<std::string> picture_caption(const SweepReport& report) {
    std::vector<std::string> caption = report.sentences;
    for (const std::string& note : report.shown.notes) caption.push_back(note);
    const std::string dropout = with_dashes(dropout_sentence(report.shown.sweep));
    if (!dropout.empty()) caption.push_back("Dropout: " + dropout + ".");
    caption.push_back("How sure: " + sure_text(certainty_of(report.shown.sweep)));
    return caption;
}

std::string report_page(const SweepReport& report, const std::string& title, const std::string& svg,
                        const std::string& command) {
    const Sweep& sweep = report.shown.sweep;
    std::string body =
        "<h1>" + xml_escaped(title) + "</h1>\n" +
        html_paragraphs({"Graph: " + report.graph, "Model: " + report.model, "Machine: " + report.machine});
    body += "<figure>\n" + svg + "</figure>\n";
    for (const NamedTable& named : sweep_tables(sweep, page_width)) {
        if (!named.name.empty()) body += "<h2>" + xml_escaped(named.name) + "</h2>\n";
        body += "<div class=\"scroll\">" + named.table.html() + "</div>\n";
    }
    body += html_paragraphs(remarks_of(report, page_width));
    if (!report.sentences.empty()) {
        body += "<ul>\n";
        for (const std::string& sentence : report.sentences) body += "<li>" + xml_escaped(sentence) + "</li>\n";
        body += "</ul>\n";
    }
    const std::string dropout = with_dashes(dropout_sentence(sweep));
    if (!dropout.empty()) body += html_paragraphs({"Dropout: " + dropout + "."});
    body += html_paragraphs({"How sure: " + sure_text(certainty_of(sweep))});
    body += "<details>\n<summary>Every point, with all that was chosen</summary>\n<div class=\"scroll\">" +
            full_table(sweep).html() + "</div>\n</details>\n";
    return html_page(title, body + "<p><code>" + xml_escaped(command) + "</code></p>\n");
}

}  // namespace gnnplan::tools
