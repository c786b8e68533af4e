import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

@Suite(.timeLimit(.minutes(5))) struct RuntimeFolderTests {
  private let folder = TemporaryFolder()
  private let run = FakeRun()

  private func open(_ environment: [String: String]) throws -> StatusEndpoint {
    try #require(
      try StatusEndpoint.open(nil, dataSource: run, control: run, environment: environment))
  }

  private var temporary: [String: String] { ["TMPDIR": folder.path] }
  private var inTemporary: String { folder("thumbjob-\(geteuid())") }

  private func mode(_ path: String) -> mode_t? { Sockets.status(of: path).map { $0.st_mode & 0o777 } }

  /// Leaves a socket file without a listener.
  private func leaveStale(_ path: String) throws {
    let socket = try ListeningSocket.unix(path)
    close(socket.descriptor)
  }

  @Test func onlyTheUserCanUseTheSocketAndClosingRemovesIt() throws {
    let old = umask(0)
    defer { umask(old) }
    let endpoint = try open(["XDG_RUNTIME_DIR": folder.path])
    let path = folder("thumbjob/\(getpid()).sock")
    #expect(endpoint.address == .unix(path))
    #expect(mode(path) == 0o600)
    #expect(mode(folder("thumbjob")) == 0o700)
    endpoint.close()
    #expect(mode(path) == nil)
  }

  @Test func aChosenFolderIsTheOnlyOneThatIsUsedAndSearched() throws {
    let chosen = ["THUMBJOB_RUNTIME_DIR": folder("chosen"), "XDG_RUNTIME_DIR": folder.path]
    let endpoint = try open(chosen)
    defer { endpoint.close() }
    #expect(endpoint.address == .unix("\(folder("chosen"))/\(getpid()).sock"))
    #expect(RunningJobs.find(environment: chosen).map(\.pid) == [Int(getpid())])
    let other = chosen.merging(["THUMBJOB_RUNTIME_DIR": folder("other")]) { $1 }
    #expect(RunningJobs.find(environment: other).isEmpty)
  }

  @Test func aTemporaryFolderIsUsedIfThereIsNoRuntimeFolder() throws {
    for environment in [temporary, temporary.merging(["XDG_RUNTIME_DIR": folder("gone")]) { $1 }] {
      let endpoint = try open(environment)
      defer { endpoint.close() }
      #expect(endpoint.address == .unix("\(inTemporary)/\(getpid()).sock"))
      #expect(mode(inTemporary) == 0o700)
    }
  }

  @Test func aFolderThatOthersCanReadIsRefused() throws {
    try #require(mkdir(inTemporary, 0o755) == 0)
    let error = #expect(throws: StatusEndpointError.self) { try open(temporary) }
    #expect(error?.description.contains("has mode 755; it must be 700") == true)
  }

  @Test func aLinkInPlaceOfTheFolderIsRefused() throws {
    try #require(mkdir(folder("elsewhere"), 0o700) == 0)
    try #require(symlink(folder("elsewhere"), inTemporary) == 0)
    let error = #expect(throws: StatusEndpointError.self) { try open(temporary) }
    #expect(error?.description.contains("is a link") == true)
    #expect(RunningJobs.find(environment: temporary).allSatisfy { $0.pid != Int(getpid()) })
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func aFolderOfAnotherUserIsRefused() throws {
    try #require(mkdir(inTemporary, 0o700) == 0 && chown(inTemporary, 65534, 65534) == 0)
    let error = #expect(throws: StatusEndpointError.self) { try open(temporary) }
    #expect(error?.description.contains("belongs to another user") == true)
  }

  @Test func runsAreFoundAndSocketsOfEndedRunsAreRemoved() throws {
    let endpoint = try open(temporary)
    defer { endpoint.close() }
    try leaveStale("\(inTemporary)/999999.sock")
    try leaveStale("\(inTemporary)/1.sock")  // of a live process, which may be about to listen
    try folder.write([], to: "thumbjob-\(geteuid())/7.sock")  // not a socket, so it is left alone
    let found = RunningJobs.find(environment: temporary).filter { "\($0.address)".contains(folder.path) }
    #expect(found == [RunningJob(pid: Int(getpid()), address: endpoint.address)])
    #expect(mode("\(inTemporary)/999999.sock") == nil)
    #expect(mode("\(inTemporary)/7.sock") != nil && mode("\(inTemporary)/1.sock") != nil)
  }

  @Test func aSecondRunOfTheSameProcessIDGetsASocketOfItsOwn() throws {
    let (first, second) = (try open(temporary), try open(temporary))
    #expect(second.address == .unix("\(inTemporary)/\(getpid())-2.sock"))
    first.close()
    #expect(Set(RunningJobs.find(environment: temporary).map(\.address)).contains(second.address))
    second.close()
  }

  @Test func aStaleSocketIsReplacedAndALiveOneIsNot() throws {
    let path = folder("own.sock")
    try leaveStale(path)
    let endpoint = try StatusEndpoint.open(.unix(path), dataSource: run, control: run)
    defer { endpoint?.close() }
    let error = #expect(throws: StatusEndpointError.self) {
      try StatusEndpoint.open(.unix(path), dataSource: run, control: run)
    }
    #expect(error?.description.contains("in use by another process") == true)
    #expect(mode(path) == 0o600)
  }

  @Test func aFileThatIsNotASocketIsLeftAlone() throws {
    try folder.write([1], to: "precious")
    #expect(throws: StatusEndpointError.self) {
      try StatusEndpoint.open(.unix(folder("precious")), dataSource: run, control: run)
    }
    #expect(try folder.bytes("precious").count == 1)
  }

  @Test func aPathTooLongForASocketIsRefusedWithItsLimit() {
    let path = folder(String(repeating: "x", count: 120))
    let error = #expect(throws: StatusEndpointError.self) {
      try StatusEndpoint.open(.unix(path), dataSource: run, control: run)
    }
    #expect(error?.description.contains("\(Sockets.longestPath) bytes") == true)
  }

  @Test func aSocketThatReplacedOursIsNotRemoved() throws {
    let path = folder("own.sock")
    let endpoint = try StatusEndpoint.open(.unix(path), dataSource: run, control: run)
    unlink(path)
    try leaveStale(path)
    endpoint?.removeSocket()
    endpoint?.close()
    #expect(mode(path) != nil)
  }
}
