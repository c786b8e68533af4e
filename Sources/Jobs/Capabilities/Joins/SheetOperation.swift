import BoundedQueue
import ContactSheet
import Files
import Locking
import PictureMaking
import Places

/// Writes the contact sheet of a job, once all its sources are done.
final class SheetOperation: JoinOperation, @unchecked Sendable {  // two have locks; the rest is constant
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
  /// The texts of which something could not be shown.
  private let unshown = Locked<UnshownTexts?>(nil)

  init(_ design: Design, _ entries: EntryList, memory: MemoryPlan) {
    (self.design, self.entries, self.memory) = (design, entries, memory)
    super.init(.contactSheet, design.path, isDurable: design.isDurable)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) {
    let file = try JoinFile(path, kind: join, isDurable: isDurable)
    // Where the budget is too small for fonts of the system, names have question marks.
    let withFonts = ContactSheetWriter.bytesNeeded(for: design.grid, usesSystemFonts: true)
    let usesFonts = withFonts <= memory.budget.largest
    let needed = usesFonts ? withFonts : ContactSheetWriter.bytesNeeded(for: design.grid, usesSystemFonts: false)
    var writer = ContactSheetWriter(
      to: file.descriptor, grid: design.grid, title: design.title, usesSystemFonts: usesFonts)
    do {
      try withReservation(of: memory.reservation(for: needed)) {
        var page = SheetPage(design.grid)
        var isInTree = true
        try entries.visit { bytes in
          let entry = SheetEntry(stored: bytes)
          isInTree = isInTree && entry.folder.isEmpty
          // The photos of the whole tree's folder need no heading, unless they come after those of others.
          let heading = isInTree ? nil : entry.folder.isEmpty ? design.title : entry.folder.jsonText.text
          if page.add(entry.cell, under: heading) { return }
          try write(page, with: &writer)
          page = SheetPage(design.grid)
          _ = page.add(entry.cell, under: heading)
        }
        if !page.sections.isEmpty { try write(page, with: &writer) }
        try write { () throws(Errno) in try writer.finish() }
        unshown.withLock { $0 = writer.unshown }
      }
    } catch let error as BudgetExceededError {
      throw JoinError.memory(error, plan: memory)
    }
    return (writer.pageCount, try file.publish())
  }

  /// Adds a page.
  private func write(_ page: SheetPage, with writer: inout ContactSheetWriter) throws {
    try checkCancelled()
    try write { () throws(Errno) in
      let missing = try writer.addPage(page)
      unusable.withLock { $0 += missing }
    }
  }

  private func write(_ body: () throws(Errno) -> Void) throws(OutputError) {
    do throws(Errno) { try body() } catch { throw OutputError(writing: path, error) }
  }

  override var report: JoinReport {
    var report = super.report
    report.unusable = unusable.withLock { $0 }
    report.unshown = unshown.withLock { $0 }
    return report
  }
}
