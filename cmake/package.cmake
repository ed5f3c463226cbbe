# `cpack -G DEB` in a build without tests makes a package for Debian (packaging/build-deb).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gnnplan)
set(CPACK_PACKAGE_CONTACT "gnnplan's maintainers <gnnplan@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# MPI starts ranks as processes; without it they are threads.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
# Library and pages find their parts there: `gnnplan report` its Chart.js, those who compile against the library xxhash.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libxxhash-dev, pkg-config")
include(CPack)
