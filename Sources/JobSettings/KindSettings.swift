import Files

/// What the settings say of the kind of a job: what it makes of each source.
package protocol KindSettings: Sendable, Equatable {
  var words: ResultWords { get }
  /// Whether it needs all of a source from the network.
  var needsWholeSources: Bool { get }

  /// Where the results go: folders or a file; empty for lines, with which the receiver of the job's events does something.
  func places(in job: JobSettings) -> [Path]

  /// - Throws: ``TextError`` if the settings of the kind cannot be.
  func validate() throws(TextError)
}

extension KindSettings {
  package var needsWholeSources: Bool { true }
  package func places(in job: JobSettings) -> [Path] { [] }
  package func validate() throws(TextError) {}
}

/// What the results of a kind of job are called. The plural has an s.
package struct ResultWords: Sendable, Equatable {
  /// One result, such as `thumbnail`.
  package let result: String
  /// A source that can have one, such as `picture`.
  package let source: String
  /// Whether results are files with names, several of a source. Otherwise a source has one, which is a line of text.
  package let areFiles: Bool

  package init(result: String, source: String, areFiles: Bool) {
    (self.result, self.source, self.areFiles) = (result, source, areFiles)
  }
}

/// Thumbnails, which go to the outputs of the job.
package struct ThumbnailKind: KindSettings {
  package let words = ResultWords(result: "thumbnail", source: "picture", areFiles: true)
  package let needsWholeSources = false

  package init() {}

  package func places(in job: JobSettings) -> [Path] { job.outputs.map(\.folder) }
}

/// Compares kinds of jobs, as settings need.
@propertyWrapper package struct ComparableKind: Sendable, Equatable {
  package var wrappedValue: any KindSettings

  package init(wrappedValue: any KindSettings) { self.wrappedValue = wrappedValue }

  package static func == (one: ComparableKind, other: ComparableKind) -> Bool {
    func equals<Kind: KindSettings>(_ one: Kind) -> Bool { one == other.wrappedValue as? Kind }
    return equals(one.wrappedValue)
  }
}

extension JobSettings {
  /// Where the results go; empty for lines without a place.
  package var places: [Path] { kind.places(in: self) }

  /// How sources are fetched.
  package var networkInUse: NetworkSettings {
    var network = network
    if kind.needsWholeSources { network.extent = .whole }
    return network
  }
}
