import Files

/// What is remembered of one source.
package struct LedgerEntry: Sendable, Equatable {
  /// What distinguishes a file from an earlier one of the same path.
  package struct Version: Sendable, Equatable {
    package let bytes: Int
    /// The modification time in nanoseconds since 1970, modulo 2⁶⁴ and as a signed number. It is for comparing only: equal
    /// times have equal numbers, but outside the years 1677 to 2262 a number does not tell the time.
    package let modified: Int
    /// A fingerprint of size, times and file number, which changes with every file that takes the path and with every
    /// change of the file; nil in entries of earlier versions of the program. These fit no file.
    package let state: Int?

    package init(bytes: Int, modified: Int, state: Int? = nil) {
      (self.bytes, self.modified, self.state) = (bytes, modified, state)
    }

    /// Whether both are one file, unchanged.
    package func isSame(as other: Version?) -> Bool { state != nil && self == other }
  }

  package enum Outcome: Sendable, Equatable {
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

    /// After so many deaths of the process a source is taken for their cause, and has failed for good.
    package static var mostDeaths: Int { 3 }

    /// What runs and reports say: a suspect of too many deaths has failed. The ledger keeps it as a suspect, because it
    /// stays one if the file is moved or tried again.
    package var verdict: Outcome {
      guard case .suspect(let deaths) = self, deaths >= Self.mostDeaths else { return self }
      return .failed(kind: "source", reason: "the process died \(deaths) times while it was being made")
    }
  }

  /// The path of the source. It leads from the output folder, so that both can be moved together.
  package let source: Path
  /// Nil if the source was not opened.
  package var version: Version?
  package var outcome: Outcome
  /// A hash of all bytes of the source; nil if it was not read for that.
  package var hash: UInt64?
  /// The SHA-256 digest of all bytes of the source; nil if none was asked for.
  package var digest: [UInt8]?
  /// A fingerprint of the files of its thumbnails; nil if it was not taken. It changes with every file that takes the place
  /// of one of them.
  package var thumbnails: Int?
  /// A hash of what its thumbnails look like, which were made of the contents with ``hash``; nil if it is not known.
  package var looks: UInt64?
  /// Identifies the source in the marks of its thumbnails; nil if no thumbnail names it.
  package var key: UInt64?
  /// A fingerprint of the settings that the outcome may depend on.
  package var settings: String
  /// The version of the program.
  package var program: String
  /// When this happened, in seconds since 1970.
  package var time: Int
  /// The same in nanoseconds: of several entries of one source, the latest counts.
  package var moment: Int
  /// When it happened for the first time with this version of the source, in seconds since 1970.
  package internal(set) var since: Int
  /// How often it happened with this version of the source.
  package internal(set) var times = 1

  package init(
    _ source: Path, version: Version?, outcome: Outcome, settings: String, program: String, time: Int
  ) {
    (self.source, self.version, self.outcome) = (source, version, outcome)
    (self.settings, self.program, self.time, since) = (settings, program, time, time)
    moment = time.multipliedReportingOverflow(by: 1_000_000_000).partialValue
  }
}
