import BoundedQueue
import Files
import Foundation
import JobSettings
import Jobs
import Sourcing

/// The last lines of a run: the answer, the sources that were not made, and how to go on if work remains. With `-v`
/// also the peaks, which show that the run kept its limits.
struct Summary {
  let report: JobReport
  let settings: RunSettings

  private var tally: JobTally { settings.job.knownFailures == .ok ? report.tally.withKnown : report.tally }
  private var words: ResultWords { report.words }

  /// - Parameter columns: the width of the terminal; nil for no limit.
  func text(columns: Int?) -> StyledText {
    var (style, parts) = answer
    if let shard = settings.job.shard { parts[0] = "share \(shard): \(parts[0])" }
    var lines = [StyledText(parts.map { StyledText($0) }.folded(separator: " ", to: columns).text, style)]
    if !others.isEmpty { lines.append(others.folded(separator: " · ", to: columns)) }
    lines += joins + notes
    if settings.verbose { lines += ([volume] + fetches + reads + [bounds, memory]).map { StyledText($0) } }
    if report.workRemains { lines.append(StyledText(wayOn, .warning)) }
    return lines.joined(separator: "\n")
  }

  /// The warnings that even a quiet run prints: it stopped early; its thumbnails have other places than before; it found no
  /// picture, perhaps because a disk is not mounted; or a pattern matched nothing. Nil if there are none.
  var warnings: StyledText? {
    // An empty list is usual, such as that of the new photos; so is an empty share.
    let isOnlyLists =
      settings.job.shard != nil || settings.job.sources.allSatisfy { if case .list = $0 { true } else { false } }
    let lines =
      (isWithoutPictures && !isOnlyLists ? [StyledText(noPicture, .warning)] : []) + unmatchedIncludes + otherTree
      + (report.workRemains ? [StyledText(wayOn, .warning)] : [])
    return lines.isEmpty ? nil : lines.map { StyledText("thumbjob: ", .warning) + $0 }.joined(separator: "\n")
  }

  // MARK: The answer

  private var answer: (style: StyledText.Style, parts: [String]) {
    let isDry = settings.job.dryRun
    if !words.areFiles, tally.made > 0 { return (.answer, [lines]) }
    if tally.thumbnails > 0 {
      if isDry { return (.answer, ["would make \(thumbnails)", "→ \(places)\(details([sizes]))"]) }
      let details = details([sizes, ByteCount.file(tally.bytesWritten), rate])
      return (.answer, ["\(thumbnails) in \(Units.time(report.elapsed))", "→ \(places)\(details)"])
    }
    // Without fetching a picture, its thumbnails are not known.
    if isDry, tally.made > 0 {
      return (.answer, ["would make the thumbnails of \(Units.count(tally.made, "picture"))", "→ \(places)"])
    }
    if tally.upToDate > 0 { return (.answer, ["\(isDry ? "would make nothing; " : "")\(tally.upToDate) up to date"]) }
    if isWithoutPictures { return (.warning, [noPicture]) }
    return (
      tally.failed > 0 ? .failure : .warning,
      [isDry ? "would make nothing" : "no \(words.result) made in \(Units.time(report.elapsed))"]
    )
  }

  private var lines: String {
    let count = Units.count(tally.made, words.result)
    if settings.job.dryRun { return "would make \(count)" }
    let isLong = report.elapsed >= .seconds(1)
    let rate = isLong ? "\(ByteCount.file(Int(report.bytesPerSecond)))/s" : nil
    return "\(count) made in \(Units.time(report.elapsed))\(details([ByteCount.file(tally.bytesRead), rate]))"
  }

  /// With several sizes, there are more thumbnails than pictures; there may be some of a picture that failed or was
  /// cancelled.
  private var thumbnails: String {
    let count = Units.count(tally.thumbnails, "thumbnail")
    if tally.thumbnails == tally.made { return count }
    let pictures = Units.count(tally.made, "picture")
    let each = settings.job.outputs.reduce(0) { $0 + $1.sizes.count * $1.formats.count }
    return tally.thumbnails == each * tally.made ? "\(count) of \(pictures)" : "\(count) (\(pictures) complete)"
  }

  private var places: String {
    PlaceText.text(settings.job.outputs.map { PlaceText.text($0.folder.printable) })
  }

  private var sizes: String? {
    guard settings.job.outputs.count == 1, let output = settings.job.outputs.first else { return nil }
    let counts = [(output.sizes.count, "sizes"), (output.formats.count, "formats")].filter { $0.0 > 1 }
    return counts.isEmpty ? nil : counts.map { "\($0) \($1)" }.joined(separator: ", ")
  }

  /// Nil for a run so short that its rate says little.
  private var rate: String? {
    report.elapsed < .seconds(1) ? nil : "\(Units.decimal(report.thumbnailsPerSecond)) a second"
  }

  private func details(_ parts: [String?]) -> String {
    let parts = parts.compactMap { $0 }
    return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
  }

  /// Whether the run reached every source and found no picture, not even one that failed.
  private var isWithoutPictures: Bool {
    !report.workRemains && tally.found == passedOver.reduce(0) { $0 + $1.count } && tally.missingArguments == 0
  }

  private var noPicture: String {
    let sources = settings.job.sources.map { source in
      if case .path(let path) = source { PlaceText.text(path.printable) } else { "\(source)" }
    }
    return "no \(tally.unsupported.isEmpty ? "" : "readable ")\(words.source) found in \(PlaceText.text(sources))"
  }

  // MARK: What was not made

  /// Everything but the answer: each source found is counted once, here or in the answer. Operations that were cancelled
  /// for a dependency have no source.
  private var others: [StyledText] {
    let walk = report.walk
    var parts: [StyledText] = []
    func add(_ count: Int, _ text: String, _ style: StyledText.Style? = nil) {
      if count > 0 { parts.append(StyledText(text, style)) }
    }
    for counter in JobTally.counters {
      if let text = counter.text(of: tally) { parts.append(StyledText(text, counter.isFault ? .failure : nil)) }
    }
    add(passedOver.count, passedOverText)
    let first =
      walk.firstInOutput.map { walk.inOutput == 1 ? " (\($0.printable))" : " (such as \($0.printable))" } ?? ""
    add(walk.inOutput, "\(walk.inOutput) in the output folder passed over\(first)")
    add(walk.filtered, "\(walk.filtered) excluded")
    add(walk.hidden, "\(walk.hidden) hidden passed over")
    add(walk.inOtherShards, "\(walk.inOtherShards) in other shares")
    add(walk.linksNotFollowed, Units.count(walk.linksNotFollowed, "link") + " not followed")
    add(walk.special, Units.count(walk.special, "special file") + " skipped")
    let notReached = report.notReached ?? 0
    add(notReached, "\(notReached) not reached", .warning)
    let dependants = report.counters.cancelledForDependencies
    add(dependants, Units.count(dependants, "operation") + " cancelled for a dependency", .warning)
    let names = settings.verbose || tally.cancelled == 0 ? "" : " (-v names each)"
    add(tally.cancelled, "\(tally.cancelled) cancelled\(names)", .warning)
    return parts
  }

  /// Sources that were passed over, by kind.
  private var passedOver: [(count: Int, kind: String)] {
    let types = tally.unsupported.sorted { $0.key.rawValue < $1.key.rawValue }
    let drawings = tally.otherFormats.filter(\.key.isDrawing).sorted { $0.key.rawValue < $1.key.rawValue }
    let others = tally.notImages - drawings.reduce(0) { $0 + $1.value }
    let kinds =
      [(others, others == 1 ? "not an image" : "not images"), (tally.ownThumbnails, "made by thumbjob")]
      + drawings.map { ($0.value, "\($0.key.displayName), not read") }
      + types.map { ($0.value, "\($0.key.displayName), not read") } + [(tally.duplicates, "given more than once")]
    return kinds.filter { $0.0 > 0 }
  }

  private var passedOverText: String {
    let count = passedOver.reduce(0) { $0 + $1.count }
    let kinds = passedOver.count == 1 ? passedOver.map(\.kind) : passedOver.map { "\($0.count) \($0.kind)" }
    return "\(count) passed over (\(kinds.joined(separator: "; ")))"
  }

  private var unmatchedIncludes: [StyledText] { unmatched(report.unmatchedPatterns.includes, of: "--include") }

  private func unmatched(_ globs: [Glob], of option: String) -> [StyledText] {
    let patterns = globs.map(\.description).joined(separator: ", ")
    return globs.isEmpty ? [] : [StyledText("\(option) \(patterns): matched nothing", .warning)]
  }

  private var otherTree: [StyledText] {
    guard tally.thumbnails > 0, let tree = report.tree,
      let last = report.earlier.lazy.compactMap(\.lastTree).first(where: { !$0.isEmpty && $0 != tree })
    else { return [] }
    let verb = settings.job.dryRun ? "would mirror" : "mirror"
    return [
      StyledText(
        "the thumbnails \(verb) the tree below \(tree.printable); those made before mirror the one below "
          + last.printable, .warning)
    ]
  }

  /// What a user may want to change before the next run.
  private var notes: [StyledText] {
    var lines = unmatchedIncludes + unmatched(report.unmatchedPatterns.excludes, of: "--exclude")
    if let pruned = report.pruned, pruned.thumbnails > 0 {
      lines.append(StyledText("\(settings.job.dryRun ? "would remove" : "removed") \(PruneText.text(pruned))"))
    }
    if let pruned = report.pruned, pruned.outOfReach > 0 {
      let count = Units.count(pruned.outOfReach, "missing photo")
      lines.append(
        StyledText(
          "kept the thumbnails of \(count), because a folder is empty: perhaps a file system is not mounted; if it is, "
            + "remove the folder", .warning))
    }
    if report.moved > 0 {
      lines.append(StyledText("moved the thumbnails of \(Units.count(report.moved, "photo")) with another path"))
    }
    if let gone = report.gone { lines.append(StyledText(PruneText.text(gone))) }
    let left = report.pruned == nil ? report.earlier.flatMap(\.left) : []
    if !left.isEmpty {
      let sets = left.map { set in
        let format = set.format == .jpeg ? "" : ", \(set.format.type.displayName)"
        return "\(set.folder.printable) (size \(printableText(of: Array(set.size.utf8)))\(format))"
      }
      // With some names, a run cannot prune.
      let mayPrune = settings.job.outputs.allSatisfy { $0.name?.factKinds.areInPhoto != true }
      lines.append(
        StyledText(
          "left as they were, from earlier runs with other sizes or formats: thumbnails in "
            + sets.joined(separator: ", ") + (mayPrune ? "; --prune removes them" : "")))
    }
    if report.replacedOthers > 0 {
      let count = Units.count(report.replacedOthers, "thumbnail")
      lines.append(StyledText("replaced \(count) of other sources, which exist", .warning))
    }
    if report.replaced > 0, report.earlier.contains(where: \.hasOtherSize) {
      let count = Units.count(report.replaced, "thumbnail")
      lines.append(StyledText("replaced \(count) of another size; several -s make and keep several"))
    }
    lines += otherTree
    if tally.refusedMemory > 0, let option = Advice.memoryOption(for: tally.mostMemoryNeeded, in: report.memory) {
      lines.append(
        StyledText("\(Units.count(tally.refusedMemory, "source")) refused for memory; \(option) would allow all"))
    }
    return lines
  }

  private var wayOn: String {
    "\(report.whyWorkRemains); \(report.stopCause?.wayOn ?? StopCause.usualWayOn)"
  }

  // MARK: What was made of all thumbnails

  private var joins: [StyledText] {
    report.joins.compactMap { join in
      let name = "\(join.kind.rawValue) \(join.path.printable)"
      let count = Units.count(join.count, join.kind.part)
      switch join.result {
      case .made: return StyledText("\(name): \(count)", .answer)
      case .unchanged: return StyledText("\(name): \(count), up to date")
      case .notMade(.user) where report.stopCause == nil:
        return StyledText("\(name): not made, cancelled by the user", .warning)
      case .notMade: return StyledText("\(name): not made, because the run stopped", .warning)
      case .withheld, .failed: return nil  // a line before has said why
      }
    }
  }

  // MARK: The proof of the limits

  private var volume: String {
    "\(Units.count(tally.found, "source")) found; \(ByteCount.file(tally.bytesRead)) read at "
      + "\(ByteCount.file(Int(report.bytesPerSecond)))/s"
  }

  private var reads: [String] {
    guard let reads = report.reads else { return [] }
    return [
      "\(Units.count(reads.files, "file")) read ahead by \(Units.count(reads.readers, "reader")): "
        + "\(ByteCount.file(reads.bytes))"
    ]
  }

  private var fetches: [String] {
    guard let fetches = report.fetches else { return [] }
    return [
      "\(Units.count(fetches.fetched, "source")) fetched, \(fetches.unchanged) unchanged: \(ByteCount.file(fetches.bytes)) "
        + "received; at most \(fetches.peak) of \(settings.job.network.connections) at once"
    ]
  }

  private var bounds: String {
    let counters = report.counters
    return
      "within bounds: at most \(counters.peakRunning) of \(report.limits.maxConcurrentOperations) running, \(counters.peakWaiting) of "
      + "\(report.limits.backlog) waiting, \(reserved), \(ByteCount.memory(report.peakMemory)) held in all"
  }

  private var reserved: String {
    let (peak, budget) = (report.counters.peakReserved, report.limits.budget?.bytes ?? 0)
    if peak <= budget { return "\(ByteCount.memory(peak, of: budget)) reserved" }
    return "\(ByteCount.memory(peak)) reserved by one operation alone (\(ByteCount.memory(budget)) by several)"
  }

  private var memory: String {
    var line = "memory: "
    if let ratio = report.worstMemoryRatio {
      line +=
        "held at most \(String(format: "%.2f", ratio)) times what was reserved, beyond the "
        + "\(ByteCount.memory(report.memory.baseline)) at the start · "
    }
    if report.pressureSource == .off { return line + "pressure not watched" }
    line += "pressure (from \(report.pressureSource)): "
    var events: [String] = []
    if tally.pressureWarnings > 0 { events.append(Units.count(tally.pressureWarnings, "warning")) }
    if tally.pressureCriticals > 0 { events.append("\(Units.count(tally.pressureCriticals, "time")) critical") }
    if tally.requeued > 0 { events.append("\(Units.count(tally.requeued, "operation")) requeued") }
    return line + (events.isEmpty ? "none" : events.joined(separator: ", "))
  }
}
