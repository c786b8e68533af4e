import BoundedQueue
import Fetching
import Files
import Foundation
import JobSettings
import Jobs
import PictureMaking
import Pictures
import Places
import Sourcing
import Splitting
import StatusEndpoint
import Thumbnails

/// Adds to the errors of the libraries what a user can do about them. The libraries know no options.
enum Advice {
  /// The line that a user reads: the error, and the advice if there is one.
  ///
  /// - Parameter consequence: stands between them; nil if the error needs none.
  static func line(_ error: any Error, consequence: String? = nil) -> String {
    ["\(error)", consequence, advice(on: error)].compactMap { $0 }.joined(separator: "; ")
  }

  private static func advice(on error: any Error) -> String? {
    switch error {
    case let failure as SourceFailure: advice(on: failure)
    case let error as ThumbnailError: advice(on: error)
    case let error as OutputError: advice(on: error)
    case .output(let error) as JoinError: advice(on: error)
    case .memory(let error, let plan) as JoinError:
      memoryOption(for: error.needed, in: plan).map { "\($0) would allow it" }
    case let error as WalkError: advice(on: error)
    case .isForeign as SplitError: "choose another with --into"
    case is StatusEndpointError: "--status chooses another address, or off"
    default: nil
    }
  }

  private static func advice(on failure: SourceFailure) -> String? {
    switch failure {
    case .source(let error): advice(on: error)
    case .output(let error): advice(on: error)
    case .memory(let error, let plan):
      memoryOption(for: error.needed, in: plan).map { "\($0) would allow it" }
        ?? "the process may use \(plan.limit) in all, and needs a part of that itself"
    case .timeout: "--timeout allows more"
    case .network(let error): advice(on: error)
    case .decoder(_, .killed), .decoder(_, .refused): "the next run tries it again; with --retries 1, this run does"
    case .decoder(_, .wrong): "reinstall thumbjob; ldd shows what the program lacks"
    case .decoder(_, .unfenced): "--isolate always does without what is missing"
    // Advice never weakens the fence for a file that may be damaged.
    case .decoder(_, .crashed), .decoder(_, .missing), .decoder(_, .memory): nil
    case .placeIsSource: "choose another folder with --out"
    case .earlier(_, _, _, let time): "not tried since \(Units.day(time)); --retry-failed tries it"
    case .placeTaken: Self.otherPlace
    case .placeReserved, .other: nil
    }
  }

  private static func advice(on error: FetchError) -> String? {
    switch error {
    case .privateAddress: "--allow-private would allow it"
    case .tooLarge(let needed?, _) where needed > NetworkSettings.mostBytes: nil
    case .tooLarge(let needed?, _): "--limit-bytes \((needed + (1 << 20) - 1) >> 20)M would let it pass"
    case .tooLarge(nil, _): "--limit-bytes raises it"
    case .hostDown: "the next run tries it again"
    default: nil
    }
  }

  private static func advice(on error: ThumbnailError) -> String? {
    switch error {
    case .corrupt: "--fail-on truncated may let it pass"
    case .imperfect: "--fail-on error may let it pass"
    case .tooManyPixels(let size, _): "--limit-pixels \(size.count) would let it pass"
    case .unsupportedType(let type) where PictureReader.knows(type): BuildTrait.formats.absence
    case .thumbnailTooLarge(let size, _): "ask for a smaller size, or --limit-pixels \(size.count)"
    case .sideTooLong: "ask for a smaller size, or another --format"
    default: nil
    }
  }

  private static func advice(on error: OutputError) -> String? {
    switch error.kind {
    case .cannotCreate: "choose another with --out"
    case .ofAnotherUser: "run thumbjob as that user"
    case .isSource, .hasPhotos:
      "choose another with --out, or put the thumbnails beside the photos under other names, as with --name '%d/%s-small'"
    case .notJoin(let kind): "move it away or choose another place with --\(kind.setting)"
    case .foreign, .unreadable: "move it away or choose another folder with --out"
    case .taken:
      "\(Self.otherPlace) or another folder with --out, or give the folders of both in one run; --force replaces it"
    case .sizesMeet: "use %w and %h, the box of the size, in the pattern"
    case .notKept(let error): Self.advice(on: error)
    case .noWorkFolder: "set TMPDIR to another folder"
    case .blocked where error.error == .isDirectory:
      "if it has only thumbnails of photos that are gone, --prune removes them"
    case .shared, .blocked, .nameTooLong, .removed, .closed, .cannotRemove, .failed: nil
    }
  }

  /// How each of two sources gets a place of its own.
  private static let otherPlace = "rename one of the sources, or use --name '%d/%s-%e'"

  private static func advice(on error: WalkError) -> String? {
    switch error.kind {
    case .missingEntry where error.path.bytes.contains(UInt8(ascii: "\n")):
      "give lists with a path on each line with - instead of --files0-from"
    case .missingArgument: neighbour(of: error.path).map { "did you mean \($0.printable)?" }
    case .tooManyOpenFiles: "raise the limit with ulimit -n or lower --max"
    case .notListed(let error): advice(on: error)
    case .nulInEntry: "give NUL-separated lists with --files0-from -"
    default: nil
    }
  }

  /// The most names that are compared with a misspelled one.
  private static let mostNames = 1000

  /// The file or folder beside a missing one that is named nearly the same; nil if there is none.
  private static func neighbour(of path: Path) -> Path? {
    // A name of three letters is near to any other.
    guard path.lastName.length > 3 else { return nil }
    let folder = path.parent
    guard case .success(let open) = OpenFolder.open(folder.isEmpty ? "." : folder, in: AT_FDCWD) else { return nil }
    var names: [String] = []
    while names.count < mostNames, case .success(let entry?) = open.next() {
      // A link that leads nowhere is there under the very name.
      if entry.name != path.lastName, let name = String(validating: entry.name.bytes, as: UTF8.self) {
        names.append(name)
      }
    }
    let word = String(decoding: path.lastName.bytes, as: UTF8.self)
    return NearestWord.to(word, among: names).map { folder.appending(Path($0)) }
  }

  /// The warning of a budget that the process may not use; nil if it may.
  ///
  /// - Parameter isRequested: whether the user has asked for this budget.
  static func warning(of plan: MemoryPlan, isRequested: Bool) -> String? {
    guard plan.budget.bytes > plan.available else { return nil }
    let amount = ByteCount.memory(plan.budget.bytes)
    let subject = isRequested ? "--memory \(amount)" : "the smallest budget, \(amount),"
    return "\(subject) is more than is left of what this process may use, \(plan.limit); it may be killed"
  }

  /// The warning that pictures will fail, because no decoder process can be started.
  static func warning(of obstacle: DecoderObstacle, _ isolation: Isolation) -> String {
    let failing =
      isolation.isForAll
      ? "all pictures need it and fail" : "all but faultless JPEGs need it and fail"
    return switch obstacle {
    case .missing(let name, let folders):
      "\(name) was not found in \(PlaceText.text(folders.map(\.printable))); \(failing); reinstall thumbjob"
    case .notExecutable(let path): "\(path.printable) may not be executed; \(failing); allow it with chmod +x"
    }
  }

  /// The option that lets one operation reserve so many bytes; nil if the process may not use that much.
  static func memoryOption(for bytes: Int, in plan: MemoryPlan) -> String? {
    bytes > plan.available ? nil : "--memory \((bytes + (1 << 20) - 1) >> 20)M"
  }
}

extension StopCause {
  /// The cause in the words of the command, to follow `stopped`, such as `by USR2`.
  var text: String {
    switch self {
    case .startNothingNew: "by HUP"
    case .timeIsUp: "because its time (--for) is over"
    case .tooManyFailures: "because too many sources failed (--halt)"
    case .outputFailed(let error): "because no more can be written: \(error.error?.description ?? "\(error)")"
    case .pressure: "by memory pressure (--on-pressure cancel)"
    case .cancelled(let sender), .shutdown(let sender): "by \(sender)"
    case .outputLost: "because its standard output failed"
    }
  }

  /// How to go on after the stop.
  var wayOn: String {
    switch self {
    case .outputFailed(let error) where error.isOutOfSpace: "make room and run the same command again"
    case .outputFailed(let error) where error.kind == .removed: Self.usualWayOn
    case .outputFailed(let error) where error.isOfBucket: "mend that and run the same command again"
    case .outputFailed: "make the output folder writable and run the same command again"
    case .tooManyFailures: "repair or --exclude the failed sources, or raise --halt"
    default: Self.usualWayOn
    }
  }

  static var usualWayOn: String { "run the same command again to go on" }
}

extension JobReport {
  /// Why the job ended before all its sources were done.
  var whyWorkRemains: String {
    if let stopCause { return "stopped \(stopCause.text)" }
    var parts: [String] = []
    if tally.cancelledByUser > 0 { parts.append("\(tally.cancelledByUser) cancelled by the user") }
    let others = tally.cancelled - tally.cancelledByUser
    if others > 0 { parts.append("\(others) left because memory was critical") }
    parts += joins.filter(\.isLeft).map { "\($0.kind.rawValue) not made" }
    return parts.isEmpty ? "not all sources were reached" : parts.joined(separator: ", ")
  }
}
