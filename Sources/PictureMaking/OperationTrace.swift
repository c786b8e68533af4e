import BoundedQueue
import Locking
import TraceRecording

/// Records a span for each operation from its admission to its end. Inner spans show the wait and the stages of the
/// work. Arrows lead from the ends of operations to the starts of those that waited for them; or to their ends, if they
/// never started.
package final class OperationTrace: Sendable {
  private let trace: TraceRecorder
  /// The open inner span of each operation on the queue, by the operation's id.
  private let open = Locked<[Int: String]>([:])
  /// The ends that each operation has waited for so far, by its id: the last ones, because they let it start.
  private let awaited = Locked<[Int: [TraceMark]]>([:])
  /// The most arrows to one operation. It may have waited for all others, and a trace must not need more memory then.
  package static let arrowsPerOperation = 100

  package init(_ trace: TraceRecorder) { self.trace = trace }

  package func record(_ event: QueueEvent) {
    let operation = event.operation
    switch event.change {
    case .waiting:
      trace.begin(operation.title, of: operation.id, at: event.instant)
      enter("waiting", event)
    case .started:
      enter("starting", event)
      drawArrows(to: operation)
    case .stage(let stage): enter(stage, event)
    case .ended(let outcome):
      enter(nil, event)
      trace.end(operation.title, of: operation.id, at: event.instant, note: "\(outcome)")
      drawArrows(to: operation)
      noteEnd(of: operation)
    }
  }

  private func drawArrows(to operation: BoundedOperation) {
    guard let ends = awaited.withLock({ $0.removeValue(forKey: operation.id) }) else { return }
    let mark = trace.mark(operation.title, of: operation.id)
    for end in ends { trace.arrow("dependency", from: end, to: mark) }
  }

  /// Those that wait for the operation are told of its end only after its observers.
  private func noteEnd(of operation: BoundedOperation) {
    let dependants = operation.dependants
    guard !dependants.isEmpty else { return }
    let mark = trace.mark(operation.title, of: operation.id)
    awaited.withLock { awaited in
      for case let id? in dependants.map(\.id) {
        if awaited[id]?.count == Self.arrowsPerOperation { awaited[id]?.removeFirst() }
        awaited[id, default: []].append(mark)
      }
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
