import ArgumentParser
import Files
import JobSettings
import Sourcing

/// The options that choose files of a walk, of every command that walks sources.
struct FilterOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Read only files that match, such as '*.{jpg,png}'; repeatable.", valueName: "glob"))
  var include: [String] = []

  @Option(help: ArgumentHelp("Skip files and folders that match; repeatable.", valueName: "glob"))
  var exclude: [String] = []

  @Flag(help: "Also read hidden files and folders, @eaDir and lost+found.")
  var hidden = false

  @Flag(help: "Follow symbolic links.")
  var follow = false

  func apply(to filter: inout SourceFilter, followsLinks: inout Bool) throws(TextError) {
    if !include.isEmpty { filter.includes = try Self.globs(include, of: "--include") }
    if !exclude.isEmpty { filter.excludes = try Self.globs(exclude, of: "--exclude") }
    if hidden { filter.takesHidden = true }
    if follow { followsLinks = true }
  }

  private static func globs(_ texts: [String], of option: String) throws(TextError) -> [Glob] {
    var globs: [Glob] = []
    for text in texts {
      do throws(GlobError) {
        globs.append(try Glob(bytes: CommandWords.bytes(of: text)))
      } catch {
        throw TextError("\(option): \(error)")
      }
    }
    return globs
  }
}
