/// Lookup tables that decode a symbol, DC or AC, together with its value. They have the places of `StepTables` and the
/// entries of `ValueTables`. A DC symbol passes one coefficient; its value is the difference to the predictor.
struct CoefficientTables {
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
    var entries = [UInt32](repeating: ValueTables.isTooLong, count: 2 * StepTables.size * codes.count)
    for (index, own) in codes.enumerated() {
      var table = entries.mutableSpan
      let start = 2 * StepTables.size * index
      ValueTables.fill(&table, from: start, own.dc, isDC: true)
      ValueTables.fill(&table, from: start + StepTables.size, own.ac, isDC: false)
    }
    self.entries = entries
  }
}
