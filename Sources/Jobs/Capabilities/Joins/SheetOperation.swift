import BoundedQueue
import ContactSheet
import Files
import Locking
import PictureMaking
import Places
import SystemPackage

/// Writes the contact sheet of a job, once all its sources are done.
final class SheetOperation: JoinOperation, @unchecked Sendable {  // `unusable` has a lock; the rest is constant
  /// What the settings say of the sheet.
  struct Design {
    let path: Path
    let grid: SheetGrid
    /// For the footers.
    let title: String
    let isDurable: Bool
  }

  private let design: Design
  private let entries: EntryList
  private let memory: MemoryPlan
  /// The thumbnails that could not be shown, although they were made. There are none unless other programs remove them.
  private let unusable = Locked<[UnusablePicture]>([])

  init(_ design: Design, _ entries: EntryList, memory: MemoryPlan) {
    (self.design, self.entries, self.memory) = (design, entries, memory)
    super.init(.contactSheet, design.path, isDurable: design.isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let file = try JoinFile(path, kind: join, isDurable: isDurable)
    var writer = ContactSheetWriter(to: file.descriptor, grid: design.grid, title: design.title)
    do {
      try withReservation(of: memory.reservation(for: ContactSheetWriter.bytesNeeded(for: design.grid))) {
        var page: [SheetEntry] = []
        try entries.visit { bytes in
          page.append(SheetEntry(stored: bytes))
          if page.count == design.grid.count { try write(&page, with: &writer) }
        }
        if !page.isEmpty { try write(&page, with: &writer) }
        try write { () throws(Errno) in try writer.finish() }
      }
    } catch let error as BudgetExceededError {
      throw JoinError.memory(error, plan: memory)
    }
    return (writer.pageCount, try file.publish())
  }

  /// Adds a page, under the path of its folder if its sources are of one.
  private func write(_ page: inout [SheetEntry], with writer: inout ContactSheetWriter) throws {
    try checkCancelled()
    let folders = Set(page.map(\.folder))
    let header = folders.count == 1 ? folders.first.flatMap { $0.isEmpty ? nil : $0.jsonText.text } : nil
    let cells = page.map(\.cell)
    page = []
    try write { () throws(Errno) in
      let missing = try writer.addPage(cells, header: header)
      unusable.withLock { $0 += missing }
    }
  }

  private func write(_ body: () throws(Errno) -> Void) throws(OutputError) {
    do throws(Errno) { try body() } catch { throw OutputError(writing: path, error) }
  }

  override var report: JoinReport {
    var report = super.report
    report.unusable = unusable.withLock { $0 }
    return report
  }
}
