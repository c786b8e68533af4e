import BoundedQueue
import Fetching
import Files
import Foundation
import JobSettings
import Locking
import MemoryPressure
import PictureMaking
import Pictures
import Sourcing
import Thumbnails
import TraceRecording

/// Makes previews of pictures that clients send, on bounded queues.
///
/// An operation of ``bodies``, which takes no thread, receives a picture into a file without a name, as far as the spool has room.
/// Then a ``PreviewOperation`` of ``queue`` reads its header, reserves the memory that it needs, and makes the preview. So a
/// request that waits holds only the beginning of its picture in memory, and it can be seen and cancelled.
///
/// *Concurrency*: every member may be called from any thread.
package final class PreviewService: Sendable {
  /// What a request gets.
  package enum Answer: Sendable {
    case preview(Preview)
    case description(PictureDescription)
  }

  /// Makes the previews.
  package let queue: BoundedOperationQueue
  /// Receives the pictures.
  package let bodies: BoundedOperationQueue
  package let memory: MemoryPlan
  package let spool: PictureSpool
  /// The most bytes of a picture.
  package let limitBytes: Int
  /// Counts the previews that clients have not read yet. Their sender adds and removes their bytes.
  package let unread: UnreadPreviews
  package let settings: PreviewSettings
  private let parts: PreviewParts
  private let receiver: PictureReceiver
  private let shares = ClientShares()
  /// Nil if no previews are kept.
  private let cache: PreviewCache?
  private let watch: PressureWatch
  private let trace: TraceRecorder?
  /// Whether new requests are refused.
  private let isEnding = Locked(false)

  /// How often a preview is made again after memory pressure has cancelled it.
  private static let mostRequeues = 3
  /// The share of the budget that previews may have which clients have not read yet.
  private static let unreadShare = 4
  /// The seconds after which a client that was turned away may come again.
  private static let retrySeconds = 5

  /// - Parameters:
  ///   - connections: how many clients may send pictures at once.
  ///   - trace: records the operations. The caller closes it.
  ///   - onOpening: receives which pressure signals can be used.
  ///   - onNote: receives each response to memory pressure.
  ///   - onShortfall: receives, at most once, what parts of the fence do not hold.
  /// - Throws: `FetchError` if the folder for received pictures takes no files.
  package init(
    _ settings: PreviewSettings, connections: Int, surroundings: Surroundings = Surroundings(),
    rules: PressureRules = PressureRules(), trace: TraceRecorder? = nil,
    onOpening: @escaping @Sendable ([PressureSignalReport]) -> Void, onNote: @escaping @Sendable (PressureNote) -> Void,
    onShortfall: @escaping @Sendable (String) -> Void
  ) throws(FetchError) {
    (self.settings, self.trace) = (settings, trace)
    let limit = MemoryLimit.find(in: surroundings)
    spool = try PictureSpool(
      settings.spoolFolder, wanted: settings.spoolBytes?.bytes(of: limit.bytes), limit: limit)
    var usage = UsageReader(limit: limit, surroundings: surroundings).read()
    // Pictures in memory are no part of the budget.
    if spool.isInMemory {
      usage.resident += spool.bytes
      usage.group? += spool.bytes
    }
    memory = MemoryPlan(settings.memory, limit: limit, usage: usage)
    queue = BoundedOperationQueue(
      name: "previews", maxConcurrentOperations: settings.maxInUse, backlog: settings.backlog, budget: memory.budget,
      qos: .userInitiated)
    unread = UnreadPreviews(limit: memory.budget.bytes / Self.unreadShare, queue)
    bodies = BoundedOperationQueue(name: "pictures", maxConcurrentOperations: connections, backlog: connections)
    let decoders = PictureDecoders(settings.isolate, mostIdle: settings.maxInUse, onShortfall: onShortfall)
    parts = PreviewParts(
      memory: memory, decoders: decoders, limitPixels: settings.limitPixels, timeout: settings.timeout)
    // A picture that the spool never has room for is refused, instead of being asked for again and again.
    limitBytes = min(settings.limitBytes, spool.bytes)
    receiver = PictureReceiver(spool.spool, limit: limitBytes, digests: settings.cache != nil)
    let cache = settings.cache.map { [queue] in PreviewCache(bytes: $0.bytes(of: limit.bytes), queue) }
    self.cache = cache
    watch = PressureWatch(
      memory, queue, response: settings.onPressure, source: settings.pressureSource, in: surroundings, rules,
      makers: parts.makers, decoders: decoders, onOpening: onOpening,
      onNote: { note in
        switch note.level {
        case .normal: break
        case .warning: cache?.trim()
        case .critical: cache?.removeAll()
        }
        onNote(note)
      })
    if let trace {
      let operations = OperationTrace(trace)
      for queue in [queue, bodies] { queue.observe { operations.record($0) } }
    }
  }

  /// Opens the pressure signals.
  ///
  /// - Throws: `PressureSignalError` if the requested ones cannot be used.
  package func start() throws {
    let queue = queue
    try watch.start(
      trace,
      stop: {
        queue.pause(.pressure)
        return queue.cancelAll(reason: .pressure)
      })
  }

  package var pressure: PressureSnapshot? { watch.snapshot }

  /// Changes limits at once. A limit that is nil stays as it is.
  ///
  /// - Parameter budget: as ``MemoryPlan/budget(of:)`` has it.
  /// - Returns: the new limits.
  @discardableResult package func changeLimits(max: Int?, backlog: Int?, budget: Int?) -> QueueLimits {
    if let max { watch.maxChanges(to: max) }
    queue.changeLimits { $0.change(max: max, backlog: backlog, budget: budget.map(memory.budget(of:))) }
    return queue.limits
  }

  /// The most memory that this process and its helper processes have held, in bytes.
  package var peakMemory: Int { parts.decoders.peakMemory }

  // MARK: Requests

  /// Answers a request that has a picture.
  ///
  /// - Parameters:
  ///   - call: what is asked for.
  ///   - client: who asks; pictures of one client are decoded by other processes than those of another.
  ///   - name: of the request, for people.
  /// - Throws: ``PreviewError``; and `CancellationError` when the task is cancelled, which cancels the work.
  package func answer(
    _ call: PreviewCall, _ body: any PreviewBody, contentType: String?, field: String?, from client: String,
    name: String
  ) async throws -> Answer {
    shares.enter(client)
    defer { shares.leave(client) }
    do {
      if isEnding.withLock({ $0 }) { throw Self.ending }
      let limitPixels = settings.limitPixels
      let receiving = ResultOperation(title: "picture of \(name) from \(client)", kind: "picture") { [receiver] in
        try await receiver.receive(
          body, contentType: contentType, field: field, from: client,
          check: { window throws(PreviewError) in try Self.check(window, limitPixels: limitPixels) })
      }
      let picture = try await bodies.run(receiving)
      switch call {
      case .make(let request): return .preview(try await make(picture, request, name: name))
      default:
        return .description(
          try await queue.run(DescribeOperation(picture.file, name: name, timeLimit: settings.timeout)))
      }
    } catch {
      throw Self.answerable(error, memory)
    }
  }

  /// Makes a preview, again if memory pressure has cancelled it.
  private func make(_ picture: ReceivedPicture, _ request: PreviewRequest, name: String) async throws -> Preview {
    func operation() -> PreviewOperation {
      let operation = PreviewOperation(picture.file, request, name: name, parts)
      operation.queuePriority = shares.priority(of: picture.file.host)
      return operation
    }
    var tries = 0
    while true {
      do {
        guard let cache, let digest = picture.digest else { return try await queue.run(operation()) }
        return try await cache.preview(for: PreviewCache.Key(digest: digest, request: request), operation)
      } catch {
        guard Self.isPressure(error), settings.onPressure == .requeue, tries < Self.mostRequeues else { throw error }
        tries += 1
      }
    }
  }

  /// Whether memory pressure has cancelled an operation, also one that waited for the backlog.
  private static func isPressure(_ error: any Error) -> Bool {
    (error as? OperationCancelledError)?.reason == .pressure || (error as? SubmitError) == .cancelled(.pressure)
  }

  /// Refuses a picture if its beginning shows that it can have no preview.
  private static func check(_ window: [UInt8], limitPixels: Int) throws(PreviewError) {
    let pixels: PixelSize?
    do throws(ThumbnailError) {
      let type = try SourceFile.expectedType(head: window)
      let bytes = ByteReader(bytes: window)
      switch type {
      case .jpeg: pixels = (try? ThumbnailMaker.readInfo(of: bytes))?.pixels
      case .png, .gif, .webp, .bmp, .heic, .avif:
        // The reader may need more than the beginning. Then the size is judged later.
        pixels = (try? PictureReader.readHeader(of: bytes, type: type))?.pixels
      default: pixels = nil
      }
    } catch {
      throw answer(to: .source(error))
    }
    if let pixels, pixels.count > limitPixels {
      throw answer(to: .source(.tooManyPixels(pixels, limit: limitPixels)))
    }
  }

  // MARK: End

  /// Refuses new requests. Those that are here are answered.
  package func beginToEnd() { isEnding.withLock { $0 = true } }

  /// Cancels all requests.
  @discardableResult package func cancelAll(_ reason: CancelReason) -> (waiting: Int, running: Int) {
    let cancelled = [bodies, queue].map { $0.cancelAll(reason: reason) }
    return (cancelled.reduce(0) { $0 + $1.waiting.count }, cancelled.reduce(0) { $0 + $1.running.count })
  }

  /// Ends the watch of memory pressure and the helper processes. Call it when no request is left.
  package func finish() {
    watch.finish()
    parts.decoders.measureMemory()
    parts.decoders.removeIdle()
  }

  // MARK: Errors

  private static let ending = PreviewError(503, .cancelled, "the server ends", retryAfter: retrySeconds)

  private static func answerable(_ error: any Error, _ memory: MemoryPlan) -> any Error {
    switch error {
    case let error as PreviewError: error
    case is CancellationError: error
    case let error as OperationCancelledError where error.reason == .gone: CancellationError()
    case let error as OperationCancelledError: answer(to: error.reason)
    case SubmitError.cancelled(let reason): answer(to: reason)
    case is SubmitError: ending
    case let error as SizeSpecError: PreviewError.badRequest("\(error)")
    default: answer(to: SourceFailure(error, plan: memory))
    }
  }

  private static func answer(to reason: CancelReason) -> PreviewError {
    switch reason {
    case .pressure:
      PreviewError(503, .pressure, "memory is short", retryAfter: retrySeconds)
    // Another try would take as long.
    case .timeout: PreviewError(503, .limit, "the preview takes longer than the server allows")
    default: PreviewError(503, .cancelled, "cancelled \(reason)", retryAfter: retrySeconds)
    }
  }

  private static func answer(to failure: SourceFailure) -> PreviewError {
    let text = "\(failure)"
    switch failure {
    case .source(let error):
      switch error {
      case .notAnImage, .otherFormat, .unsupportedType: return PreviewError(406, .picture, text)
      case .tooManyPixels, .thumbnailTooLarge, .sideTooLong, .tooManyScans: return PreviewError(422, .limit, text)
      case .outOfMemory: return PreviewError(503, .server, text, retryAfter: retrySeconds)
      case .unreadable, .internalFault: return PreviewError(500, .server, text)
      default: return PreviewError(400, .picture, text)
      }
    case .memory: return PreviewError(422, .limit, text)
    case .decoder(_, .crashed), .decoder(_, .memory): return PreviewError(400, .picture, text)
    case .decoder: return PreviewError(503, .server, text, retryAfter: retrySeconds)
    default: return PreviewError(500, .server, text)
    }
  }
}

extension BoundedOperationQueue {
  /// Runs an operation and returns its result. If the task is cancelled, so is the operation.
  fileprivate func run<Value>(_ operation: ResultOperation<Value>) async throws -> Value {
    try await withTaskCancellationHandler {
      try await submit(operation)
      return try await operation.result
    } onCancel: {
      operation.cancel(reason: .gone)
    }
  }
}

extension CancelReason {
  /// Its client has left, or its time is over.
  package static let gone = CancelReason("gone", saying: "because its client does not wait for it any more")
}
