import Foundation

// Figures as people read them.

/// Rounded down, so that nothing is called 90 % which is treated as less.
func percent(_ share: Double) -> String { "\(Int((share * 100).rounded(.down))) %" }

/// Whole seconds, or milliseconds where it is less than one.
func text(_ span: Duration) -> String {
  span < .seconds(1) ? "\(Int(span / .milliseconds(1))) ms" : "\(Int(span / .seconds(1))) s"
}
