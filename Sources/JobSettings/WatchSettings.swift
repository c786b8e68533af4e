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
    for setting in JobSettings.thumbnailSettings + JobSettings.ownSettings { try setting.checkWatch(job) }
    for source in job.sources {
      guard case .path(let path) = source else {
        let kind = if case .address = source { "a URL" } else { "a list" }
        throw TextError("\(source): \(kind) cannot be watched; name folders")
      }
      if FileStatus.isRegular(path, followingLinks: true) {
        throw TextError("\(path.printable): a file; a watch needs its folder, and “include”")
      }
      let folder = path.absolute ?? path
      for output in job.outputs
      where output.name != nil && output.layout == nil && (output.folder.absolute ?? output.folder).below(folder) != nil
      {
        throw TextError(
          in: "name",
          "a folder of photos that is renamed would take its thumbnails along; with a watch, name an “out” "
            + "outside of \(path.printable)")
      }
    }
  }
}
