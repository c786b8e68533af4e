// Names the system library for linking. libde265/de265.h itself is included by the C files of CPictures only: Swift never sees it.
