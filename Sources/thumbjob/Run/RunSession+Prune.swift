import Files
import Foundation
import Jobs
import Places

// --prune: what is removed after the run.
extension RunSession {
  /// Removes the thumbnails of sources and sizes that are gone, if the run was asked to and may. On a terminal it asks
  /// first. A dry run lists them.
  ///
  /// - Returns: nil if it was not asked for, refused or declined.
  func prune(_ job: Job, after report: inout JobReport) -> PruneCounts? {
    guard settings.job.prune != nil, settings.job.watch == nil, !job.isStopping else { return nil }
    let plan = job.prunePlan(after: report)
    report.pruneRefusals = plan.refusals
    for refusal in plan.refusals {
      let way = refusal.wayOn.map { "; --prune=\($0.rawValue) removes their thumbnails" } ?? ""
      let extent = plan.isEmpty ? "nothing" : "not everything"
      messages.printLine("thumbjob: --prune: \(extent) removed, because \(refusal)\(way)", .warning)
    }
    if plan.isEmpty { return nil }
    let isDry = settings.job.dryRun
    if !isDry, console.isTerminal, isatty(STDIN_FILENO) == 1 {
      let expected = job.prune(plan, isDryRun: true, onThumbnail: { _, _ in }, onError: { _ in })
      messages.drain()
      let question = "thumbjob: remove \(PruneText.text(expected)) (--dry-run lists them)? [y/N] "
      guard expected.thumbnails == 0 || console.confirm(question, shouldStop: { job.isStopping }), !job.isStopping
      else {
        messages.printLine("thumbjob: --prune: nothing removed", .warning)
        return nil
      }
    }
    return job.prune(
      plan, isDryRun: isDry, onThumbnail: { [self] in printPruned($0, bytes: $1) },
      onError: { [self] in printUnpruned($0) })
  }

  private func printPruned(_ path: Path, bytes: Int) {
    let isDry = settings.job.dryRun
    write(RemovalLine(path, .success(bytes), isDryRun: isDry))
    if isDry && !settings.json {
      if !output.write(plain: "would remove \(path.printable)") { stopForLostOutput() }
    } else if settings.verbose {
      messages.printLine("\(isDry ? "would remove" : "removed") \(path.printable)")
    }
  }

  private func printUnpruned(_ error: OutputError) {
    write(RemovalLine(error.path, .failure(error), isDryRun: settings.job.dryRun))
    messages.printLine("thumbjob: --prune: \(Advice.line(error))", .failure)
  }
}

/// The words for what `--prune` removes or would remove.
enum PruneText {
  static func text(_ gone: GoneResults) -> String {
    let subject =
      Units.count(gone.thumbnails, "thumbnail") + (gone.thumbnails == 1 ? " is of a photo" : " are of photos")
    let isOne = gone.thumbnails == 1
    if !gone.areFound {
      return subject + (isOne ? " that is" : " that are")
        + " gone; where \(isOne ? "it is" : "they are"), only the manifest "
        + "of an earlier run tells (docs/manifest.md)"
    }
    let option = gone.mode == .yes ? "--prune" : "--prune=\(gone.mode.rawValue)"
    let reason = gone.refusal.map { ", although \($0)" } ?? ""
    return subject + (isOne ? " that is" : " that are")
      + " gone; \(option) removes \(isOne ? "it" : "them")\(reason); \(option) --dry-run lists "
      + (isOne ? "it" : "them")
  }

  static func text(_ counts: PruneCounts) -> String {
    "\(Units.count(counts.thumbnails, "thumbnail")) (\(ByteCount.file(counts.bytes))) whose sources or sizes are gone"
  }
}
