#if LoggingSupport
import Logging

extension BoundedOperationQueue {
  /// Logs how operations end: failures as errors, cancellations as notices, successes at a level of your choice.
  ///
  /// The message has the title and the outcome. The metadata has `queue`, `operation` (the id), `kind` and `key` if there are
  /// any, and `waited` and `ran` in seconds. The package trait `LoggingSupport` brings it.
  ///
  /// - Parameters:
  ///   - logger: gets a line for each operation.
  ///   - level: of operations that have succeeded.
  @discardableResult
  public func log(to logger: Logger, succeededAt level: Logger.Level = .debug) -> QueueObservation {
    observe { [name] event in
      guard case .ended(let outcome) = event.change else { return }
      let level: Logger.Level =
        switch outcome {
        case .succeeded: level
        case .failed: .error
        case .cancelledWhileWaiting, .cancelledWhileRunning: .notice
        }
      guard level >= logger.logLevel else { return }
      let snapshot = event.operation.snapshot()
      var metadata: Logger.Metadata = [
        "queue": .string(name), "operation": .stringConvertible(snapshot.id),
        "waited": .stringConvertible(snapshot.waited / .seconds(1)),
        "ran": .stringConvertible(snapshot.ran / .seconds(1)),
      ]
      if let kind = snapshot.kind { metadata["kind"] = .string(kind) }
      if let key = event.operation.key { metadata["key"] = .string(key) }
      logger.log(level: level, "\(snapshot.title): \(outcome)", metadata: metadata)
    }
  }
}
#endif
