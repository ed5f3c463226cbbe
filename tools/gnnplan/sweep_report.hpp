// A sweep for people: tables, sentences and how sure they are, as text and as a page.
#pragma once

#include "tools/advise/sweep/sweep.hpp"

#include <string>
#include <vector>

namespace gnnplan::tools {

struct SweepReport {
    std::string graph, model, machine;   // one line each
    WithoutSpaces shown;                 // what is drawn and told
    std::vector<std::string> sentences;  // at most max_sentences; those that begin with blanks belong to the one before
};

// Every line at most line_width() long, where its words are.
std::string report_text(const SweepReport& report, bool color);

// The caption of a picture that goes alone: sentences, notes and how sure they are.
std::vector<std::string> picture_caption(const SweepReport& report);

// A page with the picture; no script, nothing from elsewhere.
std::string report_page(const SweepReport& report, const std::string& title, const std::string& svg,
                        const std::string& command);

}  // namespace gnnplan::tools
