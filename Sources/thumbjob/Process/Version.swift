import JobSettings

/// The version of thumbjob.
enum Version {
  static let current = "0.1.0"

  /// The version, with the parts that the program is built without.
  static var description: String {
    let missing = BuildTrait.missing.map(\.rawValue.capitalized)
    return missing.isEmpty ? current : "\(current) (without the traits \(missing.joined(separator: ", ")))"
  }
}
