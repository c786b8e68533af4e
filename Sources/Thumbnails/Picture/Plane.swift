import Foundation

/// One component's 8-bit samples in memory that it does not own: `rows` × `columns`, row `r` at `base + r * stride`.
package struct PlaneView {
  let base: UnsafeMutablePointer<UInt8>
  package let columns: Int
  package let rows: Int
  let stride: Int

  package init(base: UnsafeMutablePointer<UInt8>, columns: Int, rows: Int, stride: Int) {
    (self.base, self.columns, self.rows, self.stride) = (base, columns, rows, stride)
  }

  func row(_ index: Int) -> UnsafeMutablePointer<UInt8> { base + index * stride }

  /// Copies the samples without padding, to memory that has room for them from `place` on.
  package func copy(to memory: UnsafeMutableRawBufferPointer, at place: Int) {
    for index in 0..<rows {
      let source = UnsafeRawBufferPointer(start: row(index), count: columns)
      memory[(place + index * columns)...].copyBytes(from: source)
    }
  }
}

/// Memory for planes of samples, which is kept from one picture to the next and grows as needed.
final class PlaneBuffer {
  private var memory: UnsafeMutablePointer<UInt8>?
  private var capacity = 0

  deinit { free(memory) }

  /// A plane of this size, with `paddedRows` × `stride` bytes of memory. The contents are undefined, so the caller must
  /// write every sample that is used.
  ///
  /// - throws: `outOfMemory`.
  func plane(columns: Int, rows: Int, stride: Int, paddedRows: Int) throws(ThumbnailError) -> PlaneView {
    let (needed, overflow) = stride.multipliedReportingOverflow(by: paddedRows)
    guard !overflow, stride >= columns, paddedRows >= rows else { throw .internalFault("the plane's size is invalid") }
    if needed > capacity {
      release()
      guard let fresh = malloc(needed) else { throw .outOfMemory }
      memory = fresh.bindMemory(to: UInt8.self, capacity: needed)
      capacity = needed
    }
    guard let memory else { throw .internalFault("the plane has no bytes") }
    return PlaneView(base: memory, columns: columns, rows: rows, stride: stride)
  }

  /// A plane without padding.
  func plane(columns: Int, rows: Int) throws(ThumbnailError) -> PlaneView {
    try plane(columns: columns, rows: rows, stride: columns, paddedRows: rows)
  }

  /// Keeps the memory if it is at most `left` bytes, and subtracts its size from `left`. Frees it otherwise.
  func keep(within left: inout Int) {
    if capacity > left { release() }
    left -= capacity
  }

  /// Frees the memory.
  func release() {
    free(memory)
    memory = nil
    capacity = 0
  }
}
