import Foundation

// Formats figures for people.

/// A share in percent. It is rounded down, so that a share just below a threshold of 90 % is not shown as 90 %.
func percent(_ share: Double) -> String { "\(Int((share * 100).rounded(.down))) %" }

/// A time in whole seconds, or in milliseconds if it is below one second.
func text(_ span: Duration) -> String {
  span < .seconds(1) ? "\(Int(span / .milliseconds(1))) ms" : "\(Int(span / .seconds(1))) s"
}
