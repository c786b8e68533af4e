/// The bits of a component's coefficients that are known so far.
struct CoefficientProgress {
  /// The lowest known bit of each coefficient, in zigzag order; `unknown` before the coefficient's first scan.
  private var lowestBit = [Int](repeating: unknown, count: 64)
  /// The quantization step of each coefficient kept, from the table in force at the component's first scan.
  private(set) var steps: [Int] = []

  private static let unknown = Int.max

  /// Records a scan before it is decoded.
  ///
  /// - throws: `irregular` if the scan does not continue the known bits (ITU-T T.81, G.1.1.1.2), or has AC coefficients
  ///   before the component's first DC scan (G.1.1.1.1).
  mutating func record(_ scan: ScanHeader, _ table: [Int]) throws(BlockDecoderError) {
    if steps.isEmpty { steps = CoefficientStore.zigzagIndices.map { table[$0] } }
    let expected = scan.approximationHigh == 0 ? Self.unknown : scan.approximationHigh
    guard scan.spectralStart == 0 || hasDC else { throw .irregular }
    for index in scan.spectralStart...scan.spectralEnd {
      guard lowestBit[index] == expected else { throw .irregular }
      lowestBit[index] = scan.approximationLow
    }
  }

  /// Whether every bit of every coefficient is known.
  var isComplete: Bool { lowestBit.allSatisfy { $0 == 0 } }

  var hasDC: Bool { lowestBit[0] < Self.unknown }

  /// Whether every further scan would be skipped.
  func isDone(side: Int) -> Bool { lowestBit[0] == 0 && (side == 1 || lowestBit.allSatisfy { $0 <= 1 }) }
}
