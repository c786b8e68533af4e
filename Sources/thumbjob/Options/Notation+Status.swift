import Files
import JobSettings
import StatusEndpoint

extension Notation where Value == StatusAddress {
  static var status: Self {
    .text({ text, subject throws(TextError) in try StatusAddress(setting: text, for: subject) }, text: { "\($0)" })
  }
}

extension StatusAddress {
  /// - Parameter subject: the option or key that the error names.
  init(setting text: String, for subject: String) throws(TextError) {
    do throws(StatusAddressError) { self = try StatusAddress(text) } catch {
      throw TextError("\(subject): “\(printableText(of: Array(text.utf8)))” is not an address: \(error.reason)")
    }
  }
}
