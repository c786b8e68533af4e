import BoundedQueue
import ContactSheet
import Files
import Locking
import SystemPackage

/// The pages of a contact sheet: it collects the sources of each page, and each page is written by an operation of its own
/// as soon as its sources and the page before are done.
///
/// *Concurrency*: every method may be called from any thread. The queue runs one page after the other, because each depends
/// on the one before.
final class SheetPages: Sendable {
  private struct State {
    /// The sources of the next page.
    var cells: [SheetPageOperation.Cell] = []
    /// How many pages have an operation.
    var begun = 0
    /// How many pages are in the file.
    var written = 0
    /// The operation of the last page; nil if it is done.
    var last: SheetPageOperation?
    /// The pages that need a new operation.
    var postponed: [SheetPageOperation] = []
    /// The new operations of sources whose operations memory pressure has cancelled, until the pages that show them have
    /// theirs, by the numbers of the sources.
    var replacements: [Int: SourceOperation] = [:]
    /// Why there will be no contact sheet.
    var failure: (any Error)?
    var writer: ContactSheetWriter
  }

  /// A page was cancelled, so that there is no contact sheet.
  struct CancelledError: Error, CustomStringConvertible {
    let page: Int
    var description: String { "page \(page) was cancelled" }
  }

  let path: Path
  let grid: SheetGrid
  /// Guarded by the lock of `state`, as its writer is.
  nonisolated(unsafe) private let file: JoinFile
  private let state: Locked<State>

  /// - Parameter title: for the footers.
  /// - Throws: ``OutputError``.
  init(_ path: Path, grid: SheetGrid, title: Path) throws(OutputError) {
    (self.path, self.grid) = (path, grid)
    file = try JoinFile(path, kind: .contactSheet)
    state = Locked(State(writer: ContactSheetWriter(to: file.descriptor, grid: grid, title: title.jsonText.text)))
  }

  // MARK: Called by the job

  /// Adds the next source of the walk.
  ///
  /// - Returns: the page that is full with it; it must be submitted.
  func add(
    _ source: Source, _ content: SheetPageOperation.Cell.Content, memory: MemoryPlan
  ) -> SheetPageOperation? {
    state.withLock { state in
      state.cells.append(SheetPageOperation.Cell(source: source, content: content))
      return state.cells.count == grid.count ? page(&state, memory) : nil
    }
  }

  /// The last page, unless the one before was full; it must be submitted.
  func lastPage(memory: MemoryPlan) -> SheetPageOperation? {
    state.withLock { $0.cells.isEmpty ? nil : page(&$0, memory) }
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
    state.withLock { $0.replacements[operation.source.number] = operation }
  }

  /// Handles the end of the operation of a page.
  func ended(_ page: SheetPageOperation, _ outcome: Outcome) {
    state.withLock { state in
      switch outcome {
      case .succeeded where page.isPostponed: state.postponed.append(page)
      case .cancelledWhileWaiting(.pressure), .cancelledWhileRunning(.pressure): state.postponed.append(page)
      case .succeeded: break
      case .failed(let error): state.failure = state.failure ?? error
      case .cancelledWhileWaiting, .cancelledWhileRunning:
        state.failure = state.failure ?? CancelledError(page: page.number)
      }
      if state.last === page { state.last = nil }
    }
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

  /// Whether the pages before this one are in the file, or no page will be.
  func isNext(_ page: SheetPageOperation) -> Bool {
    state.withLock { $0.written == page.number - 1 || $0.failure != nil }
  }

  /// Writes a page.
  func add(_ cells: [SheetCell], of page: SheetPageOperation) throws {
    try state.withLock { state in
      if state.failure != nil { return }
      for cell in page.cells { state.replacements[cell.source.number] = nil }
      if !cells.isEmpty {
        do throws(Errno) { try state.writer.addPage(cells, header: page.header) } catch {
          throw OutputError(writing: path, error)
        }
      }
      state.written += 1
    }
  }

  /// Completes the file and puts it in place.
  ///
  /// - Returns: the number of pages, and whether the file differs from the one that was there.
  func finish() throws -> (count: Int, isChanged: Bool) {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      do throws(Errno) { try state.writer.finish() } catch { throw OutputError(writing: path, error) }
      return (state.writer.pageCount, try file.publish())
    }
  }
}

extension SheetPageOperation {
  /// The folder of the page's sources; nil if they are of several.
  fileprivate var header: String? {
    let folders = Set(cells.map(\.source.relativePath.parent))
    return folders.count == 1 ? folders.first.flatMap { $0.isEmpty ? nil : $0.jsonText.text } : nil
  }
}
