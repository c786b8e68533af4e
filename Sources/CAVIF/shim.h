// Names the system library for linking. avif/avif.h itself is included by the C files of CEncoders only: Swift never sees it.
