#include "tools/gnnplan/plot.hpp"
#include "tools/text/table.hpp"

#include <fmt/format.h>

namespace gnnplan::tools {
namespace {

constexpr const char* style = R"(:root { color-scheme: light dark; }
body { font-family: sans-serif; max-width: 1160px; margin: 2em auto; padding: 0 1em; line-height: 1.4;
  color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; }
figure { margin: 1em 0; text-align: center; }
svg { max-width: 100%; height: auto; } svg .paper { fill: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5em 0; font-size: 0.9em; }
th, td { padding: 0.2em 0.7em; text-align: left; vertical-align: top; border-bottom: 1px solid #ccc; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.best td { font-weight: bold; }
code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body, svg { color: #ddd; } body { background: #181818; } th, td { border-color: #444; }
})";

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
        "content=\"width=device-width\"/>\n<title>{}</title>\n<style>\n{}\n</style>\n</head>\n<body>\n{}</body>\n"
        "</html>\n",
        xml_escaped(title), style, body);
}

}  // namespace gnnplan::tools
