import Foundation
import TestSupport
import Testing

extension CommandTests {
  @Suite(.timeLimit(.minutes(5))) struct Watch {
    static let photo = SyntheticPhoto(seed: 1, width: 120, height: 80).jpeg()
    static let thirdPhoto = SyntheticPhoto(seed: 3, width: 100, height: 80).jpeg()
    static let otherPhoto = SyntheticPhoto(seed: 2, width: 80, height: 120).jpeg()

    /// A folder with two photos below `images`.
    private func withPhotos() throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      try folder.write(Self.photo, to: "images/a.jpg")
      try folder.write(Self.photo, to: "images/album/b.jpg")
      return folder
    }

    /// Watches `images`, calls `body` once it does, and ends it by TERM.
    private func watched(
      _ folder: TemporaryFolder, _ arguments: [String] = ["images"],
      _ body: @escaping @Sendable (BuiltCommand.Run) async throws -> Void
    ) async throws -> BuiltCommand.Ending {
      try await BuiltCommand.run(executable: BuiltCommand.path, ["watch"] + arguments + ["-v"], in: folder) { run in
        try await expectEventually { run.errors.contains("thumbjob: watching ") }
        try await body(run)
        run.send(SIGTERM)
      }
    }

    private func move(_ folder: TemporaryFolder, _ old: String, _ new: String) {
      #expect(rename(folder(old), folder(new)) == 0)
    }

    @Test func thumbnailsFollowTheirPhotos() async throws {
      let folder = try withPhotos()
      try folder.write(Self.otherPhoto, to: "elsewhere/deep/er/e.jpg")
      let ending = try await watched(folder) { run in
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "album/b.jpg"] }
        try folder.write(Self.otherPhoto, to: "images/new/c.jpg")
        try await expectEventually { folder.exists("thumbs/new/c.jpg") }
        move(folder, "images/album", "images/renamed")
        move(folder, "elsewhere/deep", "images/deep")
        unlink(folder("images/a.jpg"))
        try await expectEventually {
          folder.files(below: "thumbs") == ["deep/er/e.jpg", "new/c.jpg", "renamed/b.jpg"]
        }
        #expect(!folder.exists("thumbs/album"), "a folder that is empty goes, too")
        // In the folders that came later, changes are seen as well.
        try folder.write(Self.photo, to: "images/deep/er/f.jpg")
        move(folder, "images/renamed/b.jpg", "images/renamed/g.jpg")
        try await expectEventually {
          folder.files(below: "thumbs") == ["deep/er/e.jpg", "deep/er/f.jpg", "new/c.jpg", "renamed/g.jpg"]
        }
      }
      #expect(ending.status == 143, "\(ending.errors)")
      #expect(!ending.errors.contains("failed"), "\(ending.errors)")
      #expect(folder.leftovers.isEmpty)
    }

    @Test func namedThumbnailsFollowTheirPhotos() async throws {
      let folder = try withPhotos()
      let arguments = ["images", "--name", "%d/%s-small"]
      @Sendable func thumbnails() -> [String] { folder.files(below: "thumbs") }
      let ending = try await watched(folder, arguments) { run in
        try await expectEventually { thumbnails() == ["a-small.jpg", "album/b-small.jpg"] }
        try folder.write(Self.otherPhoto, to: "images/new/c.jpg")
        try await expectEventually { thumbnails().contains("new/c-small.jpg") }
        move(folder, "images/album", "images/renamed")
        unlink(folder("images/a.jpg"))
        try await expectEventually { thumbnails() == ["new/c-small.jpg", "renamed/b-small.jpg"] }
      }
      #expect(ending.status == 143 && !ending.errors.contains("failed"), "\(ending.errors)")
    }

    @Test func aWatchRefusesNamesThatTellWhatIsInAPhotoOrPutThumbnailsBesideIt() async throws {
      let folder = try withPhotos()
      for (arguments, text) in [
        (["--name", "%Y/%s"], "a watch removes thumbnails, and with %W, %H"),
        (["--name", "%d/%s-small", "-o", "images/sub"], "name an “out” outside of images"),
        (["--name", "%d/%s-small", "-o", "images"], "name an “out” outside of images"),
      ] {
        let ending = try await BuiltCommand.run(
          executable: BuiltCommand.path, ["watch", "images"] + arguments, in: folder)
        #expect(ending.status == 64 && ending.errors.contains(text), "\(ending.errors)")
      }
    }

    @Test func manifestAndGalleryFollowTheirPhotos() async throws {
      let folder = try withPhotos()
      try folder.write(Self.photo, to: "images/IMG_10.jpg")
      try folder.write(Self.photo, to: "images/IMG_9.jpg")
      try folder.write(Self.photo.prefix(300), to: "images/broken.jpg")
      @Sendable func listed() -> [String] {
        guard let text = try? String(decoding: folder.bytes("list.json"), as: UTF8.self) else { return [] }
        return text.matches(of: /"source":"images\/([^"]*)"/).map { String($0.output.1) }
      }
      @Sendable func gallery() -> String {
        (try? folder.bytes("web/page/data.js")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      let words = ["images", "--manifest", "list.json", "--html", "web", "--json"]
      let ending = try await watched(folder, words) { run in
        try await expectEventually { listed() == ["IMG_9.jpg", "IMG_10.jpg", "a.jpg", "album/b.jpg", "broken.jpg"] }
        try await expectEventually { gallery().contains("broken.jpg") }
        try folder.write(Self.otherPhoto, to: "images/album/c.jpg")
        try folder.write(Self.photo, to: "images/broken.jpg")
        unlink(folder("images/IMG_9.jpg"))
        try await expectEventually { listed() == ["IMG_10.jpg", "a.jpg", "album/b.jpg", "album/c.jpg", "broken.jpg"] }
        try await expectEventually { gallery().contains("album/c.jpg") && gallery().contains("\"missing\":[]") }
        move(folder, "images/album", "elsewhere")
        try folder.write(Array("text".utf8), to: "images/a.jpg.txt")
        move(folder, "images/a.jpg.txt", "images/a.jpg")
        try await expectEventually {
          listed() == ["IMG_10.jpg", "broken.jpg"] || listed() == ["IMG_10.jpg", "a.jpg", "broken.jpg"]
        }
      }
      #expect(ending.status == 143, "\(ending.errors)")
      let described = ending.output.components(separatedBy: "\"source\":\"images/IMG_10.jpg\"").count - 1
      #expect(described == 1, "a change of one photo costs one entry, not the walk: \(ending.output)")
      #expect(folder.leftovers.isEmpty)
    }

    @Test func aPhotoThatChangesAgainAndAgainIsMadeAgain() async throws {
      let folder = try withPhotos()
      let ending = try await watched(folder) { run in
        let line = "images/a.jpg → thumbs/a.jpg "
        let changes: [(photo: [UInt8]?, size: String)] = [
          (nil, "120 × 80"), (Self.otherPhoto, "80 × 120"), (Self.photo, "120 × 80"), (Self.otherPhoto, "80 × 120"),
        ]
        for (photo, size) in changes {
          if let photo { try folder.write(photo, to: "images/a.jpg") }
          try await expectEventually { run.errors.components(separatedBy: line).last?.hasPrefix(size) == true }
        }
      }
      #expect(ending.status == 143 && !ending.errors.contains("another source"), "\(ending.errors)")
    }

    @Test func aFileIsNotReadBeforeItIsClosed() async throws {
      let folder = try withPhotos()
      let ending = try await watched(folder) { run in
        let slow = FileHandle(
          fileDescriptor: open(folder("images/slow.jpg"), O_CREAT | O_WRONLY, 0o644), closeOnDealloc: true)
        try slow.write(contentsOf: Self.photo.prefix(Self.photo.count / 2))
        // Other photos are made meanwhile.
        try folder.write(Self.photo, to: "images/c.jpg")
        try await expectEventually { folder.exists("thumbs/c.jpg") }
        try slow.write(contentsOf: Self.photo.dropFirst(Self.photo.count / 2))
        try slow.close()
        try await expectEventually { folder.exists("thumbs/slow.jpg") }
      }
      #expect(!ending.errors.contains("failed"), "\(ending.errors)")
    }

    @Test func aFailureIsPrintedAndTheWatchGoesOn() async throws {
      let folder = try withPhotos()
      let ending = try await watched(folder) { run in
        try folder.write([1, 2, 3], to: "images/broken.jpg")
        try await expectEventually { run.errors.contains("images/broken.jpg: ") }
        try folder.write(Self.photo, to: "images/broken.jpg")
        try await expectEventually { folder.exists("thumbs/broken.jpg") }
      }
      #expect(ending.status == 143 && ending.errors.contains("1 failed"), "\(ending.errors)")
    }

    @Test func filesThatAreNotOursStayWhenPhotosGo() async throws {
      let folder = try withPhotos()
      try folder.write([1], to: "images/album/notes.txt")
      let ending = try await watched(folder) { run in
        try await expectEventually { folder.exists("thumbs/album/b.jpg") }
        try folder.write([9], to: "thumbs/album/mine.jpg")
        try FileManager.default.removeItem(atPath: folder("images/album"))
        try await expectEventually { !folder.exists("thumbs/album/b.jpg") }
      }
      #expect(folder.files(below: "thumbs") == ["a.jpg", "album/mine.jpg"])
      #expect(ending.status == 143)
    }

    @Test func aSourceFolderThatIsGoneKeepsItsThumbnailsAndIsWatchedAgain() async throws {
      let folder = try withPhotos()
      _ = try await watched(folder) { run in
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "album/b.jpg"] }
        move(folder, "images", "away")
        try await expectEventually { run.errors.contains("images: gone") }
        unlink(folder("away/a.jpg"))
        #expect(folder.files(below: "thumbs") == ["a.jpg", "album/b.jpg"])
        move(folder, "away", "images")
        try await expectEventually { run.errors.contains("images: there again") }
        try await expectEventually { folder.files(below: "thumbs") == ["album/b.jpg"] }
        try folder.write(Self.photo, to: "images/album/c.jpg")
        try await expectEventually { folder.exists("thumbs/album/c.jpg") }
      }
    }

    @Test(.enabled(if: MountedFolder.isPossible, "needs the right to mount"))
    func aDiskThatIsUnmountedKeepsItsThumbnails() async throws {
      let folder = try withPhotos()
      try FileManager.default.createDirectory(atPath: folder("images/disk"), withIntermediateDirectories: true)
      let box = LockedBox(MountedFolder(at: folder("images/disk"), options: "size=1m"))
      #expect(box.value != nil)
      try folder.write(Self.photo, to: "images/disk/d.jpg")
      let ending = try await watched(folder) { run in
        try await expectEventually { folder.exists("thumbs/disk/d.jpg") }
        box.change { $0 = nil }
        // As a desktop does after it has unmounted a disk.
        rmdir(folder("images/disk"))
        try folder.write(Self.photo, to: "images/after.jpg")
        try await expectEventually { folder.exists("thumbs/after.jpg") }
        unlink(folder("images/a.jpg"))
        try await expectEventually { !folder.exists("thumbs/a.jpg") }
      }
      #expect(folder.files(below: "thumbs") == ["after.jpg", "album/b.jpg", "disk/d.jpg"], "\(ending.errors)")
    }

    @Test func lostChangesAreFoundByAWalk() async throws {
      let folder = try withPhotos()
      let queued = try #require(
        Int(
          String(decoding: try Data(contentsOf: URL(filePath: "/proc/sys/fs/inotify/max_queued_events")), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)))
      let ending = try await watched(folder) { run in
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "album/b.jpg"] }
        run.send(SIGSTOP)
        try await expectEventually { run.isStopped }
        for number in 0...queued { close(creat(folder("images/\(number % 2).txt"), 0o644)) }
        try folder.write(Self.photo, to: "images/new/c.jpg")
        try FileManager.default.removeItem(atPath: folder("images/album"))
        run.send(SIGCONT)
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "new/c.jpg"] }
        try folder.write(Self.photo, to: "images/new/d.jpg")
        try await expectEventually { folder.exists("thumbs/new/d.jpg") }
      }
      #expect(ending.errors.contains("too many changes at once, and some were lost; walking all folders again"))
    }

    /// Lets a user of its own namespace watch one folder only.
    private static let limit = "echo 1 > /proc/sys/user/max_inotify_watches"
    private static let canLimit = system("unshare -Ur sh -c '\(limit)' 2>/dev/null") == 0

    @Test(.enabled(if: canLimit, "needs a user namespace"))
    func whereFoldersCannotBeWatchedTheyArePolled() async throws {
      let folder = try withPhotos()
      let script = "\(Self.limit) && exec \"$0\" watch images -v --size 32"
      let words = ["unshare", "-Ur", "sh", "-c", script, BuiltCommand.path]
      let ending = try await BuiltCommand.run(executable: "/usr/bin/env", words, in: folder) { run in
        try await expectEventually { run.errors.contains("thumbjob: watching ") }
        run.send(SIGTERM)
      }
      #expect(
        ending.errors.contains("thumbjob: images: has 2 folders, more than may be watched")
          && ending.errors.contains("; looking for changes every 10.0 s; to watch it: sysctl "), "\(ending.errors)")
    }

    @Test func pollingFindsNewChangedAndRemovedPhotos() async throws {
      let folder = try withPhotos()
      try folder.write([1, 2, 3], to: "images/broken.jpg")
      let ending = try await watched(folder, ["images", "--poll", "200ms", "--json"]) { run in
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "album/b.jpg"] }
        try folder.write(Self.photo, to: "images/new/c.jpg")
        unlink(folder("images/album/b.jpg"))
        try await expectEventually { folder.files(below: "thumbs") == ["a.jpg", "new/c.jpg"] }
      }
      #expect(ending.errors.contains("images: looking for changes every 0.2 s"))
      #expect(ending.errorLines.filter { $0.contains("broken.jpg") }.count == 1, "a failure is reported once")
      let events = ending.output.split(separator: "\n")
      #expect(events.contains { $0.contains(#""event":"removed""#) && $0.contains("album/b.jpg") })
      #expect(events.contains { $0.contains(#""event":"watch""#) && $0.contains(#""reason":"asked-for""#) })
      #expect(ending.number("found") == 4, "what is up to date is counted once: \(events.last ?? "")")
    }

    @Test(arguments: [[], ["--poll", "200ms"]])
    func aPhotoThatLosesItsPlaceIsNamedOnce(options: [String]) async throws {
      let folder = try withPhotos()
      try folder.write(Self.photo, to: "images/scan.png.jpg")
      let reason = "images/scan.png.jpg: another source, images/scan.png, has the place of its thumbnail"
      let contents: @Sendable () -> Data? = { try? Data(contentsOf: URL(filePath: folder("thumbs/scan.png.jpg"))) }
      let count: @Sendable (String) -> Int = { $0.split(separator: "\n").count { $0.contains(reason) } }
      let ending = try await watched(folder, ["images"] + options) { run in
        try await expectEventually { contents() != nil }
        let first = contents()
        for round in 1...2 {
          try folder.write(Self.otherPhoto, to: "images/scan.png")
          try await expectEventually { count(run.errors) == round && contents() != first }
          // It is not told again when the photo with the better claim changes.
          let second = contents()
          try folder.write(Self.thirdPhoto, to: "images/scan.png")
          try await expectEventually { ![first, second].contains(contents()) }
          unlink(folder("images/scan.png"))
          try await expectEventually { contents() == first }
        }
      }
      #expect(count(ending.errors) == 2, "\(ending.errors)")
    }

    @Test func itSaysOnceThatPhotosHaveFurtherNames() async throws {
      let folder = try withPhotos()
      for name in ["c", "d"] { #expect(link(folder("images/a.jpg"), folder("images/\(name).jpg")) == 0) }
      let ending = try await watched(folder) { _ in }
      let lines = ending.errorLines.filter { $0.contains("hard link") }
      #expect(lines.count == 1 && lines[0].contains(".jpg: has further names (hard links); "), "\(ending.errors)")
      let polled = try await watched(folder, ["images", "--poll", "200ms"]) { _ in }
      #expect(!polled.errors.contains("hard link"), "\(polled.errors)")
    }

    @Test func aJobFileMayChooseThePollingTime() async throws {
      let folder = try withPhotos()
      try folder.write(Array("sources: images\npoll: 200ms\nout: thumbs\n".utf8), to: "job.yml")
      let ending = try await watched(folder, ["job.yml"]) { _ in }
      #expect(ending.errors.contains("images: looking for changes every 0.2 s"), "\(ending.errors)")
      let other = try await watched(folder, ["job.yml", "--poll", "2s"]) { _ in }
      #expect(other.errors.contains("images: looking for changes every 2.0 s"), "\(other.errors)")
    }

    @Test func hupEndsAWatchInOrder() async throws {
      let folder = try withPhotos()
      let ending = try await BuiltCommand.run("watch", "images", in: folder) { run in
        try await expectEventually { folder.files(below: "thumbs").count == 2 }
        run.send(SIGHUP)
      }
      #expect(ending.status == 0, "\(ending.errors)")
    }

    @Test func usr2EndsAWatch() async throws {
      let folder = try withPhotos()
      let ending = try await BuiltCommand.run("watch", "images", in: folder) { run in
        try await expectEventually { folder.files(below: "thumbs").count == 2 }
        run.send(SIGUSR2)
      }
      #expect(ending.status == 75, "\(ending.errors)")
    }

    @Test func aMissingFolderAndASettingWithAnEndAreRefused() async throws {
      let folder = try withPhotos()
      let missing = try await BuiltCommand.run("watch", "images", "none", in: folder)
      #expect(missing.status == 66 && missing.errors == "thumbjob: none: no such folder\n")
      let trace = try await BuiltCommand.run("watch", "images", "--trace", "t.json", in: folder)
      #expect(trace.status == 64 && trace.errors.hasPrefix("thumbjob: --trace: "))
      let list = try await BuiltCommand.run("watch", "-", in: folder)
      #expect(list.status == 64 && list.errors.contains("a list cannot be watched"))
      #expect(!folder.exists("thumbs"))
    }

    @Test func aTerminalShowsWhatIsDone() async throws {
      let (folder, terminal) = (try withPhotos(), PseudoTerminal(columns: 80))
      let status = try await BuiltCommand.run(["watch", "images"], on: terminal, in: folder) { pid in
        // Each line may have only a part of what was made at about the same time.
        let sum = { @Sendable (word: String) in
          terminal.lines.compactMap { line in
            line.firstMatch(of: /^thumbjob: (?:.*, )?(\d+) (\w+)/).flatMap { $0.2 == word ? Int($0.1) : nil }
          }.reduce(0, +)
        }
        try await expectEventually { sum("made") == 2 }
        unlink(folder("images/a.jpg"))
        try await expectEventually { sum("removed") == 1 }
        try folder.write(Self.otherPhoto, to: "images/c.jpg")
        try await expectEventually { sum("made") == 3 }
        kill(pid, SIGTERM)
      }
      #expect(status == 143, "\(terminal.output)")
    }

    @Test func theServiceManagerIsTold() async throws {
      let folder = try withPhotos()
      let socket = try #require(DatagramSocket(at: folder("notify")))
      let variables = ["NOTIFY_SOCKET": folder("notify"), "WATCHDOG_USEC": "200000"]
      let ending = try await BuiltCommand.run("watch", "images", in: folder, environment: variables) { run in
        try await expectEventually { socket.received.contains("READY=1") && socket.received.contains("WATCHDOG=1") }
        try await expectEventually { socket.received.contains { $0.hasPrefix("STATUS=watching 2 folders; ") } }
        run.send(SIGTERM)
      }
      #expect(ending.status == 143 && socket.received.contains("STOPPING=1"))
    }

    @Test func nothingIsToldToTheServiceManagerOfARun() async throws {
      let folder = try withPhotos()
      let socket = try #require(DatagramSocket(at: folder("notify")))
      _ = try await BuiltCommand.run("images", in: folder, environment: ["NOTIFY_SOCKET": folder("notify")])
      #expect(socket.received.isEmpty)
    }
  }
}

/// A socket that collects what is sent to it.
private final class DatagramSocket: Sendable {
  private let socket: CInt
  private let lines = LockedBox<[String]>([])

  init?(at path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    socket = Foundation.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
    let size = socklen_t(MemoryLayout.size(ofValue: address))
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
    }
    if bound != 0 { return nil }
  }

  deinit { close(socket) }

  /// Everything that was sent so far.
  var received: [String] {
    lines.change { lines in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(socket, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return lines }
        lines.append(String(decoding: buffer[..<count], as: UTF8.self))
      }
    }
  }
}

extension BuiltCommand.Run {
  /// Whether a signal has stopped the process.
  fileprivate var isStopped: Bool {
    let status = (try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)) ?? ""
    return status.split(separator: ")").last?.split(separator: " ").first == "T"
  }
}
