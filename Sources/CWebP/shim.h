// Names the system library for linking. Its headers are included by the C files of CPictures and CEncoders only: Swift never sees
// them.
