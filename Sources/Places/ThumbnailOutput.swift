import Fetching
import Files
import Foundation
import JobSettings
import Marks
import Sourcing
import Thumbnails

/// One output of a job: its folder, its options, and the state of the thumbnails that are already there.
package struct ThumbnailOutput: Sendable {
  package let path: Path
  private let absolutePath: Path
  /// The folder for what a run needs besides thumbnails: that of the thumbnails, unless these go elsewhere.
  package let localPath: Path
  /// Nil if the thumbnails are in a folder.
  package let destination: (any Destination)?
  /// The folder at ``localPath``; nil in a dry run.
  package let folder: OutputFolder?
  package let options: ThumbnailOptions
  /// Makes the places of the thumbnails; nil if they mirror the tree of the sources.
  private let name: NamePattern?
  /// Where other programs look for the thumbnails.
  let layout: Layout?
  private let isForced: Bool
  /// Whether each size has a folder.
  private let hasSizeFolders: Bool
  private let earlierRuns: LookedAtRuns
  /// The thumbnails of earlier runs that a user may not expect.
  package var earlier: EarlierRuns { earlierRuns.found.withLock { $0 } }
  /// One for each rendition, in their order.
  let stamps: [SettingsStamp]

  /// Makes the folder and writes the settings there, unless this is a dry run.
  ///
  /// - Parameters:
  ///   - isForced: whether a source may take the place of another one, whose thumbnail an earlier run made.
  ///   - identity: what other runs in the folder are told of this one.
  /// - Throws: ``OutputError``.
  package init(
    path: Path, name: NamePattern? = nil, layout: Layout? = nil, options: ThumbnailOptions, isForced: Bool = false,
    isDurable: Bool = false,
    isDryRun: Bool, destination: (any Destination)? = nil, work: Path? = nil, as identity: RunIdentity = RunIdentity()
  ) throws(OutputError) {
    localPath = work ?? path
    self.destination = destination
    hasSizeFolders =
      layout?.hasSizeFolders == true || options.sizes.count > 1 && name?.tellsSizes != true
    earlierRuns = LookedAtRuns(Self.earlierRuns(in: localPath, options, name, layout, hasSizeFolders))
    self.path = path
    absolutePath = path.absolute ?? path
    (self.name, self.layout, self.isForced) = (name, layout, isForced)
    self.options = options
    let folder =
      isDryRun
      ? nil
      : try OutputFolder(
        localPath, isForced: isForced, isDurable: isDurable, isPrivate: layout == .freedesktop, as: identity)
    self.folder = folder
    var stamps: [SettingsStamp] = []
    for rendition in options.renditions {
      let settings = Self.settings(options, rendition, name)
      let set = SettingsStamp.SetName(
        folder: options.sizes.count == 1 && !hasSizeFolders ? nil : Path(rendition.size.name), format: rendition.format)
      if let folder {
        stamps.append(try SettingsStamp(renewing: settings, of: set, layout, in: folder))
      } else {
        stamps.append(SettingsStamp(reading: settings, layout, in: localPath))
      }
    }
    self.stamps = stamps
  }

  private static func earlierRuns(
    in folder: Path, _ options: ThumbnailOptions, _ name: NamePattern?, _ layout: Layout?, _ hasSizeFolders: Bool
  ) -> EarlierRuns {
    EarlierRuns(
      in: folder, options, hasSizeFolders: hasSizeFolders, mirrorsTree: name == nil,
      hasForeignThumbnails: layout?.hasSizeFolders == true)
  }

  /// Looks again what earlier runs have left, after another run has ended.
  package func lookAgain() {
    let now = Self.earlierRuns(in: localPath, options, name, layout, hasSizeFolders)
    // By now the folder has the settings of this run.
    earlierRuns.found.withLock {
      $0 = EarlierRuns(left: now.left, hasOtherSize: $0.hasOtherSize, lastTree: now.lastTree)
    }
  }

  /// Notes the folder whose tree the thumbnails mirror, for later runs.
  ///
  /// - Parameter tree: nil if it is not known.
  /// - Throws: ``OutputError``.
  package func note(tree: Path?) throws(OutputError) {
    let tree = tree ?? ""
    guard name == nil, let folder, earlier.lastTree != tree else { return }
    try folder.publishSettings(Array(tree.bytes), to: EarlierRuns.treeFile)
  }

  /// Whether the thumbnails mirror the tree of the sources.
  package var isMirrored: Bool { name == nil }

  /// The folders for thumbnails: one for each size, or only one if there is one size or the names tell the sizes apart.
  package var folders: [Path] {
    hasSizeFolders ? options.sizes.map(folder(of:)) : [path]
  }

  /// The folder below which the thumbnails of a size are.
  package func folder(of size: SizeSpec) -> Path {
    hasSizeFolders ? path.appending(Path(size.name)) : path
  }

  /// The folders for thumbnails in the output folder; the empty path for that folder itself.
  package var sizeFolders: [Path] {
    hasSizeFolders ? options.sizes.map { Path($0.name) } : [Path()]
  }

  /// The place of a thumbnail.
  ///
  /// - Parameter place: the place of the source's thumbnails, from ``OutputPlan``.
  package func place(of source: Source, _ place: Path, _ rendition: Rendition) -> Path {
    guard let name else { return mirroredPlace(place, rendition) }
    let named = name.place(
      of: source.relativePath, rendition, source.nameFacts, settings: Self.settings(options, rendition, name))
    return inSizeFolder(named, rendition.size)
  }

  /// The place of a thumbnail that mirrors the tree of the sources.
  func mirroredPlace(_ place: Path, _ rendition: Rendition) -> Path {
    inSizeFolder(place.named(as: rendition.format), rendition.size)
  }

  private func inSizeFolder(_ place: Path, _ size: SizeSpec) -> Path {
    hasSizeFolders ? Path(size.name).appending(place) : place
  }

  /// A thumbnail of a source, its place, and what thumbnails there are marked with.
  package struct Slot {
    let rendition: Rendition
    package let place: Path
    let stamp: SettingsStamp
    /// Whether an earlier size has this place too, so that its thumbnail is there already.
    package let isShared: Bool
  }

  /// The thumbnails of a source, in the order of the options. Of those that share a place, each has the stamp of the first one.
  ///
  /// - Parameter place: the place of the source's thumbnails, from ``OutputPlan``.
  func slots(of source: Source, _ place: Path) -> [Slot] {
    var slots: [Slot] = []
    for (rendition, stamp) in zip(options.renditions, stamps) {
      let place = self.place(of: source, place, rendition)
      let first = factKinds.contains(.pixels) ? slots.first { $0.place == place } : nil
      slots.append(Slot(rendition: rendition, place: place, stamp: first?.stamp ?? stamp, isShared: first != nil))
    }
    return slots
  }

  /// - Parameters:
  ///   - place: the place of the source's thumbnails, from ``OutputPlan``.
  ///   - rendition: one of the options.
  package func slot(of source: Source, _ place: Path, _ rendition: Rendition) -> Slot {
    guard let slot = slots(of: source, place).first(where: { $0.rendition == rendition }) else {
      preconditionFailure("the output has no \(rendition.format) of size \(rendition.size.name)")
    }
    return slot
  }

  /// Two sizes whose thumbnails of a source differ, and yet have one place; nil if there are none.
  package func clash(of source: Source, _ place: Path) -> OutputError? {
    guard let pixels = source.nameFacts.pixels else { return nil }
    let slots = slots(of: source, place)
    for (index, slot) in slots.enumerated() {
      let other = slots[..<index].first {
        $0.place == slot.place && $0.rendition.size.placement(for: pixels) != slot.rendition.size.placement(for: pixels)
      }
      if let other {
        return OutputError(.sizesMeet(other.rendition.size, slot.rendition.size), path.appending(slot.place))
      }
    }
    return nil
  }

  /// The places of a source's thumbnails.
  package func places(of path: Path, _ relative: Path) -> [Path] {
    var source = Source(path: path, relativePath: relative, argument: 0, origin: .folder)
    source.nameFacts = NameFacts(of: source, factKinds)
    return options.renditions.map { self.place(of: source, relative, $0) }
  }

  /// What has to be known of a source before its thumbnails have a place.
  package var factKinds: NameFacts.Kinds { name?.factKinds ?? [] }

  /// Whether one of some places leads to the file that is in another one.
  func isOneFile(_ place: Path, with others: [Path]) -> Bool {
    guard let file = FileIdentity(of: path.appending(place)) else { return false }
    return others.contains { FileIdentity(of: path.appending($0)) == file }
  }

  /// The places that a source's thumbnail of another size or format may have, in the folder of that size: that which mirrors it,
  /// and that of the pattern, unless it depends on the size.
  func placesOfOtherSize(of path: Path, _ relative: Path, _ format: ThumbnailFormat) -> [Path] {
    let mirrored = relative.named(as: format)
    guard let name, !name.tellsSizes, !factKinds.areInPhoto else { return [mirrored] }
    let facts = NameFacts(of: Source(path: path, relativePath: relative, argument: 0, origin: .folder), factKinds)
    return [mirrored, name.place(of: relative, Rendition(options.sizes[0], format), facts)]
  }

  /// Puts a thumbnail in place.
  ///
  /// - Parameters:
  ///   - place: the place of the source's thumbnails, from ``OutputPlan``.
  ///   - contents: the contents of the source.
  ///   - description: what the thumbnail is to say about the source; nil if nothing.
  ///   - photo: the size in bytes and the type of the source, for the texts of an entry of desktops; nil if none is written.
  ///   - modified: the modification time for the thumbnail, from ``SourceFile/thumbnailTime``.
  ///   - owners: tells whether another source keeps the place.
  /// - Throws: ``OutputError``.
  package func publish(
    _ thumbnail: Thumbnail, of source: Source, to place: Path, contents: SourceContents,
    description: SourceDescription?, photo: (size: Int, type: ImageType)? = nil, modified: timespec, owners: Owners,
    isCancelled: () -> Bool
  ) throws(OutputError) -> MadeThumbnail {
    guard let folder else { preconditionFailure("only a real run publishes") }
    let wanted = place
    let slot = slot(of: source, place, thumbnail.rendition)
    let place = slot.place
    let mark = slot.stamp.mark.of(contents, markedKey(of: source))
    let bytes: Int
    var (state, looks): (FileState?, UInt64?)
    if let destination {
      let marked = mark.inserted(into: thumbnail.bytes)
      try destination.publish(
        marked, type: thumbnail.format.mediaType, mark, to: place, modified: modified, isCancelled: isCancelled)
      bytes = marked.count
    } else {
      let published = try folder.publish(
        thumbnail: thumbnail.bytes, marked: mark,
        described: description.map { DescriptionComment($0, thumbnail.pixels) },
        entry: entry(of: source, photo, modified), to: place, modified: modified,
        isAmongPhotos: name != nil && layout == nil,
        isForeignKept: layout == nil
          ? nil : { !isForced && slot.stamp.isValid($0, in: place, of: source.path, uri(of: source)) },
        isKept: { owners.owner(of: $0, in: place, at: wanted, for: source, in: self) != .nobodyElse })
      (bytes, state, looks) = (published.bytes, published.state, published.looks)
      if let replaced = published.replaced { owners.forget(replaced) }
    }
    return MadeThumbnail(
      path: path.appending(place), size: thumbnail.size.name, format: thumbnail.format, pixels: thumbnail.pixels,
      bytes: bytes, state: state,
      looks: looks)
  }

  /// The key of a source.
  package func key(of source: Source) -> SourceKey {
    if let address = source.address { return SourceKey(of: address) }
    return key(ofFile: source.path)
  }

  /// The key of a file. Between a folder of this machine and another destination is no path.
  package func key(ofFile path: Path) -> SourceKey {
    SourceKey(of: path, from: destination == nil ? absolutePath : "/")
  }

  /// The key for the mark of a thumbnail; nil elsewhere than in a folder, if only one source can want the place.
  private func markedKey(of source: Source) -> SourceKey? {
    destination == nil || name != nil || source.isContested ? key(of: source) : nil
  }

  /// The state of a source's thumbnails together: that of the first place that cannot be written to, otherwise the
  /// state of the first thumbnail that is not up to date.
  ///
  /// - Parameters:
  ///   - status: the status of the source.
  ///   - files: those in the places of its thumbnails, from ``files(of:_:)``.
  ///   - owners: tells whether another source keeps a place.
  package func state(
    of source: Source, _ place: Path, _ status: stat, files: [stat?], owners: Owners
  ) -> SettingsStamp.State {
    let found = SettingsStamp.FoundSource(
      status: status, key: key(of: source), path: source.path, uri: uri(of: source))
    let states = zip(slots(of: source, place), files).map { slot, file in
      slot.stamp.state(
        of: slot.place, file, source: found,
        owner: { owners.owner(of: $0, in: slot.place, at: place, for: source, in: self) })
    }
    return states.first(where: \.isRefused) ?? states.first { $0 == .missing || $0 == .stale }
      ?? states.first { $0 == .touched } ?? .upToDate
  }

  /// The files in the places of a source's thumbnails, in their order; nil where there is none.
  package func files(of source: Source, _ place: Path) -> [stat?] {
    slots(of: source, place).map { $0.stamp.status(of: $0.place) }
  }

  /// Whether neither a folder is in one of the places of a source's thumbnails, nor something else where its folder would be.
  package func isOpen(_ source: Source, _ place: Path) -> Bool {
    options.renditions.allSatisfy { rendition in
      let file = path.appending(self.place(of: source, place, rendition))
      var folder = file.parent
      while case .failure(.noSuchFileOrDirectory) = FileStatus.of(folder, followingLinks: true), folder != path {
        folder = folder.parent
      }
      guard case .success(let above) = FileStatus.of(folder, followingLinks: true), above.kind == .folder else {
        return false
      }
      return (try? FileStatus.of(file, followingLinks: false).get())?.kind != .folder
    }
  }

  /// What the thumbnails of a source from the network tell of it together. A place that another source has begins with the
  /// output folder.
  package func remoteState(of source: Source, _ address: RemoteAddress, _ place: Path) -> SettingsStamp.RemoteState {
    let states = slots(of: source, place).map { $0.stamp.remoteState(of: $0.place, key: SourceKey(of: address)) }
    let state = SettingsStamp.RemoteState.together(states)
    return if case .isTaken(let place) = state { .isTaken(path.appending(place)) } else { state }
  }

  /// What a source's thumbnails elsewhere than in folders tell of it, if all of them are there and need not be made again.
  ///
  /// - Throws: ``OutputError``; of the kind `taken` if another source has a place.
  package static func kept(
    in outputs: [ThumbnailOutput], of source: Source, _ place: Path, isCancelled: () -> Bool
  ) throws(OutputError) -> KnownThumbnails? {
    var states: [SettingsStamp.RemoteState] = []
    for output in outputs { states.append(try output.keptState(of: source, place, isCancelled: isCancelled)) }
    switch SettingsStamp.RemoteState.together(states) {
    case .isTaken(let place): throw OutputError(.taken, place)
    case .missing: return nil
    case .made(let known): return known
    }
  }

  /// The same for one output. A place that another source has begins with the path of the output.
  private func keptState(
    of source: Source, _ place: Path, isCancelled: () -> Bool
  ) throws(OutputError) -> SettingsStamp.RemoteState {
    guard let destination else { preconditionFailure("the thumbnails are in a folder") }
    var states: [SettingsStamp.RemoteState] = []
    for slot in slots(of: source, place) {
      states.append(
        try destination.state(of: slot.place, key: markedKey(of: source), slot.stamp.mark, isCancelled: isCancelled))
    }
    let state = SettingsStamp.RemoteState.together(states)
    return if case .isTaken(let place) = state { .isTaken(path.appending(place)) } else { state }
  }

  /// Everything except the source that determines the bytes of the thumbnails of all sizes.
  package var settingsText: String { options.renditions.map { Self.settings(options, $0, name) }.joined() }

  /// The chroma of a size's thumbnails, as a part of their settings. Above icons, `auto` makes what `420` makes, except of
  /// pictures that are themselves as small as icons; a thumbnail of these may then stay as it was.
  private static func subsampling(_ options: ThumbnailOptions, _ size: SizeSpec) -> String {
    let isIcon = [size.width, size.height].contains { $0.map { $0 <= ThumbnailOptions.iconSide } ?? false }
    let isUsual = options.subsampling == .auto && !isIcon
    return (isUsual ? .s420 : options.subsampling).rawValue
  }

  /// Everything except the source that determines the bytes of a thumbnail. A pattern is part of it, because the marks
  /// then have keys. The other sizes are not, although a small size that is made from a larger one has a few other bytes:
  /// it looks the same, so a job that no longer makes the larger one keeps it.
  private static func settings(
    _ options: ThumbnailOptions, _ rendition: Rendition, _ name: NamePattern?
  ) -> String {
    let format = rendition.format
    let encoding =
      switch format {
      case .jpeg:
        """
        quality \(options.quality)
        progressive \(options.progressive)
        subsample \(subsampling(options, rendition.size))

        """
      case .webp where options.lossless: "format webp, lossless\n"
      case .webp: "format webp\nquality \(options.quality)\n"
      case .avif: "format avif\nquality \(options.quality)\nsubsample \(subsampling(options, rendition.size))\n"
      case .png: "format png\n"
      }
    return "size \(rendition.size.description)\n" + encoding
      + """
      keep \(options.keep.rawValue)
      linear \(options.linear)
      fail-on \(options.failOn.rawValue)

      """ + (format.hasEffort ? options.effort.map { "effort \($0)\n" } ?? "" : "")
      + (name.map { "name \(Path($0.description).printable)\n" } ?? "") + background(options, format)
      + (options.previews == .auto ? "" : "previews \(options.previews.rawValue)\n")
      // Colours stay as they are then.
      + (BuildTrait.formats.isBuilt ? "" : "profiles kept\n")
  }

  /// What transparent pictures get, unless it is what is usual for a format.
  private static func background(_ options: ThumbnailOptions, _ format: ThumbnailFormat) -> String {
    guard let color = options.background, format.hasAlpha || color != .white else { return "" }
    return "background \(color)\n"
  }
}
