/// Selects operations: the parameters of `GET /operations`.
public struct OperationQuery: Sendable, Equatable {
  public var states: Set<OperationStatus.State>
  /// The most operations to list, from 1 to 250.
  public var limit: Int
  /// Lists only operations with a higher id: the last id of the previous page, or 0 for the first page.
  public var after: Int

  public static let limitRange = 1...250

  public init(states: Set<OperationStatus.State> = [.waiting, .running], limit: Int = 100, after: Int = 0) {
    (self.states, self.limit, self.after) = (states, limit, after)
  }
}

/// One page of operations, ordered by id.
public struct OperationPage: Codable, Sendable, Equatable {
  public var operations: [OperationStatus]
  /// The value of `after` for the next page; nil on the last page.
  public var nextAfter: Int?

  enum CodingKeys: String, CodingKey {
    case operations
    case nextAfter = "next_after"
  }

  /// The page that a query selects. If an operation is given twice because it has just ended, its ended state is used.
  ///
  /// *Complexity*: O(n log n) in the number of selected operations.
  public init(_ query: OperationQuery, from operations: some Sequence<OperationStatus>) {
    var ended: Set<Int> = []
    var selected: [OperationStatus] = []
    for operation in operations where operation.id > query.after {
      if operation.state.isEnded { ended.insert(operation.id) }
      if query.states.contains(operation.state) { selected.append(operation) }
    }
    var listed: Set<Int> = []
    selected.removeAll { operation in
      !operation.state.isEnded && ended.contains(operation.id) || !listed.insert(operation.id).inserted
    }
    selected.sort { $0.id < $1.id }
    self.operations = Array(selected.prefix(query.limit))
    nextAfter = selected.count > query.limit ? self.operations.last?.id : nil
  }
}
