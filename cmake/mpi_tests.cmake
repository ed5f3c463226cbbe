# How tests start ranks under mpirun, in one place. Included where the MPI communicator is built.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
set(GNNPLAN_OPEN_MPI OFF)
set(mpiexec_flags)
if(mpiexec_version MATCHES "Open MPI|OpenRTE")
  set(GNNPLAN_OPEN_MPI ON)
  set(mpiexec_flags --oversubscribe --allow-run-as-root)
endif()
list(JOIN mpiexec_flags " " mpiexec_flags_text)
# "mpirun FLAGS -n", to be followed by the number of ranks: for tests that start it themselves.
set(GNNPLAN_MPIRUN "${MPIEXEC_EXECUTABLE} ${mpiexec_flags_text} ${MPIEXEC_NUMPROC_FLAG}")
# More ranks than cores must not spin; the MPI library leaks, and it is not built for ThreadSanitizer; plans must not
# depend on what this machine was calibrated to.
set(GNNPLAN_MPI_ENVIRONMENT OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=detect_leaks=0
  TSAN_OPTIONS=ignore_noninstrumented_modules=1 XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/no-cache)

# gnnplan_mpi_environment(TEST...): these tests use both cores and start ranks under mpirun, themselves or as their
# command.
function(gnnplan_mpi_environment)
  set_tests_properties(${ARGN} PROPERTIES PROCESSORS 2 TIMEOUT 300 ENVIRONMENT "${GNNPLAN_MPI_ENVIRONMENT}")
endfunction()

# gnnplan_mpi_test(NAME RANKS COMMAND...): a ctest entry that runs COMMAND under mpirun, with more ranks than cores if
# need be.
function(gnnplan_mpi_test name ranks)
  add_test(NAME ${name}
    COMMAND ${MPIEXEC_EXECUTABLE} ${mpiexec_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} ${ARGN})
  gnnplan_mpi_environment(${name})
  gnnplan_may_skip(${name})
endfunction()
