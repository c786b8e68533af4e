import ArgumentParser

/// A command below the root command.
protocol Subcommand: ParsableCommand {
  /// A copy of the configuration's name, because the configuration makes its texts of help when it is first used.
  static var name: String { get }
  /// Whether the command handles signals itself. During all other commands signals have their default effect.
  static var handlesSignals: Bool { get }
}
