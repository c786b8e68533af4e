import BoundedQueue
import ContactSheet
import Files
import Locking
import SystemPackage

/// The pages of a contact sheet: it collects the sources of each page, and each page is written by an operation of its own
/// as soon as its sources and the page before are done.
///
/// *Concurrency*: every method may be called from any thread.
final class SheetPages: Sendable {
  /// A page that needs a new operation.
  private struct Postponed {
    let number: Int
    let cells: [SheetPageOperation.Cell]

    init(_ page: SheetPageOperation) { (number, cells) = (page.number, page.cells) }
  }

  private struct State {
    /// The sources of the next page.
    var cells: [SheetPageOperation.Cell] = []
    /// How many pages have an operation.
    var begun = 0
    /// How many pages are in the file.
    var written = 0
    /// The operation of the last page; nil if it has ended.
    var last: SheetPageOperation?
    var postponed: [Postponed] = []
    /// The numbers of the sources whose pages are not in the file yet.
    var waiting: Set<Int> = []
    /// The new operations of those whose operations memory pressure has cancelled, by the numbers of the sources.
    var replacements: [Int: SourceOperation] = [:]
    /// Why there will be no contact sheet.
    var failure: (any Error)?
  }

  /// The file and its writer. The writer is finished once, and the file may be published again after a failure.
  private struct Output: @unchecked Sendable {  // no thread uses the file without the lock
    let file: JoinFile
    var writer: ContactSheetWriter
    var isFinished = false
    var unusable: [UnusablePicture] = []
  }

  /// A page was cancelled, so that there is no contact sheet.
  struct CancelledError: Error {
    let reason: CancelReason
  }

  let path: Path
  let grid: SheetGrid
  let isDurable: Bool
  /// Guards what the job and the operations of the pages share. Nothing is written under it.
  private let state = Locked(State())
  /// Guards the file. Only the page that is next and the last operation use it, one after the other, so that none waits.
  private let output: Locked<Output>

  /// - Parameters:
  ///   - title: for the footers.
  ///   - isDurable: whether the file must outlive a crash of the system once it is in place.
  /// - Throws: ``OutputError``.
  init(_ path: Path, grid: SheetGrid, title: Path, isDurable: Bool) throws(OutputError) {
    (self.path, self.grid, self.isDurable) = (path, grid, isDurable)
    let file = try JoinFile(path, kind: .contactSheet, isDurable: isDurable)
    let writer = ContactSheetWriter(to: file.descriptor, grid: grid, title: title.jsonText.text)
    output = Locked(Output(file: file, writer: writer))
  }

  // MARK: Called by the job

  /// Adds the next source of the walk.
  ///
  /// - Returns: the page that is full with it; it must be submitted.
  func add(
    _ source: Source, _ content: SheetPageOperation.Cell.Content, memory: MemoryPlan
  ) -> SheetPageOperation? {
    state.withLock { state in
      if state.failure != nil { return nil }
      state.cells.append(SheetPageOperation.Cell(source: source, content: content))
      state.waiting.insert(source.number)
      return state.cells.count == grid.count ? page(&state, memory) : nil
    }
  }

  /// The last page, unless the one before was full; it must be submitted.
  func lastPage(memory: MemoryPlan) -> SheetPageOperation? {
    state.withLock { $0.cells.isEmpty || $0.failure != nil ? nil : page(&$0, memory) }
  }

  private func page(_ state: inout State, _ memory: MemoryPlan) -> SheetPageOperation {
    let cells = state.cells
    state.cells = []
    state.begun += 1
    return operation(state.begun, cells, &state, memory)
  }

  private func operation(
    _ number: Int, _ cells: [SheetPageOperation.Cell], _ state: inout State, _ memory: MemoryPlan
  ) -> SheetPageOperation {
    let operation = SheetPageOperation(number, cells, after: state.last, pages: self, memory: memory)
    state.last = operation
    return operation
  }

  /// Remembers the new operation of a source whose operation memory pressure has cancelled.
  func replace(by operation: SourceOperation) {
    let number = operation.source.number
    state.withLock { if $0.waiting.contains(number) { $0.replacements[number] = operation } }
  }

  /// Handles the end of the operation of a page. A page that memory pressure has cancelled is postponed, and so are those that
  /// were cancelled because they depend on it.
  func ended(_ page: SheetPageOperation, _ outcome: Outcome) {
    state.withLock { state in
      switch outcome {
      case .succeeded: if page.isPostponed { state.postponed.append(Postponed(page)) }
      case .failed(let error): fail(&state, error)
      case .cancelledWhileWaiting(let reason), .cancelledWhileRunning(let reason):
        if reason == .pressure || reason == .dependency && state.failure == nil {
          state.postponed.append(Postponed(page))
        } else {
          fail(&state, CancelledError(reason: reason))
        }
      }
      if state.last === page { state.last = nil }
    }
  }

  private func fail(_ state: inout State, _ error: any Error) {
    state.failure = state.failure ?? error
    (state.cells, state.postponed, state.waiting, state.replacements) = ([], [], [], [:])
  }

  /// Whether pages need new operations.
  var hasPostponed: Bool { state.withLock { !$0.postponed.isEmpty } }

  /// New operations for postponed pages, in their order; they must be submitted.
  func again(memory: MemoryPlan) -> [SheetPageOperation] {
    state.withLock { state in
      let postponed = state.postponed.sorted { $0.number < $1.number }
      state.postponed = []
      return postponed.map { page in
        let cells = page.cells.map { cell in
          var cell = cell
          if let operation = state.replacements[cell.source.number] { cell.content = .operation(operation) }
          return cell
        }
        return operation(page.number, cells, &state, memory)
      }
    }
  }

  // MARK: Called by operations

  /// Whether all pages before this one are in the file.
  func isNext(_ page: SheetPageOperation) -> Bool { state.withLock { $0.written == page.number - 1 } }

  /// Writes the page that is next.
  ///
  /// - Throws: ``OutputError``.
  func write(_ cells: [SheetCell], of page: SheetPageOperation) throws(OutputError) {
    if !cells.isEmpty {
      do throws(Errno) {
        try output.withLock { output throws(Errno) in
          output.unusable += try output.writer.addPage(cells, header: page.header)
        }
      } catch {
        throw OutputError(writing: path, error)
      }
    }
    state.withLock { state in
      state.written += 1
      for cell in page.cells {
        state.waiting.remove(cell.source.number)
        state.replacements[cell.source.number] = nil
      }
    }
  }

  /// Completes the file and puts it in place, once all pages are done.
  ///
  /// - Returns: the number of pages, and whether the file differs from the one that was there.
  /// - Throws: ``OutputError``, and the error of a page.
  func finish() throws -> (count: Int, isChanged: Bool) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return try output.withLock { output in
      if !output.isFinished {
        do throws(Errno) { try output.writer.finish() } catch { throw OutputError(writing: path, error) }
        output.isFinished = true
      }
      return (output.writer.pageCount, try output.file.publish())
    }
  }

  /// The thumbnails that could not be shown, although they were made. There are none unless other programs remove them.
  var unusable: [UnusablePicture] { output.withLock { $0.unusable } }
}

extension SheetPageOperation {
  /// The folder of the page's sources; nil if they are of several.
  fileprivate var header: String? {
    let folders = Set(cells.map(\.source.relativePath.parent))
    return folders.count == 1 ? folders.first.flatMap { $0.isEmpty ? nil : $0.jsonText.text } : nil
  }
}
