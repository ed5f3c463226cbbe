// A library to preload into a program that mpirun starts. It makes rank 1 stop inside a call, as GNNPLAN_STOP says:
// "CALL stopped" (by a signal), "CALL blocked" (in the system, as by a file server that is gone), or "CALL slow" (the
// call takes a while each time).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

void compute_for_two_milliseconds() {
    timespec begin{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec < 2'000'000);
}

void meet(const std::string& call) {
    const char* wanted = std::getenv("GNNPLAN_STOP");
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (wanted == nullptr || rank == nullptr || std::string(rank) != "1") return;
    if (wanted == call + " stopped") std::raise(SIGSTOP);
    while (wanted == call + " blocked") pause();
    if (wanted != call + " slow") return;
    constexpr int times = 15;
    for (int i = 0; i < times; ++i) usleep(100'000), compute_for_two_milliseconds();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the libraries'
extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    meet("MPI_Init_thread");
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Comm_dup(MPI_Comm from, MPI_Comm* to) {
    meet("MPI_Comm_dup");
    return PMPI_Comm_dup(from, to);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
    meet("MPI_Win_allocate_shared");
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}

int MPI_Finalize() {
    meet("MPI_Finalize");
    return PMPI_Finalize();
}

int gzread(gzFile file, void* buffer, unsigned bytes) {
    meet("gzread");
    const auto real = reinterpret_cast<int (*)(gzFile, void*, unsigned)>(dlsym(RTLD_NEXT, "gzread"));
    return real(file, buffer, bytes);
}
}
// NOLINTEND(readability-identifier-naming)
