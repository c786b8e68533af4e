/// The answer to `thumbjob --help`: one screen with what most people need. `--help-all` has the rest.
enum ShortHelp {
  static let text = """
    Makes JPEG thumbnails of whole folders, with a queue that never piles up.

    Usage: thumbjob SOURCE... [options]     a folder, file, job file (*.yml), or -
           thumbjob watch FOLDER...         keeps thumbnails up to date from now on
           thumbjob compare SOURCE...       measures other queues beside this
           thumbjob status [PID] [--watch]  what runs, what waits, and why
           thumbjob cancel [PID [NUMBER]]   cancels a job, or one operation
           thumbjob pause [PID], thumbjob resume [PID]  a job pauses; it goes on
           thumbjob report [DIR]            what was made, what failed, and why
           thumbjob split SOURCE...         lists for the machines of a cluster
           thumbjob checksum SOURCE...      SHA-256 of all files, as sha256sum
           thumbjob serve [ADDR], thumbjob thumbnail IN OUT  for other programs

    Options:
      -o, --out DIR       the folder for the thumbnails (\(usual("out")))
      -s, --size SPEC     256, 320x200, 320x200^ to crop; repeat it for more (\(usual("size")))
      -q, --quality N     of the JPEG files, 1 to 100 (\(usual("quality")))
      -j, --max N         how many operations run at once (one for each processor)
      --memory SIZE       the most memory that all of them take: 512M, 25%
      --exclude GLOB      passes over files and folders; --include reads no others
      --force, --dry-run  makes what is up to date too; lists, and makes nothing
      --json              a JSON line for each source not up to date, then a summary
      --status ADDRESS    also serves a page that shows the run: 127.0.0.1:8080

    Examples:
    \(Reference.examples.map { "  \($0)" }.joined(separator: "\n"))

    --help-all lists every option, `thumbjob COMMAND --help` those of one command.

    """

  /// The default of a setting.
  private static func usual(_ name: String) -> String {
    ThumbnailGroup.settings.first { $0.info.name == name }?.info.defaultText ?? ""
  }
}
