import Fetching
import Files
import Marks
import Places
import Sourcing
import Thumbnails

/// What the results that are there tell of sources from the network.
///
/// *Concurrency*: from any thread.
struct RemoteResults: Sendable {
  /// Looks at the results in folders.
  let state: @Sendable (Source, RemoteAddress, Path) -> SettingsStamp.RemoteState
  /// Asks for the results in buckets; nil if they are in folders.
  let lookUp: (@Sendable (Source, Path, _ isCancelled: () -> Bool) throws(OutputError) -> KnownThumbnails?)?
  /// What is made of a source, which decides how much of it is fetched; empty if all of it is needed.
  let options: [ThumbnailOptions]

  /// Those without a file for each source, of which something else tells.
  init(state: @escaping @Sendable (Source) -> SettingsStamp.RemoteState) {
    self.state = { source, _, _ in state(source) }
    (lookUp, options) = (nil, [])
  }

  /// Those of thumbnails. Without outputs, there are no results.
  init(_ outputs: [ThumbnailOutput]) {
    @Sendable func kept(
      _ source: Source, _ place: Path, _ isCancelled: () -> Bool
    ) throws(OutputError) -> KnownThumbnails? {
      try ThumbnailOutput.kept(in: outputs, of: source, place, isCancelled: isCancelled)
    }
    state = { source, address, place in
      SettingsStamp.RemoteState.together(outputs.map { $0.remoteState(of: source, address, place) })
    }
    lookUp = outputs.first?.destination == nil ? nil : kept
    options = outputs.map(\.options)
  }
}
