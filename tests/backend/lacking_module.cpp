// A module that needs a library that is not there.
extern "C" int gnnplan_absent();

extern "C" const void* gnnplan_backend_module() { return gnnplan_absent() == 0 ? "" : nullptr; }
