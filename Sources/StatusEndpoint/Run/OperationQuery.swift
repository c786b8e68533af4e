/// Which operations somebody wants to see: the parameters of `GET /operations`.
public struct OperationQuery: Sendable, Equatable {
  public var states: Set<OperationStatus.State>
  /// At most so many, from 1 to 250.
  public var limit: Int
  /// Only those with a greater id: the last id of the page before. 0 for the first page.
  public var after: Int

  public static let limitRange = 1...250

  public init(states: Set<OperationStatus.State> = [.waiting, .running], limit: Int = 100, after: Int = 0) {
    (self.states, self.limit, self.after) = (states, limit, after)
  }
}

/// A part of the operations there are, ordered by id.
public struct OperationPage: Codable, Sendable, Equatable {
  public var operations: [OperationStatus]
  /// What to give as `after` for the next page; nil where there is none.
  public var nextAfter: Int?

  enum CodingKeys: String, CodingKey {
    case operations
    case nextAfter = "next_after"
  }

  /// The page that a query asks for. Where an operation is given twice, having ended meanwhile, the one that has ended
  /// counts.
  ///
  /// *Complexity*: O(n log n) in what the query selects.
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
