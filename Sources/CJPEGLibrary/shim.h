// Names the system library for linking. jpeglib.h itself is included by CLibJPEG's C files only: Swift never sees it.
