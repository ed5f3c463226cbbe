"""gnnplan for Spack, as `packages/gnnplan/package.py` of a repository of one's own. From a checkout:

    spack repo create mine && mkdir -p mine/packages/gnnplan && cp packaging/spack/package.py mine/packages/gnnplan/
    spack repo add mine && spack dev-build gnnplan@0.1.0 +mpi
"""

from spack.package import *

try:  # Spack 1.x keeps the classes of build systems with its packages
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass


class Gnnplan(CMakePackage, CudaPackage):
    """Plans how to distribute whole-graph training of graph neural networks, and trains by the plan."""

    license("Apache-2.0")

    # Without an archive to load: `spack dev-build` takes the checkout.
    version("0.1.0")

    variant("mpi", default=True, description="Ranks as processes")
    variant("openmp", default=True, description="Threads inside of a rank")
    variant("metis", default=True, description="Partitions of graphs")
    variant("hwloc", default=True, description="Binds threads to cores")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("random123")
    depends_on("zlib-api")
    depends_on("libzip")
    depends_on("xxhash")
    depends_on("mpi", when="+mpi")
    # gnnplan uses 32-bit indices.
    depends_on("metis@5:~int64", when="+metis")
    depends_on("hwloc@2.5:", when="+hwloc")

    # C++20 as GCC 12 has it
    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("GNNPLAN_MPI", "mpi"),
            self.define_from_variant("GNNPLAN_CUDA", "cuda"),
            self.define_from_variant("GNNPLAN_OPENMP", "openmp"),
            self.define("GNNPLAN_TESTS", False),
            self.define("GNNPLAN_BENCH", False),
        ]
