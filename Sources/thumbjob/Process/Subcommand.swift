import ArgumentParser

/// A command below the root command.
protocol Subcommand: ParsableCommand {
  /// The same as in the configuration, which would have to make its texts first.
  static var name: String { get }
  /// Whether the command handles signals itself. During all other commands signals have their default effect.
  static var handlesSignals: Bool { get }
}

extension Subcommand {
  static var handlesSignals: Bool { false }
}
