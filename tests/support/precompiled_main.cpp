// An executable is what CMake precompiles headers for; the tests use them.
int main() {}
