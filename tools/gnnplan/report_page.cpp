#include "tools/gnnplan/report_page.hpp"

#include "planner/io/files.hpp"
#include "tools/gnnplan/report_files.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/error.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

constexpr const char* share_variable = "GNNPLAN_SHARE";
constexpr const char* chart_file = "Chart.min.js";

// The data between the tags of a script element: "<" would end the element in "</script>", and is in strings alone.
std::string script_data(const io::Document& data) {
    std::string safe;
    for (const char letter : io::dump(data)) {
        if (letter == '<')
            safe += "\\u003c";
        else
            safe += letter;
    }
    return safe;
}

std::vector<std::filesystem::path> chart_folders() {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv(share_variable); named != nullptr && *named != '\0') return {named};
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    const fs::path folder = program.parent_path();
    // The second is that of a wheel, whose programs are in lib/pythonX.Y/site-packages/gnnplan.scripts.
    return {folder / "../share/gnnplan", folder / "../../../../share/gnnplan", "/usr/share/javascript/chart.js"};
}

}  // namespace

std::string chart_script() {
    for (const std::filesystem::path& folder : chart_folders()) {
        const std::string path = (folder / chart_file).lexically_normal().string();
        if (io::is_there(path)) return io::read_file(path);
    }
    throw Error(ErrorCode::unavailable, std::string("Chart.js, which draws the page, is not there"), chart_file,
                std::string("tools/install-packages build and a new build bring it, or ") + share_variable +
                    " names the folder that has it");
}

// Parts are put in as the template is read, so that no part is taken for another one's place.
std::string plan_page(const io::Document& data, std::string_view title, std::string_view chart) {
    const std::array<std::pair<std::string_view, std::string>, 5> parts{{{"title", xml_escaped(title)},
                                                                         {"style", std::string(page_style)},
                                                                         {"data", script_data(data)},
                                                                         {"chart", std::string(chart)},
                                                                         {"script", std::string(page_script)}}};
    std::string page;
    std::string_view rest = page_template;
    for (std::size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
        const std::size_t close = rest.find("}}", open);
        const std::string_view name = rest.substr(open + 2, close - open - 2);
        page += rest.substr(0, open);
        for (const auto& [part, text] : parts) {
            if (part == name) page += text;
        }
        rest.remove_prefix(close + 2);
    }
    return page.append(rest);
}

}  // namespace gnnplan::tools
