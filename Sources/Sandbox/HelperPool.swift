import Files
import Locking

/// Processes of one program, which are lent to operations: as many as decode or encode at the same time. Afterwards they wait
/// for the next picture of the same owner: what one picture has left in a process is nothing to others.
///
/// From the outside in: the pool lends a ``HelperProcess`` to each thread that has a picture, and starts one if none is idle
/// (``ProcessStart``). It limits the memory of the process for the order, lays what the process needs into ``SharedMemory``,
/// and sends the request, for a ``DecodingOrder`` with the descriptor of the file (`wire.c`). The process has fenced itself
/// off before (`cfence_run`, `fence.c`, `system_calls.c`).
///
/// A decoder passes the request to `cpictures_decode`, which gives it to the library of the format. The `accumulator` adds the
/// rows and tiles of the library up to planes of means. An encoder passes it to `cencoders_encode`. Then the process replies.
///
/// The result is a ``DecodedPlanes``, or the bytes of a file, or a ``SandboxError``. After an error the process is killed and
/// reaped (``ProcessLife``), unless the error is only a verdict on the picture.
///
/// *Concurrency*: every member may be called from any thread. ``decode(_:isCancelled:progress:)`` and
/// ``encode(_:isCancelled:)`` block.
package final class HelperPool: Sendable {
  /// What keeps the processes from files, network and memory.
  package enum Fence: Sendable {
    case off
    /// As far as the kernel allows it.
    case possible
    /// A process gets no picture if the kernel refuses any part.
    case whole
  }

  private struct State {
    /// The processes that wait for a picture, with the owner of those that they have had. The last one is taken first.
    var idle: [(process: HelperProcess, owner: PictureOwner)] = []
    /// The processes that have a picture.
    var lent: [ObjectIdentifier: HelperProcess] = [:]
    /// Whether a process has told what parts of the fence hold.
    var isReported = false
    var started = 0
    var isShutDown = false
    /// What the kernel refuses to every process, if the fence is required as a whole.
    var shortfall: String?
  }

  private let program: Path
  private let fence: Fence
  private let mostIdle: Int
  private let picturesPerProcess: Int
  private let onReport: @Sendable (FenceReport) -> Void
  /// Guarded by its lock, under which no process is started, waited for or ended.
  private let state = Locked(State())

  /// - Parameters:
  ///   - mostIdle: how many processes are kept while they have no picture.
  ///   - picturesPerProcess: after so many pictures a process is replaced. If a picture has taken it over, the attacker can
  ///     falsify the thumbnails of no more pictures than these, all of the same owner.
  ///   - onReport: receives once, after the first process has started, which parts of the fence hold.
  package init(
    _ program: Path, fence: Fence = .possible, mostIdle: Int, picturesPerProcess: Int = 256,
    onReport: @escaping @Sendable (FenceReport) -> Void = { _ in }
  ) {
    (self.program, self.fence, self.onReport) = (program, fence, onReport)
    (self.mostIdle, self.picturesPerProcess) = (mostIdle, picturesPerProcess)
  }

  deinit { shutDown() }

  /// Decodes a picture in a process that no other thread uses.
  ///
  /// - Parameters: as of ``HelperProcess/run(_:isCancelled:progress:)``.
  /// - Throws: ``SandboxError``. The process that failed is replaced by the next picture that needs one.
  package func decode(
    _ order: DecodingOrder, isCancelled: () -> Bool = { false }, progress: (Double) -> Void = { _ in }
  ) throws(SandboxError) -> DecodedPlanes {
    try run(order, isCancelled, progress)
  }

  /// Encodes a picture in a process that no other thread uses.
  ///
  /// - Parameters: as of ``HelperProcess/run(_:isCancelled:progress:)``.
  /// - Returns: the bytes of the file.
  /// - Throws: ``SandboxError``. The process that failed is replaced by the next picture that needs one.
  package func encode(_ order: EncodingOrder, isCancelled: () -> Bool = { false }) throws(SandboxError) -> [UInt8] {
    try run(order, isCancelled, { _ in })
  }

  private func run<Order: HelperOrder>(
    _ order: Order, _ isCancelled: () -> Bool, _ progress: (Double) -> Void
  ) throws(SandboxError) -> Order.Result {
    while true {
      let process = try borrow(for: order.owner, isCancelled)
      do throws(SandboxError) {
        let result = try process.run(order, isCancelled: isCancelled, progress: progress)
        putBack(process, order.owner)
        return result
      } catch .undecodable(let verdict, let reason) {
        putBack(process, order.owner)
        throw .undecodable(verdict, reason)
      } catch {
        discard(process)
        if state.withLock({ $0.isShutDown }) { throw .cancelled }
        // This picture is not to blame. Each process can have these errors, but a new one cannot.
        if error != .staleReply, error != .endedIdle { throw error }
      }
    }
  }

  /// Ends the processes that wait for a picture, to give back their memory.
  package func removeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for (process, _) in idle { process.end() }
  }

  /// Ends all processes. The pictures that they have fail as cancelled, and so does every later one.
  package func shutDown() {
    let lent = state.withLock { state in
      state.isShutDown = true
      return Array(state.lent.values)
    }
    for process in lent { process.kill() }
    removeIdle()
  }

  /// The processes of now, and how many were started so far.
  package var counts: (idle: Int, lent: Int, started: Int) {
    state.withLock { ($0.idle.count, $0.lent.count, $0.started) }
  }

  /// The ids of the processes that wait or have a picture. A process may end at any time.
  package var processIDs: [Int] {
    state.withLock { state in state.idle.map(\.process.id) + state.lent.values.map(\.id) }
  }

  /// The memory that the processes hold now, added up, in bytes. What files back is left out: the processes share it.
  package var memory: Int {
    processIDs.reduce(0) { sum, process in
      guard let memory = ProcessStatus(of: process)?.memory else { return sum }
      return sum + memory.anonymous + memory.shared
    }
  }

  // MARK: Lending

  private enum Choice {
    case lend(HelperProcess)
    case replace(HelperProcess)
    case start
    case refuse(SandboxError)
  }

  private func borrow(for owner: PictureOwner, _ isCancelled: () -> Bool) throws(SandboxError) -> HelperProcess {
    while true {
      let choice = state.withLock { state -> Choice in
        if state.isShutDown { return .refuse(.cancelled) }
        if let shortfall = state.shortfall { return .refuse(.unfenced(shortfall)) }
        guard let index = state.idle.lastIndex(where: { $0.owner == owner }) else {
          // A new one takes the place of the one that has waited longest.
          let isFull = !state.idle.isEmpty && state.idle.count + state.lent.count >= mostIdle
          return isFull ? .replace(state.idle.removeFirst().process) : .start
        }
        let process = state.idle.remove(at: index).process
        // It may have been killed meanwhile, or have sent something without being asked.
        guard process.isReady else { return .replace(process) }
        state.lent[ObjectIdentifier(process)] = process
        return .lend(process)
      }
      switch choice {
      case .lend(let process): return process
      case .replace(let process): process.end()
      case .start: return try start(isCancelled)
      case .refuse(let error): throw error
      }
    }
  }

  private func start(_ isCancelled: () -> Bool) throws(SandboxError) -> HelperProcess {
    let process = try HelperProcess(program, isFenced: fence != .off, isCancelled: isCancelled)
    let shortfall = fence == .whole ? process.report.shortfall : nil
    let (fault, isFirst) = state.withLock { state -> (SandboxError?, Bool) in
      state.started += 1
      if state.isShutDown { return (.cancelled, false) }
      // That the memory of a process cannot be limited may have a cause that passes.
      let isLasting = process.report.missing.contains { $0.part != .memoryLimit }
      if let shortfall, isLasting { state.shortfall = shortfall }
      if shortfall == nil { state.lent[ObjectIdentifier(process)] = process }
      defer { state.isReported = true }
      return (shortfall.map(SandboxError.unfenced), !state.isReported)
    }
    if isFirst { onReport(process.report) }
    guard let fault else { return process }
    process.end()
    throw fault
  }

  private func putBack(_ process: HelperProcess, _ owner: PictureOwner) {
    let isKept = state.withLock { state in
      state.lent[ObjectIdentifier(process)] = nil
      let isGood = !process.isBloated && process.pictures < picturesPerProcess
      guard isGood, state.idle.count < mostIdle, !state.isShutDown else { return false }
      process.handOver()
      state.idle.append((process, owner))
      return true
    }
    if !isKept { process.end() }
  }

  private func discard(_ process: HelperProcess) {
    _ = state.withLock { $0.lent.removeValue(forKey: ObjectIdentifier(process)) }
    process.end()
  }
}
