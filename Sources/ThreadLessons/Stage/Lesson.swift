/// A claim about threads, shown by two small programs that do the same: one in a wrong form, one in the right form.
///
/// The programs use gates, so that the threads of a wrong form meet in the order that brings its fault about, in every run.
///
/// A lesson is a file. In it, `wrong()` and `right()` are the code that people are shown.
public protocol Lesson: Sendable {
  /// Its name on the command line, such as "lost-observer".
  static var name: String { get }
  /// What the wrong form overlooks: one sentence.
  static var claim: String { get }
  /// How Linux and Swift behave today: one sentence.
  static var today: String { get }
  /// The module and the name of its source file, as `#fileID` has them.
  static var file: String { get }

  static func wrong() -> Outcome
  static func right() -> Outcome
}

/// What a form of a lesson has done.
public struct Outcome: Sendable, Equatable {
  /// Whether the fault has come about. It is observed, and not declared.
  public let isFaulty: Bool
  /// What was observed, such as "1 of 2 observers is left".
  public let figure: String

  init(isFaulty: Bool, _ figure: String) { (self.isFaulty, self.figure) = (isFaulty, figure) }
}
