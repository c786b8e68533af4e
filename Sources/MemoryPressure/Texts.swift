import Foundation

// Figures as people read them.

/// Rounded down, so that nothing is called 90 % which is treated as less.
func percent(_ share: Double) -> String { "\(Int((share * 100).rounded(.down))) %" }

/// Whole seconds, or milliseconds where it is less than one.
func text(_ span: Duration) -> String {
  span < .seconds(1) ? "\(Int(span / .milliseconds(1))) ms" : "\(Int(span / .seconds(1))) s"
}

/// In the largest binary unit that fits, with one decimal where it is not whole.
func text(bytes: Int) -> String {
  var (value, unit) = (Double(bytes), 0)
  let units = ["B", "KiB", "MiB", "GiB", "TiB"]
  while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
  let tenths = (value * 10).rounded() / 10
  return tenths == tenths.rounded() ? "\(Int(tenths)) \(units[unit])" : "\(tenths) \(units[unit])"
}
