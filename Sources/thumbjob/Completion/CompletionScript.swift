import Foundation
import JobSettings

/// The scripts with which shells complete a command line. Each asks the program itself (``Completion``), so that a script
/// never has other words than the program, and adds paths in the way of its shell.
///
/// ArgumentParser makes scripts that do not start the program. But they do not know that `run` may be left out: without it,
/// they complete no option, value or source. Nor do they complete the values in a list, such as `--keep icc,e`.
enum CompletionScript {
  static let option = "--generate-completion-script"

  /// The script that `--generate-completion-script SHELL` asks for. Without a shell, it is that of the login shell.
  ///
  /// - Throws: `TextError` if there is no script for the shell.
  static func text(for words: [String]) throws(TextError) -> String {
    let given =
      words[0].hasPrefix(option + "=") ? String(words[0].dropFirst(option.count + 1)) : words.dropFirst().first
    let shell = given ?? ProcessInfo.processInfo.environment["SHELL"]?.split(separator: "/").last.map(String.init) ?? ""
    switch shell {
    case "bash": return String(decoding: PackageResources.thumbjob_bash, as: UTF8.self)
    case "zsh": return String(decoding: PackageResources.thumbjob_zsh, as: UTF8.self)
    case "fish": return String(decoding: PackageResources.thumbjob_fish, as: UTF8.self)
    default: throw TextError("\(option): “\(shell)” is not one of bash, zsh, fish")
    }
  }
}
