/// One axis of a resize in fixed point: the same number of weights for every output sample, as whole numbers of 16 bits.
struct FixedFilter {
  /// The number of output samples.
  let count: Int
  /// The number of weights of each output sample, a multiple of `unit`.
  let taps: Int
  /// Weights are in units of 1 / 2^`bits`. Those of one output sample add up to 2^`bits`.
  let bits: Int
  /// The number of input samples.
  let samples: Int
  /// The first input sample of each output sample; never lower than that of the one before. The last weights may belong to
  /// samples beyond the input; these are 0.
  let starts: [Int32]
  /// The weights of the output samples, one after the other.
  let weights: [Int16]

  /// - parameters:
  ///   - exact: the weights.
  ///   - samples: the number of input samples.
  ///   - unit: `taps` is a multiple of it.
  ///   - most: the most bits. A sum of products must fit into 32 bits.
  init(_ exact: AxisFilter, samples: Int, unit: Int, mostBits most: Int) {
    (count, self.samples) = (exact.count, samples)
    var starts = exact.starts
    for output in starts.indices.dropLast().reversed() { starts[output] = min(starts[output], starts[output + 1]) }
    var longest = 1
    var (largest, smallest): (Float, Float) = (0, 0)
    for output in 0..<count {
      let own = exact.offsets[output]..<exact.offsets[output + 1]
      longest = max(longest, Int(exact.starts[output] - starts[output]) + own.count)
    }
    for weight in exact.weights { (largest, smallest) = (max(largest, weight), min(smallest, weight)) }
    taps = longest.ceilingQuotient(unit) * unit
    var bits = most
    while max(largest, -smallest) * Float(1 << bits) > Float(Int16.max - 1) { bits -= 1 }
    var weights = [Int16](repeating: 0, count: count * taps)
    for output in 0..<count {
      let base = output * taps + Int(exact.starts[output] - starts[output])
      let own = Int(exact.offsets[output])..<Int(exact.offsets[output + 1])
      // Rounds the running sums, not the weights, so that each weight corrects the rounding errors before it.
      let total = own.reduce(0.0) { $0 + Double(exact.weights[$1]) }
      var (sum, last) = (0.0, 0)
      for (place, index) in own.enumerated() {
        sum += Double(exact.weights[index])
        let rounded = Int((sum / total * Double(1 << bits)).rounded())
        weights[base + place] = Int16(clamping: rounded - last)
        last = rounded
      }
    }
    (self.bits, self.starts, self.weights) = (bits, starts, weights)
  }

  /// The most taps of a filter down a plane, in which an output sample stands for this many input samples.
  static func mostTaps(samples: Double) -> Int { Int(6 * max(samples, 1)) + 4 }

  /// The input samples that the output samples need.
  var needed: Range<Int> {
    Int(starts.first ?? 0)..<min(Int(starts.last ?? 0) + taps, samples)
  }

  /// The input sample after the last one that an output sample needs.
  func end(of output: Int) -> Int { min(Int(starts[output]) + taps, samples) }
}
