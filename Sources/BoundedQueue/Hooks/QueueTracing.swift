#if TracingSupport
import Locking
import Tracing

extension BoundedOperationQueue {
  /// Runs the work of every operation that begins from now on in a span.
  ///
  /// The span has the operation's kind as its name, or its title if it has none, and the attributes `queue.name`,
  /// `operation.id`, `operation.title` and `operation.waited` in seconds. Its parent is the span in which the operation was
  /// made. Spans that the work makes are children of the operation's span. The package trait `TracingSupport` brings it.
  ///
  /// - Parameter tracer: nil ends the tracing; default: that of `InstrumentationSystem`.
  public func trace(with tracer: (any Tracer)? = InstrumentationSystem.tracer) { self.tracer.withLock { $0 = tracer } }
}

extension BoundedOperation {
  /// Runs the work in a span, if the queue is traced. A cancellation is no error of the span.
  func inSpan(of queue: BoundedOperationQueue?, _ work: () throws -> Void) throws {
    guard let tracer = queue?.tracer.withLock({ $0 }) else { return try work() }
    let cancellation: (any Error)? = try tracer.withAnySpan(kind ?? title, context: context) { span in
      describe(span, queue)
      do { try work() } catch  where isCancelled { return error }
      return nil
    }
    if let cancellation { throw cancellation }
  }

  /// Runs the work in a span, if the queue is traced. A cancellation is no error of the span.
  func inSpan(of queue: BoundedOperationQueue?, _ work: () async throws -> Void) async throws {
    guard let tracer = queue?.tracer.withLock({ $0 }) else { return try await work() }
    let cancellation: (any Error)? = try await tracer.withAnySpan(kind ?? title, context: context) { span in
      describe(span, queue)
      do { try await work() } catch  where isCancelled { return error }
      return nil
    }
    if let cancellation { throw cancellation }
  }

  /// The context in which the operation was made.
  private var context: ServiceContext { state.withLock { $0.context } ?? .topLevel }

  private func describe(_ span: any Tracing.Span, _ queue: BoundedOperationQueue?) {
    span.attributes["queue.name"] = queue?.name
    span.attributes["operation.id"] = id
    span.attributes["operation.title"] = title
    span.attributes["operation.waited"] = snapshot().waited / .seconds(1)
  }
}
#else
extension BoundedOperation {
  @inline(__always)
  func inSpan(of queue: BoundedOperationQueue?, _ work: () throws -> Void) throws { try work() }

  @inline(__always)
  func inSpan(of queue: BoundedOperationQueue?, _ work: () async throws -> Void) async throws { try await work() }
}
#endif
