import CDecoding

/// The planes that a decoder process has made.
///
/// *Concurrency*: immutable, but for a decoder that a picture has taken over: it may still change samples. So nothing but
/// colours may depend on them.
package final class DecodedPlanes: Sendable {
  private let memory: SharedMemory
  private let planes: Range<Int>
  /// The inflated profile, as a copy; nil if there is none.
  package let profile: [UInt8]?
  /// What is wrong with the file, each on one line of printable ASCII characters, or empty: samples that are missing, samples
  /// that are wrong, and flaws that do not show.
  package let warnings: [String]

  init(_ memory: SharedMemory, planes: Range<Int>, profile: [UInt8]?, warnings: [String]) {
    (self.memory, self.planes, self.profile, self.warnings) = (memory, planes, profile, warnings)
  }

  /// Passes the memory for planes, in which the request says where each is. It must not be used afterwards.
  package func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[planes]))
  }
}
