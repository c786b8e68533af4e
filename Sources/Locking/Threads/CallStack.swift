#if DEBUG
  import Foundation

  #if canImport(Glibc)
    import Runtime
  #endif

  /// The calls that have led to where it is made.
  ///
  /// Making one takes some microseconds, because only addresses are collected. The names of functions, files and lines are
  /// looked up when it is printed, which takes up to seconds in a large program.
  struct CallStack: Sendable, CustomStringConvertible {
    private static let limit = 24

    #if canImport(Glibc)
      private let backtrace = try? Backtrace.capture(limit: limit, offset: 1, top: 0)

      /// A line for each call, the innermost first.
      var description: String {
        guard let frames = backtrace?.symbolicated()?.frames else { return "  (no call stack)" }
        return frames.map { frame in
          guard let symbol = frame.symbol else { return "  \(frame.captured)" }
          return "  \(symbol.name)" + (symbol.sourceLocation.map { " at \($0)" } ?? "")
        }.joined(separator: "\n")
      }
    #else
      private let symbols = Array(Thread.callStackSymbols.dropFirst().prefix(limit))

      /// A line for each call, the innermost first.
      var description: String { symbols.map { "  " + $0 }.joined(separator: "\n") }
    #endif
  }
#endif
