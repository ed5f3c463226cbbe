// Sites that are made again together for their backward pass (Switches::remade).
#pragma once

#include <gnnplan/ir/sites.hpp>

#include <vector>

namespace gnnplan::lower {

class Segments {
public:
    // `remade`: as many layers are in a segment, or each begins with a norm; 0: all are in one. The model outlives the
    // object.
    Segments(const SiteGraph& model, int remade);

    // Whether they are whole layers, with which operands of weights' gradients are made again.
    bool of_layers() const { return of_layers_; }
    int count() const { return of_site_.back() + 1; }
    int of(int site) const { return of_site_[static_cast<std::size_t>(site)]; }
    // Whether the backward pass follows the forward pass of the site at once.
    bool last(int site) const { return of(site) + 1 == count(); }
    // Whether a later segment reads the value of the site.
    bool outlasts(int site) const;
    // Whether the value of the site is made again for the backward pass of its segment. In whole layers, what later
    // segments read stays where an activation or dropout has made it, and of sums and linear maps the gradients need no
    // values.
    bool wanted(int site) const { return wanted_[static_cast<std::size_t>(site)]; }

private:
    void want_layers();
    void want_norms();
    bool reads_again(int reader, int value) const;

    const SiteGraph& model_;
    bool of_layers_;
    std::vector<int> of_site_;
    std::vector<bool> wanted_;
};

}  // namespace gnnplan::lower
