// A library that the loader does not find.
extern "C" int gnnplan_absent() { return 1; }
