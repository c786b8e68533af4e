// Names the system library for linking. gif_lib.h itself is included by the C files of CPictures only: Swift never sees it.
