import BoundedQueue
import Files
import JobSettings
import Locking

/// An operation that writes something of all thumbnails of a job: a manifest, a contact sheet or a gallery.
class JoinOperation: BoundedOperation, @unchecked Sendable {  // the result has a lock, the rest is constant
  let join: JoinKind
  let path: Path
  /// Whether to wait for the disk before it is in place.
  let isDurable: Bool
  private let done = Locked<(count: Int, isChanged: Bool)?>(nil)

  init(_ join: JoinKind, _ path: Path, isDurable: Bool) {
    (self.join, self.path, self.isDurable) = (join, path, isDurable)
    super.init(title: "\(join.rawValue) \(path.printable)", kind: join.rawValue, subject: path.printable)
  }

  /// Writes the files.
  ///
  /// - Returns: how many sources or pages they have, and whether they differ from those that were there.
  func makeJoin() throws -> (count: Int, isChanged: Bool) {
    preconditionFailure("\(type(of: self)) must override makeJoin()")
  }

  override func execute() throws {
    report(stage: "writing")
    let result = try makeJoin()
    done.withLock { $0 = result }
  }

  /// The report of the operation, which has ended.
  var report: JoinReport {
    let done = done.withLock { $0 }
    let result: JoinReport.Result =
      switch outcome {
      case .succeeded?: done?.isChanged == true ? .made : .unchanged
      case .failed(let error)?: .failed(JoinError(error))
      case .cancelledWhileRunning(let reason)?, .cancelledWhileWaiting(let reason)?: .notMade(reason)
      case nil: .notMade(.shutdown)
      }
    return JoinReport(kind: join, path: path, result: result, count: done?.count ?? 0)
  }
}
