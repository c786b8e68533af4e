import Files
import Foundation
import TestSupport
import Testing

@Suite struct ProcessStatusTests {
  private let root = TemporaryFolder()

  @Test func amountsAreInBytes() throws {
    let text = """
      Name:\tState: x
      State:\tT (stopped)
      VmSize:\t   2048 kB
      VmHWM:\t     512 kB
      VmRSS:\t     256 kB
      RssAnon:\t   128 kB
      RssShmem:\t    64 kB
      Threads:\t3
      Cpus_allowed:\t7,0000ff01

      """
    try root.write(text.utf8, to: "proc/12/status")
    let status = try #require(ProcessStatus(of: 12, root: root.path))
    let memory = try #require(status.memory)
    #expect(memory.resident == 256 << 10 && memory.anonymous == 128 << 10 && memory.shared == 64 << 10)
    #expect(memory.peakResident == 512 << 10 && status.peakResident == 512 << 10 && memory.mapped == 2048 << 10)
    #expect(status.threads == 3 && status.isStopped && status.allowedProcessors == 12)
  }

  @Test func missingFieldsAreNil() throws {
    #expect(ProcessStatus(root: root.path)?.threads == nil)
    try root.write("State:\tZ (zombie)\nThreads:\t1\nnonsense\n".utf8, to: "proc/self/status")
    let status = try #require(ProcessStatus(root: root.path))
    #expect(status.memory == nil && status.peakResident == nil && status.allowedProcessors == nil && !status.isStopped)
  }

  @Test func thisProcessIsNotStoppedAndUsesMemory() throws {
    let status = try #require(ProcessStatus(of: Int(getpid())))
    let memory = try #require(status.memory)
    #expect(memory.resident > 0 && memory.peakResident >= memory.anonymous && !status.isStopped)
  }
}
