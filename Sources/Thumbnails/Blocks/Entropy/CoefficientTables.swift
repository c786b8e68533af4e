/// Lookup tables that decode a symbol, DC or AC, together with its value. Their entries are those of `ValueTables`; a DC
/// symbol passes one coefficient, and its value is the difference to the predictor.
struct CoefficientTables {
  /// The number of entries of a table.
  static let size = 1 << ValueTables.lookupBits

  /// All tables, one after the other: for each of `codes` one for DC, then one for AC.
  let entries: [UInt32]
  let codes: [StepTables.Codes]
  /// For each of the scan's components, the index in `entries` at which its DC table begins.
  let starts: [Int]

  /// - parameters:
  ///   - steps: the step tables of the same scan, whose components share tables in the same way.
  ///   - known: tables that are taken over if they are of the same codes.
  init(_ steps: StepTables, reusing known: CoefficientTables? = nil) {
    (codes, starts) = (steps.codes, steps.starts)
    if let known, known.codes == codes {
      entries = known.entries
      return
    }
    var entries = [UInt32](repeating: ValueTables.isTooLong, count: 2 * Self.size * codes.count)
    for (index, own) in codes.enumerated() {
      var table = entries.mutableSpan
      let start = 2 * Self.size * index
      ValueTables.fill(&table, from: start, own.dc, isDC: true)
      ValueTables.fill(&table, from: start + Self.size, own.ac, isDC: false)
    }
    self.entries = entries
  }

  /// The codes of the table that contains an entry.
  @inline(__always)
  static func codesIndex(ofTable start: UInt) -> Int { Int(bitPattern: start &>> UInt(ValueTables.lookupBits + 1)) }
}
