import Foundation

/// A system call on a file failed.
package struct SystemError: Error, CustomStringConvertible {
  package let path: String
  /// A value of `errno`.
  package let number: CInt

  /// An error with the current value of `errno`.
  package init(_ path: String) { (self.path, number) = (path, errno) }

  package var description: String { "\(path): \(systemText(number))" }
}

/// The system's description of an error.
///
/// - Parameter number: a value of `errno`.
package func systemText(_ number: CInt) -> String { String(cString: strerror(number)) }
