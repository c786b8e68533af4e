import ArgumentParser

/// A command that handles signals itself. During all other commands signals have their default effect.
protocol SignalHandlingCommand: ParsableCommand {}
