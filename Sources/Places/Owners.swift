import Files
import Marks
import Sourcing

/// Tells whose thumbnail is in a place: a source never takes the thumbnail of another one that still exists.
///
/// *Concurrency*: from any thread.
package struct Owners: Sendable {
  /// Who has a place that a source wants.
  package enum Owner: Equatable {
    /// The source itself, one that is gone, or one that does not get the place.
    case nobodyElse
    /// Another source, which exists.
    case other
    /// A source that is not known.
    case unknown
  }

  /// The absolute paths of the sources that a key stands for, as far as they are remembered.
  package let remembered: @Sendable (SourceKey) -> [Path]
  /// Forgets the sources that a key stands for, whose thumbnail was replaced.
  package let forget: @Sendable (SourceKey) -> Void
  package let plan: OutputPlan
  /// The folder where the tree of the job begins; nil if it is not known.
  package let tree: Path?

  package init(
    remembered: @escaping @Sendable (SourceKey) -> [Path], forget: @escaping @Sendable (SourceKey) -> Void,
    plan: OutputPlan, tree: Path?
  ) {
    (self.remembered, self.forget, self.plan, self.tree) = (remembered, forget, plan, tree)
  }

  /// Whose thumbnail the file with this mark is.
  ///
  /// - Parameters:
  ///   - file: its place in the output.
  ///   - place: the place of the source's thumbnails, from ``OutputPlan``.
  ///   - source: wants the place.
  package func owner(
    of mark: ThumbnailMark, in file: Path, at place: Path, for source: Source, in output: ThumbnailOutput
  ) -> Owner {
    // The name of an entry in the cache of desktops is that of one photo only.
    guard mark.source != output.key(of: source), output.layout != .freedesktop else { return .nobodyElse }
    var others = neighbours(in: file, at: place, in: output)
    if let there = mark.source {
      others = others.filter { output.key(ofFile: $0) == there }
      if others.isEmpty { others = remembered(there) }
      if others.isEmpty { return .unknown }
    }
    let itself = FileIdentity(of: source.path)
    var vanished = VanishedSources()
    return others.contains { other in
      if let itself, FileIdentity(of: other) == itself { return false }
      if vanished.state(of: other) == .gone { return false }
      guard let relative = plan.relativePath(of: other) else { return true }
      // A place that the other one had in an earlier run is free.
      let places = output.places(of: other, relative)
      // Of two sources of the job the plan decides, and it has given the place to this one. Where a pattern names the
      // thumbnails, the first of the two keeps it.
      if places.contains(file) { return !output.isMirrored }
      // The plan does not know which names the file system takes for the same: `A.jpg` and `a.jpg`.
      return output.isOneFile(file, with: places)
    } ? .other : .nobodyElse
  }

  /// The sources whose thumbnail an earlier run, or this one, may have put in the place of a file, if thumbnails mirror a tree.
  private func neighbours(in file: Path, at place: Path, in output: ThumbnailOutput) -> [Path] {
    let claims = output.options.formats.filter(file.hasName(of:)).flatMap { OutputPlan.claims(to: place.named(as: $0)) }
    var trees = [output.earlier.lastTree, tree].compactMap { $0 }.filter { !$0.isEmpty }
    if trees.count == 2, trees[0] == trees[1] { trees.removeLast() }
    return trees.flatMap { tree in claims.map { tree.appending($0) } }
  }
}
