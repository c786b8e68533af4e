import BoundedQueue
import ContactSheet
import Files
import Foundation
import Locking
import SystemPackage
import Thumbnails

/// Adds one page to a contact sheet. It waits for the operations of its sources, which may fail, and for the page before.
final class SheetPageOperation: BoundedOperation, @unchecked Sendable {  // `work` has a lock; the rest is constant
  /// The place of a source on a page.
  struct Cell {
    enum Content {
      /// The operation that makes or describes its thumbnails.
      case operation(SourceOperation)
      /// The source has no operation, for this reason.
      case missing(reason: String)
    }

    let source: Source
    var content: Content
  }

  private enum Work {
    case notDone
    case done
    /// A source, or the page before, will be made again, and then this page.
    case postponed
  }

  /// Counts from 1.
  let number: Int
  let cells: [Cell]
  private let pages: SheetPages
  private let memory: MemoryPlan
  private let work = Locked(Work.notDone)

  /// - Parameter previous: the page before; nil if it is done.
  init(_ number: Int, _ cells: [Cell], after previous: SheetPageOperation?, pages: SheetPages, memory: MemoryPlan) {
    (self.number, self.cells, self.pages, self.memory) = (number, cells, pages, memory)
    let (kind, path) = (JoinKind.contactSheet.rawValue, pages.path.printable)
    super.init(title: "\(kind) \(path), page \(number)", kind: kind, subject: path)
    for case .operation(let operation) in cells.map(\.content) { addDependency(operation, mayFail: true) }
    if let previous { addDependency(previous) }
  }

  /// Whether the page must be made again by a new operation, because memory pressure has cancelled a source.
  var isPostponed: Bool { work.withLock { $0 == .postponed } }

  override func execute() throws {
    guard pages.isNext(self), !cells.contains(where: \.isPostponed) else {
      return work.withLock { $0 = .postponed }
    }
    do {
      try withReservation(of: memory.reservation(for: ContactSheetWriter.bytesNeeded(for: pages.grid))) {
        report(stage: "writing")
        try pages.write(cells.compactMap { $0.shown(memory) }, of: self)
      }
    } catch let error as BudgetExceededError {
      throw JoinError.memory(error, plan: memory)
    }
    work.withLock { $0 = .done }
  }
}

extension SheetPageOperation.Cell {
  /// Whether the source gets a new operation.
  fileprivate var isPostponed: Bool {
    if case .operation(let operation) = content { operation.isRequeued } else { false }
  }

  /// What the page shows; nil if the file turned out to be no photo.
  fileprivate func shown(_ memory: MemoryPlan) -> SheetCell? {
    switch content {
    case .missing(let reason): cell(missing: reason)
    case .operation(let operation):
      switch (operation.outcome, operation) {
      case (.succeeded?, let operation as ThumbnailOperation):
        if case .made? = operation.found.result { cell(operation.found.thumbnails) } else { nil }
      case (.succeeded?, let operation as DescribingOperation):
        if case .pictures(_, let pictures)? = operation.entry?.result { cell(pictures.map(\.thumbnail)) } else { nil }
      case (.failed(let error)?, _): cell(missing: "\(SourceFailure(error, plan: memory))")
      case (.cancelledWhileRunning(.timeout)?, _): cell(missing: "took too long")
      default: cell(missing: "cancelled")
      }
    }
  }

  private func cell(missing reason: String) -> SheetCell {
    SheetCell(caption: caption, picture: .missing(reason: reason))
  }

  private var caption: String { source.path.lastName.jsonText.text }

  /// The most pixels of a side that a small print needs.
  private static let sharp = 200

  /// Shows the smallest thumbnail that is sharp enough, otherwise the largest.
  private func cell(_ thumbnails: [MadeThumbnail]) -> SheetCell {
    let sorted = thumbnails.sorted { $0.pixels.count < $1.pixels.count }
    guard let shown = sorted.first(where: { max($0.pixels.width, $0.pixels.height) >= Self.sharp }) ?? sorted.last
    else { return cell(missing: "no thumbnail") }
    return SheetCell(
      caption: caption, picture: .jpeg { () throws(Errno) in try openToRead(shown.path, flags: O_NOFOLLOW) })
  }
}
