import ArgumentParser
import Foundation
import Measuring
import Thumbnails

/// How fast photographs become planes, before anything is resized.
@main
struct DecoderBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-decoder",
    abstract: "Megabytes of JPEG that each decoder takes in a second of processor time, as a table in Markdown.")

  @Argument(help: "Folders of JPEG photographs; those in their folders are not looked at.")
  var folders: [String]

  @Option(help: "Rounds; in each, every decoder has its turn over every folder.")
  var rounds = 5

  @Option(help: "Write all figures there.")
  var json: String?

  /// One decoder over one folder: megabytes a second in every round.
  struct Entry: Codable {
    let folder: String
    let decoder: String
    var rounds: [Double] = []
  }

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("--rounds starts at 1") }
  }

  func run() throws {
    let sets = try folders.map { try PhotoSet(folder: $0) }
    let decoders = BenchmarkedDecoder.all
    var entries = sets.map { set in decoders.map { Entry(folder: set.name, decoder: $0.name) } }
    for round in 0..<rounds {
      for (index, set) in sets.enumerated() {
        for place in turns(of: decoders.count, in: round) {
          let start = processorNanoseconds()
          for photo in set.photos { try decoders[place].decode(ByteReader(bytes: photo)) }
          let seconds = Double(processorNanoseconds() - start) / 1e9
          entries[index][place].rounds.append(Double(set.bytes) / 1e6 / seconds)
        }
      }
    }
    let report = Report(entries.flatMap { $0 })
    if let json { try report.write(to: json) }
    print("MB of file a second of processor time, medians of \(rounds) rounds; \(report.title).\n")
    let rows = decoders.indices.map { place in
      [decoders[place].name] + entries.map { String(format: "%.1f", median($0[place].rounds)) }
    }
    print(table(["decoder"] + sets.map { "\($0.name), \($0.bytes / 1_000_000) MB" }, rows))
  }
}

/// The photographs of a folder, in memory.
private struct PhotoSet {
  let name: String
  let photos: [[UInt8]]
  var bytes: Int { photos.reduce(0) { $0 + $1.count } }

  init(folder: String) throws {
    let url = URL(fileURLWithPath: folder)
    name = url.lastPathComponent
    photos = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension.lowercased() == "jpg" }.map { [UInt8](try Data(contentsOf: $0)) }
    guard !photos.isEmpty else { throw ValidationError("\(folder) has no photographs, no *.jpg") }
  }
}

/// Nanoseconds that this thread has had a processor: what others do at the same time counts less.
private func processorNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
