import BoundedQueue
import Foundation
import Thumbnails

// Joins: what the job makes of all its thumbnails, besides them.
extension Job {
  /// Gives a source its place on the contact sheet, and submits the page if it is full.
  func putOnSheet(_ source: Source, _ content: SheetPageOperation.Cell.Content) {
    guard let sheet = joins?.sheet, isOnSheet(source) else { return }
    if let page = sheet.add(source, content, memory: memory) { _ = submit(page) }
  }

  /// Whether a source gets a place on the contact sheet: a photo, or a file that is named like one. Only the contents tell
  /// whether a file with another name is a photo, and whether one is a thumbnail, as beside the photos.
  private func isOnSheet(_ source: Source) -> Bool {
    if source.address != nil { return true }
    return source.relativePath.hasPictureName
      ? ThumbnailMark(of: source.path, in: AT_FDCWD) == nil : SourceFile.isPicture(source.path)
  }

  func submitLastPage() {
    if let page = joins?.sheet?.lastPage(memory: memory) { _ = submit(page) }
  }

  /// Submits new operations for postponed pages of the contact sheet.
  func resubmitPages() {
    guard let sheet = joins?.sheet else { return }
    for page in sheet.again(memory: memory) { _ = submit(page) }
  }

  /// Makes everything that needs all thumbnails, now that these are done. If the job was stopped, or a folder of photos could
  /// not be read, as where a disk is not mounted, nothing is made, and what an earlier run made stays.
  func makeJoins() -> [JoinReport] {
    guard let joins else { return [] }
    return settings.joins.paths.map { kind, path in
      var report = JoinReport(kind: kind, path: path, result: .notMade(stopReason), count: 0)
      if state.withLock({ $0.tally.missingArguments + $0.tally.unreadable > 0 }) {
        report = JoinReport(kind: kind, path: path, result: .withheld, count: 0)
        onEvent(.join(report))
        return report
      }
      while !isStopping {
        let operation = joins.operation(kind)
        guard submit(operation) else { break }
        queue.drain()
        report = operation.report
        // Memory pressure cancels these operations too. They lose nothing by it.
        if operation.outcome?.cancelReason != .pressure { break }
      }
      onEvent(.join(report))
      return report
    }
  }
}
