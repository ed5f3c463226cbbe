// Preloaded into a program, makes MPI fail to start: the program's own call finds this function instead of the
// library's.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

// NOLINTNEXTLINE(readability-identifier-naming): the name is MPI's
extern "C" int MPI_Init_thread(int*, char***, int, int*) { return MPI_ERR_OTHER; }
