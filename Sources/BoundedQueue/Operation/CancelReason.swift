/// The reason for a cancellation. Programs may have others than those here.
///
/// ```swift
/// extension CancelReason {
///   static let replaced = CancelReason("replaced", saying: "because a newer request took its place")
/// }
/// ```
public struct CancelReason: Sendable {
  /// One word, which tells reasons apart.
  public let word: String
  /// Completes a sentence that begins with "cancelled".
  public let description: String

  /// - Parameters:
  ///   - word: one word. Reasons with the same word are equal.
  ///   - description: completes a sentence that begins with "cancelled".
  public init(_ word: String, saying description: String) { (self.word, self.description) = (word, description) }

  /// The user cancelled it, or the program did on the user's behalf.
  public static let user = CancelReason("user", saying: "by the user")
  /// Memory is short.
  public static let pressure = CancelReason("pressure", saying: "by memory pressure")
  /// The process is ending.
  public static let shutdown = CancelReason("shutdown", saying: "by shutdown")
  /// The operation exceeded its time limit.
  public static let timeout = CancelReason("timeout", saying: "by its time limit")
  /// An operation that it depends on did not succeed; ``OperationSnapshot/failedDependency`` names it.
  public static let dependency = CancelReason(
    "dependency", saying: "because an operation that it depends on did not succeed")
}

extension CancelReason: Hashable, CustomStringConvertible {
  public static func == (left: CancelReason, right: CancelReason) -> Bool { left.word == right.word }

  public func hash(into hasher: inout Hasher) { hasher.combine(word) }
}
