// Names the system library for linking. jxl/decode.h itself is included by the C files of CPictures only: Swift never sees it.
