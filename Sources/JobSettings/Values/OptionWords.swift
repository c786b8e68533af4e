import ContactSheet
import Files
import Thumbnails

// Settings whose values are words.

/// How a job responds to critical memory pressure.
package enum PressureResponse: String, Sendable, CaseIterable {
  /// Cancels all operations, and makes their thumbnails again once memory is normal.
  case requeue
  /// Cancels all operations and ends.
  case cancel
  /// Starts nothing until memory is normal.
  case pause
  /// Only reports the level, also at a warning.
  case ignore
}

/// How a job recognises that a source has not changed since its thumbnails were made.
package enum Verification: String, Sendable, CaseIterable {
  /// By size and times, and by its first and last bytes where times leave a doubt.
  case time
  /// Also by a hash of all its bytes, which the ledger has.
  case content
}

/// What sources mean for a run that failed for good in an earlier one, and have not changed.
package enum KnownFailures: String, Sendable, CaseIterable {
  /// Each is named, and the run has failed.
  case fail
  /// They are counted in the summary only.
  case ok
}

/// Which sources are decoded in a fenced helper process.
package enum Isolation: String, Sendable, CaseIterable {
  /// Every format but JPEG; JPEG files that have faults; and sources during which two runs died.
  case auto
  case always
  /// None: helper processes decode other formats than JPEG, but without a fence.
  case never
  /// As `always`; and where the kernel refuses any part of the fence, nothing is decoded.
  case require

  /// Whether sources of all formats are decoded in helper processes.
  package var isForAll: Bool { self == .always || self == .require }
}

extension RGBColor {
  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for subject: String) throws(TextError) {
    guard let color = RGBColor(parsing: text) else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a colour; write #f0f0f0, white or black")
    }
    self = color
  }
}

extension SizeSpec {
  /// The default size: a box of 256 × 256 pixels.
  static let standard = known("256")

  /// The size as a user would type it: `256` for a square box.
  var shortest: String {
    if let width, description == "\(width)x\(width)" { "\(width)" } else { description }
  }

  /// Reads a size that is a constant of this program.
  package static func known(_ text: String) -> SizeSpec {
    do { return try SizeSpec(parsing: text) } catch { preconditionFailure(error.description) }
  }

  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for subject: String) throws(TextError) {
    do {
      try self.init(parsing: text)
    } catch {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a size: \(error.reason); for example \(error.example)"
      )
    }
  }
}

extension SheetGrid {
  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for subject: String) throws(TextError) {
    do { try self.init(parsing: text) } catch {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a grid: \(error.reason); for example 4x5")
    }
  }
}
