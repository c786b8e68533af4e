// Names the system library for linking. dav1d/dav1d.h itself is included by the C files of CPictures only: Swift never sees it.
