import CVectors
import Foundation

/// Makes the samples of a block from its coefficients: 8 × 8 samples, or n × n samples from the lowest n × n
/// coefficients. For legal coefficients, 8 × 8 samples equal libjpeg's bit for bit. n × n samples show more detail than those
/// that libjpeg makes at smaller scales, which are means of neighbouring samples.
///
/// All transforms work in fixed point, first along columns, then along rows. Constants have 13 fractional bits, and the
/// values between the two passes have two.
///
/// *Source*: C. Loeffler, A. Ligtenberg and G. Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications" (ICASSP
/// 1989), with the constants and the rounding of libjpeg's jidctint.c.
struct InverseTransform {
  /// The samples of a block along each axis, one of `sides`.
  let side: Int
  static let sides = [3, 4, 5, 6, 8]

  /// The quantization steps, in rows of eight.
  private let steps: [Int16]

  /// - parameter steps: the quantization steps, in zigzag order.
  init(side: Int, steps: [Int]) {
    var placed = [Int16](repeating: 0, count: 64)
    for (place, step) in zip(Self.places, steps) { placed[Int(place)] = Int16(clamping: step) }
    (self.side, self.steps) = (side, placed)
  }

  /// The number of coefficients, in zigzag order, up to the last one that counts.
  var coefficientCount: Int {
    let last = Self.places.lastIndex { $0 / 8 < side && $0 % 8 < side } ?? 0
    return last + 1
  }

  /// The place of each coefficient of a block, in rows of eight, in zigzag order: along diagonals, upwards on those of even
  /// numbers.
  static let places: [UInt8] = (0..<15).flatMap { diagonal in
    let rows = Array(max(0, diagonal - 7)...min(7, diagonal))
    return (diagonal % 2 == 0 ? rows.reversed() : rows).map { UInt8($0 * 8 + diagonal - $0) }
  }

  /// Calls `body` with the quantization steps, for `makeSamples`.
  @inline(__always)
  func withSteps(_ body: (UnsafePointer<Int16>) -> Void) {
    steps.withUnsafeBufferPointer { steps in
      if let start = steps.baseAddress { body(start) }
    }
  }

  /// Makes the samples of a block.
  ///
  /// - parameters:
  ///   - coefficients: 64 of them.
  ///   - count: that of the coefficients, in zigzag order, that may differ from 0.
  ///   - target: `side` rows of `side` bytes.
  @inline(__always)
  func makeSamples(
    of coefficients: UnsafePointer<Int16>, _ steps: UnsafePointer<Int16>, count: Int,
    into target: UnsafeMutablePointer<UInt8>, stride: Int
  ) {
    switch side {
    case _ where count <= 1: Self.fill(target, side, stride, Int32(coefficients[0] &* steps[0]))
    case 3: Self.makeFew(3, coefficients, steps, target, stride)
    case 4: Self.makeFour(coefficients, steps, target, stride)
    case 5: Self.makeFew(5, coefficients, steps, target, stride)
    case 6: Self.makeFew(6, coefficients, steps, target, stride)
    case _ where count <= Self.smallCount: Self.makeEight(coefficients, steps, target, stride, isSmall: true)
    default: Self.makeEight(coefficients, steps, target, stride, isSmall: false)
    }
  }

  /// In zigzag order, the first ten coefficients are in the first four rows and columns.
  private static let smallCount = 10

  @inline(__always)
  private static func fill(_ target: UnsafeMutablePointer<UInt8>, _ side: Int, _ stride: Int, _ dc: Int32) {
    // As the transform rounds.
    let sample = UInt8(clamping: (dc &+ 4) >> 3 &+ 128)
    for row in 0..<side { store(SIMD8(repeating: sample), side, UnsafeMutableRawPointer(target + row &* stride)) }
  }

  /// Stores the first bytes of a row.
  @inline(__always)
  private static func store(_ row: SIMD8<UInt8>, _ count: Int, _ line: UnsafeMutableRawPointer) {
    switch count {
    case 3:
      line.storeBytes(of: row.lowHalf.lowHalf, as: SIMD2<UInt8>.self)
      line.storeBytes(of: row[2], toByteOffset: 2, as: UInt8.self)
    case 4: line.storeBytes(of: row.lowHalf, as: SIMD4<UInt8>.self)
    case 5:
      line.storeBytes(of: row.lowHalf, as: SIMD4<UInt8>.self)
      line.storeBytes(of: row[4], toByteOffset: 4, as: UInt8.self)
    case 6:
      line.storeBytes(of: row.lowHalf, as: SIMD4<UInt8>.self)
      line.storeBytes(of: row.highHalf.lowHalf, toByteOffset: 4, as: SIMD2<UInt8>.self)
    default: line.storeBytes(of: row, as: SIMD8<UInt8>.self)
    }
  }

  // MARK: 8 × 8

  /// Constants in pairs, for sums of two products.
  @inline(__always)
  private static func pair(_ a: Int16, _ b: Int16) -> SIMD8<Int16> { SIMD8(a, b, a, b, a, b, a, b) }

  /// Four lanes of a transform: what `turnsLow` or `turnsHigh` has made of its pairs of inputs.
  private struct Lanes {
    let zeroFour: SIMD8<Int16>
    let twoSix: SIMD8<Int16>
    let oneSeven: SIMD8<Int16>
    let threeFive: SIMD8<Int16>
    /// The sums of inputs 3 and 7, and of 1 and 5.
    let sums: SIMD8<Int16>

    typealias Outputs = (
      SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>
    )

    /// The outputs, times 2^13, plus `rounding`, shifted right.
    @inline(__always)
    func transformed(_ shift: Int32) -> Outputs {
      let rounding = SIMD4<Int32>(repeating: 1 &<< (shift &- 1))
      let e0 = sumsOfPairs(zeroFour, InverseTransform.pair(8192, 8192)) &+ rounding
      let e1 = sumsOfPairs(zeroFour, InverseTransform.pair(8192, -8192)) &+ rounding
      let e2 = sumsOfPairs(twoSix, InverseTransform.pair(4433, -10704))
      let e3 = sumsOfPairs(twoSix, InverseTransform.pair(10703, 4433))
      let (a0, a3) = (e0 &+ e3, e0 &- e3)
      let (a1, a2) = (e1 &+ e2, e1 &- e2)
      let z3 = sumsOfPairs(sums, InverseTransform.pair(-6436, 9633))
      let z4 = sumsOfPairs(sums, InverseTransform.pair(9633, 6437))
      let b0 = sumsOfPairs(oneSeven, InverseTransform.pair(-7373, -4927)) &+ z3
      let b1 = sumsOfPairs(threeFive, InverseTransform.pair(-20995, -4176)) &+ z4
      let b2 = sumsOfPairs(threeFive, InverseTransform.pair(4177, -20995)) &+ z3
      let b3 = sumsOfPairs(oneSeven, InverseTransform.pair(4926, -7373)) &+ z4
      return (
        (a0 &+ b3) &>> shift, (a1 &+ b2) &>> shift, (a2 &+ b1) &>> shift, (a3 &+ b0) &>> shift,
        (a3 &- b0) &>> shift, (a2 &- b1) &>> shift, (a1 &- b2) &>> shift, (a0 &- b3) &>> shift
      )
    }
  }

  private typealias Rows = (
    SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>
  )

  /// Transforms across the eight vectors.
  ///
  /// - parameter isHalf: whether all but the first four lanes are 0.
  @inline(__always)
  private static func transformed(_ r: Rows, _ shift: Int32, isHalf: Bool) -> Rows {
    let (sum37, sum15) = (r.3 &+ r.7, r.1 &+ r.5)
    let low = Lanes(
      zeroFour: turnsLow(r.0, r.4), twoSix: turnsLow(r.2, r.6), oneSeven: turnsLow(r.1, r.7),
      threeFive: turnsLow(r.3, r.5), sums: turnsLow(sum37, sum15)
    ).transformed(shift)
    if isHalf {
      let zero = SIMD4<Int32>.zero
      return (
        narrowed(low.0, zero), narrowed(low.1, zero), narrowed(low.2, zero), narrowed(low.3, zero),
        narrowed(low.4, zero), narrowed(low.5, zero), narrowed(low.6, zero), narrowed(low.7, zero)
      )
    }
    let high = Lanes(
      zeroFour: turnsHigh(r.0, r.4), twoSix: turnsHigh(r.2, r.6), oneSeven: turnsHigh(r.1, r.7),
      threeFive: turnsHigh(r.3, r.5), sums: turnsHigh(sum37, sum15)
    ).transformed(shift)
    return (
      narrowed(low.0, high.0), narrowed(low.1, high.1), narrowed(low.2, high.2), narrowed(low.3, high.3),
      narrowed(low.4, high.4), narrowed(low.5, high.5), narrowed(low.6, high.6), narrowed(low.7, high.7)
    )
  }

  @inline(__always)
  private static func transposed(_ r: Rows) -> Rows {
    let (a0, a1) = (turnsLow(r.0, r.1), turnsHigh(r.0, r.1))
    let (b0, b1) = (turnsLow(r.2, r.3), turnsHigh(r.2, r.3))
    let (c0, c1) = (turnsLow(r.4, r.5), turnsHigh(r.4, r.5))
    let (d0, d1) = (turnsLow(r.6, r.7), turnsHigh(r.6, r.7))
    let (ab0, ab1, ab2, ab3) = (pairsLow(a0, b0), pairsHigh(a0, b0), pairsLow(a1, b1), pairsHigh(a1, b1))
    let (cd0, cd1, cd2, cd3) = (pairsLow(c0, d0), pairsHigh(c0, d0), pairsLow(c1, d1), pairsHigh(c1, d1))
    return (
      SIMD8(lowHalf: ab0.lowHalf, highHalf: cd0.lowHalf), SIMD8(lowHalf: ab0.highHalf, highHalf: cd0.highHalf),
      SIMD8(lowHalf: ab1.lowHalf, highHalf: cd1.lowHalf), SIMD8(lowHalf: ab1.highHalf, highHalf: cd1.highHalf),
      SIMD8(lowHalf: ab2.lowHalf, highHalf: cd2.lowHalf), SIMD8(lowHalf: ab2.highHalf, highHalf: cd2.highHalf),
      SIMD8(lowHalf: ab3.lowHalf, highHalf: cd3.lowHalf), SIMD8(lowHalf: ab3.highHalf, highHalf: cd3.highHalf)
    )
  }

  @inline(__always)
  private static func row(
    _ index: Int, _ coefficients: UnsafePointer<Int16>, _ steps: UnsafePointer<Int16>
  ) -> SIMD8<Int16> {
    UnsafeRawPointer(coefficients + index &* 8).loadUnaligned(as: SIMD8<Int16>.self)
      &* UnsafeRawPointer(steps + index &* 8).loadUnaligned(as: SIMD8<Int16>.self)
  }

  /// - parameter isSmall: whether all coefficients outside the first four rows and columns are 0.
  @inline(__always)
  private static func makeEight(
    _ coefficients: UnsafePointer<Int16>, _ steps: UnsafePointer<Int16>, _ target: UnsafeMutablePointer<UInt8>,
    _ stride: Int, isSmall: Bool
  ) {
    @inline(__always) func row(_ index: Int) -> SIMD8<Int16> { Self.row(index, coefficients, steps) }
    let between: Rows
    if isSmall {
      let columns = transformed((row(0), row(1), row(2), row(3), .zero, .zero, .zero, .zero), 11, isHalf: true)
      between = transposed(columns)
    } else {
      let columns = transformed((row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)), 11, isHalf: false)
      between = transposed(columns)
    }
    store(transformed(between, 18, isHalf: false), 8, target, stride)
  }

  /// Stores a block whose vectors are columns, before 128 is added.
  @inline(__always)
  private static func store(_ columns: Rows, _ side: Int, _ target: UnsafeMutablePointer<UInt8>, _ stride: Int) {
    let half = SIMD8<Int16>(repeating: 128)
    @inline(__always) func limited(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD16<UInt8> {
      bytes(a &+ half, b &+ half)
    }
    // Bytes are turned in three steps.
    let (a, b) = (limited(columns.0, columns.2), limited(columns.1, columns.3))
    let (c, d) = (limited(columns.4, columns.6), limited(columns.5, columns.7))
    let (ab0, ab1) = (turnsLow(a, b), turnsHigh(a, b))
    let (cd0, cd1) = (turnsLow(c, d), turnsHigh(c, d))
    let (first, second) = (turnsLow(pairs(ab0), pairs(ab1)), turnsHigh(pairs(ab0), pairs(ab1)))
    let (third, fourth) = (turnsLow(pairs(cd0), pairs(cd1)), turnsHigh(pairs(cd0), pairs(cd1)))
    let twos = (
      pairsLow(first, third), pairsHigh(first, third), pairsLow(second, fourth), pairsHigh(second, fourth)
    )
    let line = UnsafeMutableRawPointer(target)
    @inline(__always) func store(_ two: SIMD8<Int16>, _ row: Int) {
      let rows = unsafeBitCast(two, to: SIMD16<UInt8>.self)
      if row < side { Self.store(rows.lowHalf, side, line + row &* stride) }
      if row + 1 < side { Self.store(rows.highHalf, side, line + (row &+ 1) &* stride) }
    }
    store(twos.0, 0)
    store(twos.1, 2)
    store(twos.2, 4)
    store(twos.3, 6)
  }

  /// The bytes, two by two.
  @inline(__always)
  private static func pairs(_ bytes: SIMD16<UInt8>) -> SIMD8<Int16> { unsafeBitCast(bytes, to: SIMD8<Int16>.self) }

  // MARK: 4 × 4

  @inline(__always)
  private static func makeFour(
    _ coefficients: UnsafePointer<Int16>, _ steps: UnsafePointer<Int16>, _ target: UnsafeMutablePointer<UInt8>,
    _ stride: Int
  ) {
    @inline(__always) func row(_ index: Int) -> SIMD8<Int16> { Self.row(index, coefficients, steps) }
    let columns = four(turnsLow(row(0), row(2)), turnsLow(row(1), row(3)), 11)
    // Turns rows and columns: first two of each.
    let (a, b) = (turnsLow(columns.0, columns.1), turnsHigh(columns.0, columns.1))
    let (first, last) = (turnsLow(a, b), turnsHigh(a, b))
    let rows = four(turnsLow(first, last), turnsHigh(first, last), 18)
    let half = SIMD8<Int16>(repeating: 128)
    // Each four bytes are a column of the block.
    let turned = bytes(rows.0 &+ half, rows.1 &+ half)
    let inTwos = turnsLow(turned, SIMD16(lowHalf: turned.highHalf, highHalf: turned.highHalf))
    let samples = turnsLow(inTwos, SIMD16(lowHalf: inTwos.highHalf, highHalf: inTwos.highHalf))
    let line = UnsafeMutableRawPointer(target)
    line.storeBytes(of: samples.lowHalf.lowHalf, as: SIMD4<UInt8>.self)
    line.storeBytes(of: samples.lowHalf.highHalf, toByteOffset: stride, as: SIMD4<UInt8>.self)
    line.storeBytes(of: samples.highHalf.lowHalf, toByteOffset: 2 &* stride, as: SIMD4<UInt8>.self)
    line.storeBytes(of: samples.highHalf.highHalf, toByteOffset: 3 &* stride, as: SIMD4<UInt8>.self)
  }

  /// Transforms four lanes. The results are outputs 0 and 1, and outputs 2 and 3, of four lanes each.
  ///
  /// - parameters:
  ///   - even: inputs 0 and 2 of each lane, in turn.
  ///   - odd: inputs 1 and 3.
  @inline(__always)
  private static func four(
    _ even: SIMD8<Int16>, _ odd: SIMD8<Int16>, _ shift: Int32
  ) -> (SIMD8<Int16>, SIMD8<Int16>) {
    let rounding = SIMD4<Int32>(repeating: 1 &<< (shift &- 1))
    let e0 = sumsOfPairs(even, InverseTransform.pair(8192, 8192)) &+ rounding
    let e1 = sumsOfPairs(even, InverseTransform.pair(8192, -8192)) &+ rounding
    let o0 = sumsOfPairs(odd, InverseTransform.pair(10703, 4433))
    let o1 = sumsOfPairs(odd, InverseTransform.pair(4433, -10703))
    return (
      narrowed((e0 &+ o0) &>> shift, (e1 &+ o1) &>> shift), narrowed((e1 &- o1) &>> shift, (e0 &- o0) &>> shift)
    )
  }

  // MARK: 3 × 3, 5 × 5 and 6 × 6

  /// The constants of an output: √2 cos((2x + 1)uπ / 2n), in pairs of inputs u.
  private struct Output {
    /// For inputs 0 and 2, and for 4. Input 0 has 1.
    let even: (SIMD8<Int16>, SIMD8<Int16>)
    /// For inputs 1 and 3, and for 5.
    let odd: (SIMD8<Int16>, SIMD8<Int16>)

    init(_ x: Int, of n: Int) {
      func constant(_ u: Int) -> Int16 {
        if u == 0 { return 8192 }
        guard u < n else { return 0 }
        let angle = Double((2 * x + 1) * u) * Double.pi / Double(2 * n)
        return Int16((8192 * 2.0.squareRoot() * cos(angle)).rounded())
      }
      even = (pair(constant(0), constant(2)), pair(constant(4), 0))
      odd = (pair(constant(1), constant(3)), pair(constant(5), 0))
    }
  }

  /// The first half of the outputs; the others have odd parts of the opposite sign.
  private typealias Outputs = (Output, Output, Output)
  private static let three = (Output(0, of: 3), Output(1, of: 3), Output(1, of: 3))
  private static let five = (Output(0, of: 5), Output(1, of: 5), Output(2, of: 5))
  private static let six = (Output(0, of: 6), Output(1, of: 6), Output(2, of: 6))

  /// - parameter n: 3, 5 or 6.
  @inline(__always)
  private static func makeFew(
    _ n: Int, _ coefficients: UnsafePointer<Int16>, _ steps: UnsafePointer<Int16>,
    _ target: UnsafeMutablePointer<UInt8>, _ stride: Int
  ) {
    @inline(__always) func row(_ index: Int) -> SIMD8<Int16> {
      index < n ? Self.row(index, coefficients, steps) : .zero
    }
    let constants = n == 3 ? three : n == 5 ? five : six
    let columns = few(n, (row(0), row(1), row(2), row(3), row(4), row(5), .zero, .zero), constants, 11)
    store(few(n, transposed(columns), constants, 18), n, target, stride)
  }

  /// Transforms across the first `n` vectors.
  @inline(__always)
  private static func few(_ n: Int, _ r: Rows, _ constants: Outputs, _ shift: Int32) -> Rows {
    let zero = SIMD8<Int16>.zero
    let rounding = SIMD4<Int32>(repeating: 1 &<< (shift &- 1))
    let (even, odd) = (turnsLow(r.0, r.2), turnsLow(r.1, r.3))
    let (fourth, fifth) = (turnsLow(r.4, zero), turnsLow(r.5, zero))
    let (evenHigh, oddHigh) = (turnsHigh(r.0, r.2), turnsHigh(r.1, r.3))
    let (fourthHigh, fifthHigh) = (turnsHigh(r.4, zero), turnsHigh(r.5, zero))
    /// An output and the one opposite.
    @inline(__always) func both(_ output: Output) -> (SIMD8<Int16>, SIMD8<Int16>) {
      var (e, o) = (sumsOfPairs(even, output.even.0) &+ rounding, sumsOfPairs(odd, output.odd.0))
      if n > 4 { e &+= sumsOfPairs(fourth, output.even.1) }
      if n > 5 { o &+= sumsOfPairs(fifth, output.odd.1) }
      if n < 5 {
        return (narrowed((e &+ o) &>> shift, .zero), narrowed((e &- o) &>> shift, .zero))
      }
      var (eHigh, oHigh) = (
        sumsOfPairs(evenHigh, output.even.0) &+ rounding, sumsOfPairs(oddHigh, output.odd.0)
      )
      eHigh &+= sumsOfPairs(fourthHigh, output.even.1)
      if n > 5 { oHigh &+= sumsOfPairs(fifthHigh, output.odd.1) }
      return (
        narrowed((e &+ o) &>> shift, (eHigh &+ oHigh) &>> shift),
        narrowed((e &- o) &>> shift, (eHigh &- oHigh) &>> shift)
      )
    }
    let (first, last) = both(constants.0)
    let (second, secondLast) = both(constants.1)
    if n == 3 { return (first, second, last, zero, zero, zero, zero, zero) }
    let (third, thirdLast) = both(constants.2)
    if n == 5 { return (first, second, third, secondLast, last, zero, zero, zero) }
    return (first, second, third, thirdLast, secondLast, last, zero, zero)
  }
}
