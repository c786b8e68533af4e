/// Arithmetic for the sizes of files and other numbers that a file system tells. They may be as large as a number can be: a
/// sparse file has 2⁶³ - 1 bytes, and no disk for them.
extension Int {
  /// The sum, or the nearest number to it.
  package func saturating(plus other: Int) -> Int {
    let (sum, hasOverflowed) = addingReportingOverflow(other)
    return hasOverflowed ? (other < 0 ? .min : .max) : sum
  }

  /// The product, or the nearest number to it.
  package func saturating(times other: Int) -> Int {
    let (product, hasOverflowed) = multipliedReportingOverflow(by: other)
    return hasOverflowed ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
