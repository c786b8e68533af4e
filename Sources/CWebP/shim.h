// Names the system library for linking. webp/decode.h itself is included by the C files of CPictures only: Swift never sees it.
