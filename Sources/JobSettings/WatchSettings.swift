import Files

/// How a job follows its source folders after it has made their thumbnails.
package struct WatchSettings: Sendable, Equatable {
  /// The time between two walks where it is not given.
  package static let usualPoll = Duration.seconds(10)

  /// The time between two walks over all folders; nil to walk again only those whose file system does not report changes,
  /// every ``usualPoll``.
  package var poll: Duration?

  /// The time between two looks at the files that have several names.
  package var linkPause = usualPoll

  package init() {}

  /// - Throws: ``TextError`` for settings of a job that ends, and for those whose memory would grow for ever.
  func validate(_ job: JobSettings) throws(TextError) {
    func refuse(_ setting: String, _ isSet: Bool, _ reason: String) throws(TextError) {
      if isSet { throw TextError(in: setting, reason) }
    }
    let endless = "a watch has no end; use it with run"
    for kind in job.joins.paths.map(\.kind) {
      throw TextError(in: kind.setting, "made of all thumbnails, and \(endless)")
    }
    try refuse("for", job.runFor != nil, endless)
    try refuse("halt", job.halt != nil, "a watch goes on after failures")
    try refuse("dry-run", job.dryRun, endless)
    try refuse("force", job.force, "a watch would never be done; use it with run before")
    try refuse(
      "shard", job.shardChoice != nil, "a watch makes all files that change; give each watch folders of its own")
    try refuse(
      "name", job.outputs.contains { $0.name != nil },
      "a watch needs thumbnails that mirror the folders, to find those of a folder that is gone")
    for source in job.sources {
      guard case .path(let path) = source else {
        let kind = if case .address = source { "a URL" } else { "a list" }
        throw TextError("\(source): \(kind) cannot be watched; name folders")
      }
      if FileStatus.isRegular(path, followingLinks: true) {
        throw TextError("\(path.printable): a file; a watch needs its folder, and “include”")
      }
    }
  }
}
