/// A part of the program that a build may leave out. Each part is a trait of the package, and all are on by default.
///
/// ```
/// swift build --traits Formats,Ledger
/// ```
package enum BuildTrait: String, CaseIterable, Sendable {
  /// Pictures of other formats than JPEG, colour profiles, EXIF, and fonts of contact sheets.
  case formats
  /// Sources from the network, and thumbnails in buckets.
  case network
  /// What runs remember of photos for the next one, and lists of checksums.
  case ledger
  /// The status page, and the commands that ask for the status of a run or steer it.
  case endpoint

  package var isBuilt: Bool {
    switch self {
    case .formats:
      #if Formats
      true
      #else
      false
      #endif
    case .network:
      #if Network
      true
      #else
      false
      #endif
    case .ledger:
      #if Ledger
      true
      #else
      false
      #endif
    case .endpoint:
      #if Endpoint
      true
      #else
      false
      #endif
    }
  }

  /// The parts that are left out.
  package static var missing: [BuildTrait] { allCases.filter { !$0.isBuilt } }

  /// - Parameter key: the setting that asks for the part; nil if the command does.
  /// - Throws: ``TextError`` if the part is left out, and `isNeeded`.
  package func require(_ key: String? = nil, if isNeeded: Bool) throws(TextError) {
    guard isNeeded, let absence else { return }
    throw key.map { TextError(in: $0, absence) } ?? TextError(absence)
  }

  /// Says that the program is built without the part, and how to get it; nil if the part is there.
  package var absence: String? {
    isBuilt ? nil : "this thumbjob is built without \(name); build it with the trait \(rawValue.capitalized)"
  }

  /// Follows "without".
  private var name: String {
    switch self {
    case .formats: "colour conversion, EXIF, and formats other than JPEG"
    case .network: "the network"
    case .ledger: "ledgers and checksums"
    case .endpoint: "the status endpoint"
    }
  }
}
