/// Decides which parts of a source are asked for, one after the other. A value without a clock.
///
/// A request takes time, however few bytes it asks for. So parts near to each other are one, and if most of the source is
/// needed, or if a file refers to too many places, the rest of the source is one part.
struct PartCourse {
  /// What a transfer does that could end, because the rest of the source is not needed.
  enum Verdict: Equatable { case goOn, all, end }

  private enum Aim {
    /// The source from its beginning on.
    case whole
    /// Its first bytes.
    case beginning(Int)
    case part(Range<Int>, of: SourceVersion)
  }

  /// The most parts of one source.
  static let mostRequests = 16
  /// Up to this many unneeded bytes are fetched rather than making another request.
  static let near = 256 << 10
  private static let gap = 64 << 10
  /// The fewest bytes of a part: parsers go on where they have read.
  private static let least = 64 << 10

  private var aim: Aim
  private var requests = 0
  /// Whether the source may still be fetched in parts.
  private(set) var usesParts = true

  /// - Parameter beginning: how many bytes are asked for first; nil for all.
  init(beginning: Int?) { aim = beginning.map(Aim.beginning) ?? .whole }

  /// The part to ask for; nil for the whole source.
  ///
  /// - Parameter held: what is there already.
  func asked(having held: RangeSet<Int>) -> AskedPart? {
    switch aim {
    case .whole: nil
    case .beginning(let count): AskedPart(range: 0..<count, version: nil)
    case .part(let range, let version):
      // After a try that broke off, only the rest.
      AskedPart(range: RangeSet(range).subtracting(held).hull ?? range, version: version)
    }
  }

  /// Parts are of no use: the server does not send them as it should, or has another version now.
  mutating func giveUp() { (aim, usesParts) = (.whole, false) }

  /// The server has sent the source from its beginning, whatever it was asked for.
  mutating func answeredWhole() {
    if case .part = aim { giveUp() } else { aim = .whole }
  }

  /// Chooses the next part.
  ///
  /// - Parameters:
  ///   - missing: what is needed and not there; nil for all of the source.
  ///   - held: what is there.
  ///   - version: nil if the server does not tell one.
  /// - Returns: whether all that is needed is there. If not, the next part is asked for, or the whole source.
  mutating func advance(
    missing: RangeSet<Int>?, having held: RangeSet<Int>, of total: Int, _ version: SourceVersion?
  ) -> Bool {
    let absent = RangeSet(0..<total).subtracting(held)
    if absent.isEmpty { return true }
    guard let version, usesParts, requests < Self.mostRequests + 2 else {
      giveUp()
      return false
    }
    let needed = missing.map { absent.intersection($0) } ?? absent
    guard let hull = absent.hull, !needed.isEmpty else { return true }
    requests += 1
    let parts = Self.joined(needed, within: total)
    let isFew = requests + parts.count <= Self.mostRequests && Self.saves(parts, of: absent.byteCount, total)
    aim = .part(isFew ? parts[0] : hull, of: version)
    return false
  }

  /// Whether a transfer from the beginning of a source should end.
  ///
  /// - Parameters:
  ///   - missing: what is needed and has not arrived.
  ///   - count: how many bytes have arrived.
  ///   - version: nil if no parts can be asked for.
  func verdict(missing: RangeSet<Int>, having count: Int, _ version: SourceVersion?) -> Verdict {
    guard usesParts, let version, count < version.total else { return .all }
    guard let last = missing.ranges.last?.upperBound else { return .end }
    if last <= count + Self.near { return .goOn }
    let parts = Self.joined(missing, within: version.total)
    return parts.count <= Self.mostRequests && Self.saves(parts, of: version.total - count, version.total) ? .end : .all
  }

  private static func saves(_ parts: [Range<Int>], of absent: Int, _ total: Int) -> Bool {
    absent - parts.reduce(0) { $0 + $1.count } >= max(near, total / 5)
  }

  private static func joined(_ needed: RangeSet<Int>, within total: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    for range in needed.ranges {
      let range = range.lowerBound..<min(total, max(range.upperBound, range.lowerBound + least))
      if let last = parts.last, range.lowerBound <= last.upperBound + gap {
        parts[parts.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        parts.append(range)
      }
    }
    return parts
  }
}

extension RangeSet<Int> {
  var byteCount: Int { ranges.reduce(0) { $0 + $1.count } }

  /// From the first to the last; nil if there is none.
  var hull: Range<Int>? {
    guard let first = ranges.first, let last = ranges.last else { return nil }
    return first.lowerBound..<last.upperBound
  }
}
