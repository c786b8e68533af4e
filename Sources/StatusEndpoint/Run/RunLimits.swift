/// The limits of a run.
public struct RunLimits: Codable, Sendable, Equatable {
  /// The most operations that run at once; at least 1.
  public var max: Int
  /// The most operations that wait; at least 0.
  public var backlog: Int
  /// Bytes that running operations may reserve together; at least 1.
  public var budgetBytes: Int

  enum CodingKeys: String, CodingKey {
    case max, backlog
    case budgetBytes = "budget_bytes"
  }

  public init(max: Int, backlog: Int, budgetBytes: Int) {
    (self.max, self.backlog, self.budgetBytes) = (max, backlog, budgetBytes)
  }
}

/// New limits for a run, as `PATCH /limits` requests them. A limit that is nil stays unchanged.
public struct LimitsChange: Codable, Sendable, Equatable {
  /// From 1 to 1024.
  public var max: Int?
  /// From 0 to 1 000 000.
  public var backlog: Int?
  /// From 1 MiB to 1 EiB.
  public var budgetBytes: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case max, backlog
    case budgetBytes = "budget_bytes"
  }

  static let maxRange = 1...1024
  static let backlogRange = 0...1_000_000
  static let budgetRange = 1 << 20...1 << 60

  public init(max: Int? = nil, backlog: Int? = nil, budgetBytes: Int? = nil) {
    (self.max, self.backlog, self.budgetBytes) = (max, backlog, budgetBytes)
  }
}

/// The run cannot have these limits now; the description is a sentence for the client.
public struct LimitsError: Error, Sendable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
