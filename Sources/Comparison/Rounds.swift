/// The rounds of a comparison. In each, every variant runs once to its end.
///
/// Load of other programs, and the machine's own changes of speed, are different in each round. Several rounds show how
/// much of a difference they explain.
public enum Rounds {
  /// The number of rounds if a round is short.
  public static let usual = 3
  /// A round is short if it takes at most this many seconds.
  public static let longestShortSeconds = 60

  /// How many rounds there are if the user does not choose.
  ///
  /// - Parameter first: the duration of the first round.
  public static func count(first: Duration) -> Int { first <= .seconds(longestShortSeconds) ? usual : 1 }

  /// The order of the variants in a round. Each round begins with the variant that was second in the round before, so
  /// that no variant is always the first.
  ///
  /// - Parameters:
  ///   - all: the variants; at least one.
  ///   - round: its number, from 1.
  public static func order(of all: [Variant], in round: Int) -> [Variant] {
    let first = (round - 1) % all.count
    return Array(all[first...] + all[..<first])
  }
}
