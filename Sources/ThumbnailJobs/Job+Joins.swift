import BoundedQueue

// Joins: what the job makes of all its thumbnails, besides them.
extension Job {
  /// Makes everything that needs all thumbnails, now that these are done. If the job was stopped, or a folder of photos could
  /// not be read, as where a disk is not mounted, nothing is made, and what an earlier run made stays.
  func makeJoins() -> [JoinReport] {
    guard let joins else { return [] }
    return settings.joins.paths.map { kind, path in
      var report = JoinReport(kind: kind, path: path, result: .notMade(stopReason), count: 0)
      if state.withLock({ $0.tally.missingArguments + $0.tally.unreadable > 0 }) {
        report = JoinReport(kind: kind, path: path, result: .withheld, count: 0)
        onEvent(.join(report))
        return report
      }
      while !isStopping {
        let operation = joins.operation(kind, memory: memory)
        guard submit(operation) else { break }
        queue.drain()
        report = operation.report
        // Memory pressure cancels these operations too. They begin again.
        if operation.outcome?.cancelReason != .pressure { break }
      }
      onEvent(.join(report))
      return report
    }
  }
}
