// Names the system library for linking. openjpeg.h itself is included by the C files of CPictures only: Swift never sees it.
