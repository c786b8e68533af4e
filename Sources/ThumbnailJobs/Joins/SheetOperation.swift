import BoundedQueue
import Files

/// Completes a contact sheet, once all its pages are done.
final class SheetOperation: JoinOperation, @unchecked Sendable {  // constant
  private let pages: SheetPages

  init(_ pages: SheetPages) {
    self.pages = pages
    super.init(.contactSheet, pages.path, isDurable: pages.isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) { try pages.finish() }

  override var report: JoinReport {
    var report = super.report
    report.unusable = pages.unusable
    return report
  }
}
