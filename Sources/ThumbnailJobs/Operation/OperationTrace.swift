import BoundedQueue
import Locking
import TraceRecording

/// Records a span for each operation from its admission to its end. Inner spans show the wait and the stages of the
/// work.
final class OperationTrace: Sendable {
  private let trace: TraceRecorder
  /// The open inner span of each operation on the queue, by the operation's id.
  private let open = Locked<[Int: String]>([:])

  init(_ trace: TraceRecorder) { self.trace = trace }

  func record(_ event: QueueEvent) {
    let operation = event.operation
    switch event.change {
    case .waiting:
      trace.begin(operation.title, of: operation.id, at: event.instant)
      enter("waiting", event)
    case .started: enter("starting", event)
    case .stage(let stage): enter(stage, event)
    case .ended(let outcome):
      enter(nil, event)
      trace.end(operation.title, of: operation.id, at: event.instant, note: "\(outcome)")
    }
  }

  private func enter(_ span: String?, _ event: QueueEvent) {
    let id = event.operation.id
    let last = open.withLock { open in
      defer { open[id] = span }
      return open[id]
    }
    if let last { trace.end(last, of: id, at: event.instant) }
    if let span { trace.begin(span, of: id, at: event.instant) }
  }
}
