import Files

/// What is remembered of one source.
public struct LedgerEntry: Sendable, Equatable {
  /// What distinguishes a file from an earlier one of the same path.
  public struct Version: Sendable, Equatable {
    public let bytes: Int
    /// The modification time in nanoseconds since 1970.
    public let modified: Int

    public init(bytes: Int, modified: Int) { (self.bytes, self.modified) = (bytes, modified) }
  }

  public enum Outcome: Sendable, Equatable {
    /// So many thumbnails are there.
    ///
    /// - Parameter first: the place of one of them in the output folder; nil if it has none there.
    case made(thumbnails: Int, first: Path?)
    /// - Parameters:
    ///   - kind: the category, in one word.
    ///   - reason: one line without the name of the source.
    case failed(kind: String, reason: String)
    /// The process died so many times while the source was under way.
    case suspect(deaths: Int)
  }

  /// The path of the source. It leads from the output folder, so that both can be moved together.
  public let source: Path
  /// Nil if the source was not opened.
  public var version: Version?
  public var outcome: Outcome
  /// A hash of all bytes of the source; nil if it was not read for that.
  public var hash: UInt64?
  /// A fingerprint of the settings that the outcome may depend on.
  public var settings: String
  /// The version of the program.
  public var program: String
  /// When this happened, in seconds since 1970.
  public var time: Int
  /// When it happened for the first time with this version of the source, in seconds since 1970.
  public internal(set) var since: Int
  /// How often it happened with this version of the source.
  public internal(set) var times = 1

  public init(
    _ source: Path, version: Version?, outcome: Outcome, settings: String, program: String, time: Int
  ) {
    (self.source, self.version, self.outcome) = (source, version, outcome)
    (self.settings, self.program, self.time, since) = (settings, program, time, time)
  }
}
