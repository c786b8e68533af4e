import Foundation

/// A chart of lines over time or over sizes, as SVG. Its colours come from the page's style; the lines also differ by their
/// dashes.
struct LineChart {
  struct Point {
    var x: Double
    var y: Double
  }

  struct Line {
    /// The class in the page's style.
    let kind: String
    let points: [Point]
    /// The text at a mark on the last point; nil for no mark.
    let endMark: String?
    /// The points that have a cross, by their indices. Of a line over sizes, every other point has a dot.
    var crosses: Set<Int> = []
  }

  /// What is from left to right.
  enum Axis {
    case seconds
    /// Sizes at equal distances; the first is at 0, the next at 1.
    case sizes([String])
  }

  let id: String
  let title: String
  /// The chart in words, for screen readers.
  let description: String
  let lines: [Line]
  /// A horizontal line, with its name.
  let limit: (level: Double, name: String)?
  /// Whether the axis has marks at powers of two, from 1 MiB; else they are at round decimal numbers.
  let isBinary: Bool
  let label: (Double) -> String
  var axis = Axis.seconds

  private static let (width, height) = (380.0, 258.0)
  private static let (left, right, top, bottom) = (66.0, 370.0, 14.0, 212.0)
  /// The largest number of points of a line. Of more points, only the peaks are drawn.
  private static let mostPoints = 160

  var svg: String {
    let seconds = max(lines.flatMap(\.points).map(\.x).max() ?? 0, 0.1)
    // Between sizes, lines begin and end within the chart, so that their marks have room.
    let margin: Double = if case .sizes = axis { 14 } else { 0 }
    let highest = max(lines.flatMap(\.points).map(\.y).max() ?? 0, (limit?.level ?? 0) * 1.12, 1)
    // The numbers are counts. With a step below 1 or of 2.5, their rounded names would be wrong.
    let step = isBinary ? Self.binaryStep(highest) : Self.wholeStep(highest)
    let ceiling = max((highest / step).rounded(.up) * step, step)
    func x(_ value: Double) -> Double {
      Self.left + margin + (Self.right - Self.left - 2 * margin) * value / seconds
    }
    func y(_ value: Double) -> Double { Self.bottom - (Self.bottom - Self.top) * value / ceiling }
    var parts = [
      "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-labelledby=\"\(id)-t \(id)-d\">",
      "<title id=\"\(id)-t\">\(escaped(title))</title><desc id=\"\(id)-d\">\(escaped(description))</desc>",
    ]
    for level in stride(from: 0, through: ceiling + step / 2, by: step) {
      parts.append(Self.line("axis", Self.left, y(level), Self.right, y(level)))
      parts.append(Self.text("end", Self.left - 6, y(level) + 4, label(level)))
    }
    for (place, name) in ticks(upTo: seconds) {
      parts.append(Self.line("axis", x(place), Self.bottom, x(place), Self.bottom + 4))
      parts.append(Self.text("middle", x(place), Self.bottom + 18, name))
    }
    parts.append(Self.text("middle", (Self.left + Self.right) / 2, Self.bottom + 38, axisName))
    if let limit {
      parts.append(Self.line("limit", Self.left, y(limit.level), Self.right, y(limit.level)))
      parts.append(Self.text("end", Self.right, y(limit.level) - 4, limit.name))
    }
    // Above all lines, so that none crosses their text.
    var endMarks: [String] = []
    for line in lines {
      let shown = Self.thinned(line.points)
      let path = shown.map { "\(Self.digits(x($0.x))),\(Self.digits(y($0.y)))" }.joined(separator: " ")
      parts.append("<polyline class=\"\(line.kind)\" points=\"\(path)\"/>")
      if case .sizes = axis {
        for (index, point) in line.points.enumerated() {
          let (x, y) = (x(point.x), y(point.y))
          endMarks.append(
            line.crosses.contains(index)
              ? Self.cross(line.kind, x, y)
              : "<circle class=\"\(line.kind)\" cx=\"\(Self.digits(x))\" cy=\"\(Self.digits(y))\" r=\"3\"/>")
        }
      }
      if let endMark = line.endMark, let last = shown.last {
        endMarks.append(Self.cross(line.kind, x(last.x), y(last.y), endMark))
      }
    }
    return (parts + endMarks + ["</svg>"]).joined(separator: "\n")
  }

  private func ticks(upTo seconds: Double) -> [(place: Double, name: String)] {
    switch axis {
    case .seconds:
      stride(from: 0, through: seconds, by: Self.step(seconds)).map { ($0, Self.time($0)) }
    case .sizes(let names): names.enumerated().map { (Double($0), $1) }
    }
  }

  private var axisName: String { if case .seconds = axis { "seconds" } else { "size of the thumbnails" } }

  /// At most `mostPoints`: the highest point of each group of neighbours, and the last point.
  static func thinned(_ points: [Point]) -> [Point] {
    guard points.count > mostPoints else { return points }
    let size = (points.count + mostPoints - 2) / (mostPoints - 1)
    let groups = stride(from: 0, to: points.count - 1, by: size).map { start in
      points[start..<min(start + size, points.count - 1)].max { $0.y < $1.y } ?? points[start]
    }
    return groups + points.suffix(1)
  }

  /// The distance between marks at round numbers, such that `value` spans four or five of them.
  private static func step(_ value: Double) -> Double {
    let power = pow(10, floor(log10(value / 4)))
    return [1, 2, 2.5, 5, 10].map { $0 * power }.first { value / $0 <= 5 } ?? power * 10
  }

  /// The same at whole numbers.
  private static func wholeStep(_ value: Double) -> Double {
    let step = step(value)
    return step < 10 ? step.rounded(.up) : step
  }

  private static func binaryStep(_ bytes: Double) -> Double {
    var step = 1_048_576.0
    while bytes / step > 5 { step *= 2 }
    return step
  }

  /// A cross at the end of a line, with a text on the side that has room.
  private static func cross(_ kind: String, _ x: Double, _ y: Double, _ text: String) -> String {
    let isLeft = x < width / 2
    let words = Self.text(
      isLeft ? "start" : "end", isLeft ? x + 10 : x - 10, min(max(y + 4, top + 8), bottom - 8), text, "end-mark \(kind)"
    )
    return cross(kind, x, y) + words
  }

  private static func cross(_ kind: String, _ x: Double, _ y: Double) -> String {
    "<path class=\"cross \(kind)\" d=\"M\(digits(x - 5)),\(digits(y - 5))l10,10m0,-10l-10,10\"/>"
  }

  private static func line(_ kind: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
    "<line class=\"\(kind)\" x1=\"\(digits(x1))\" y1=\"\(digits(y1))\" x2=\"\(digits(x2))\" y2=\"\(digits(y2))\"/>"
  }

  private static func text(
    _ anchor: String, _ x: Double, _ y: Double, _ text: String, _ kind: String = "label"
  ) -> String {
    "<text class=\"\(kind)\" text-anchor=\"\(anchor)\" x=\"\(digits(x))\" y=\"\(digits(y))\">\(escaped(text))</text>"
  }

  private static func time(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds))" : String(format: "%.2g", seconds)
  }

  private static func digits(_ value: Double) -> String { String(format: "%.1f", value) }
}
