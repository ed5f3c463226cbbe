// Layers that are made again together for their backward pass (Switches::remade).
#pragma once

#include <gnnplan/ir/sites.hpp>

#include <vector>

namespace gnnplan::lower {

class Segments {
public:
    // `layers`: in a segment; 0: all are in one. The model outlives the object.
    Segments(const SiteGraph& model, int layers);

    int count() const { return of_site_.back() + 1; }
    int of(int site) const { return of_site_[static_cast<std::size_t>(site)]; }
    // Whether the backward pass follows the forward pass of the site at once.
    bool last(int site) const { return of(site) + 1 == count(); }
    // Whether a later segment reads the value of the site.
    bool outlasts(int site) const;
    // Whether the value of the site is made again for the backward pass of its segment. What later segments read stays
    // where an activation or dropout has made it, and of sums and linear maps the gradients need no values.
    bool wanted(int site) const { return wanted_[static_cast<std::size_t>(site)]; }

private:
    bool reads_again(int reader, int value) const;

    const SiteGraph& model_;
    std::vector<int> of_site_;
    std::vector<bool> wanted_;
};

}  // namespace gnnplan::lower
