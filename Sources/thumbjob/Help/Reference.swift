import Files
import Foundation

/// Texts that both `--help-all` and the manual page have.
enum Reference {
  /// Command lines with comments.
  static let examples = [
    "thumbjob ./images --max 4                   # a folder, into ./thumbs",
    "thumbjob . -o out -s 320x200^ -s big=1600   # two sizes, the first cropped",
    "thumbjob jobs/gallery.yml --dry-run         # a job file; options override it",
    "find . -type f -newer mark -print0 | thumbjob --files0-from -",
    "thumbjob ./images --html web                # also a gallery: web/index.html",
  ]

  typealias Entry = (term: String, text: String)

  static let signals: [Entry] = [
    ("USR1", "prints all running and waiting operations at once"),
    ("USR2", "cancels everything; run the command again to go on"),
    ("INT, TERM", "the same; the second time it exits at once"),
    ("HUP", "starts nothing new, and finishes what runs"),
    ("TSTP, CONT", "pause and continue; the pause does not count as time"),
  ]

  static let exitStatuses: [Entry] = [
    ("0", "everything was made or is up to date"),
    (
      "1",
      "a source failed, in this run or in an earlier one, and all others were made; too many failed (--halt); or a "
        + "running job refused a request"
    ),
    ("64", "a mistake on the command line"),
    ("65", "a mistake in the job file"),
    ("66", "a source or the job file does not exist, or a folder has no ledger"),
    ("69", "no running job found, or the status address is not available"),
    ("71", "the system allows too few threads or open files"),
    ("73", "the output folder, the trace, or a manifest, contact sheet or gallery cannot be created"),
    ("74", "the disk is full or faulty, standard output failed, or a ledger cannot be read"),
    ("75", "stopped early; run the same command again to go on"),
    ("130, 143", "ended by INT, by TERM"),
  ]

  static let environment: [Entry] = [
    ("THUMBJOB_TOKEN", "the token that changes over TCP need, instead of a random one"),
    ("THUMBJOB_RUNTIME_DIR", "the folder for the private sockets of running jobs"),
    ("AWS_ACCESS_KEY_ID, …", "keys, profile, region and endpoint of S3 (docs/network.md)"),
    ("NO_COLOR", "if it is set, no colours"),
  ]

  /// The width of the first column, which is ArgumentParser's.
  private static let indent = 26

  /// The entries as text of two columns, at most 80 wide.
  static func text(_ title: String, _ entries: [Entry]) -> String {
    var text = "\(title.uppercased()):\n"
    for entry in entries {
      for (number, line) in wrapped(entry.text, to: 80 - indent).enumerated() {
        let label = number == 0 ? "  \(entry.term)" : ""
        text += label.padding(toLength: indent, withPad: " ", startingAt: 0) + line + "\n"
      }
    }
    return text
  }
}
