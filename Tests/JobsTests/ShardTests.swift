import Files
import Testing

@testable import JobSettings
@testable import Sourcing

@Suite(.timeLimit(.minutes(5))) struct ShardTests {
  @Test func eachPathIsInExactlyOneShareAndTheSharesAreAboutEqual() {
    for count in [1, 2, 7, 64] {
      var counts = [Int](repeating: 0, count: count)
      for number in 0..<6_400 {
        let path = Path("2024/IMG_\(number).jpg")
        let shares = (0..<count).filter { Shard($0, of: count).contains(path) }
        #expect(shares.count == 1)
        counts[shares[0]] += 1
      }
      let fair = 6_400 / count
      #expect(counts.allSatisfy { abs($0 - fair) < fair / 2 }, "\(counts)")
    }
  }

  @Test func theShareOfAPathStaysTheSameForEver() {
    let shares = ["a.jpg", "2024/b.jpg", "ä.jpg", ""].map { Shard.index(of: Shard.hash(Path($0)), among: 1_000) }
    #expect(shares == [186, 896, 880, 957])
  }

  @Test(arguments: [
    ("0/64", ShardChoice.share(Shard(0, of: 64))), ("63/64", .share(Shard(63, of: 64))), ("7", .list(7)),
    ("auto", .auto(of: nil)), ("auto/64", .auto(of: 64)),
  ])
  func aShareIsWrittenAsIOfN(text: String, choice: ShardChoice) throws {
    #expect(try ShardChoice(parsing: text, for: "--shard") == choice)
  }

  @Test(arguments: [
    "", "/", "1/", "/4", "-1/4", "+1/4", "4/4", "1/0", "0/0", "0/100001", "a/4", "auto/x", "auto/0", "1/2/3", " 1/4",
    "1.0/4", "١/4", "99999999999999999999/4",
  ])
  func anythingElseIsRefused(text: String) {
    #expect(throws: TextError.self) { try ShardChoice(parsing: text, for: "--shard") }
  }

  private func found(_ choice: ShardChoice, _ variables: [String: String], parts: Int? = nil) -> String {
    do throws(TextError) {
      if let parts { return "\(try choice.resolved(among: parts, in: variables))" }
      return "\(try choice.resolved(in: variables))"
    } catch {
      return error.description
    }
  }

  private func slurm(_ task: Int, _ first: Int, _ last: Int, _ count: Int, step: Int = 1) -> [String: String] {
    [
      "SLURM_ARRAY_TASK_ID": "\(task)", "SLURM_ARRAY_TASK_MIN": "\(first)", "SLURM_ARRAY_TASK_MAX": "\(last)",
      "SLURM_ARRAY_TASK_COUNT": "\(count)", "SLURM_ARRAY_TASK_STEP": "\(step)",
    ]
  }

  @Test func aWholeArrayTellsItsShares() {
    let auto = ShardChoice.auto(of: nil)
    #expect(found(auto, slurm(7, 0, 63, 64)) == "7/64")
    #expect(found(auto, slurm(64, 1, 64, 64)) == "63/64")
    #expect(found(auto, slurm(20, 0, 30, 4, step: 10)) == "2/4")
    #expect(found(auto, ["AWS_BATCH_JOB_ARRAY_INDEX": "3", "AWS_BATCH_JOB_ARRAY_SIZE": "10"]) == "3/10")
    #expect(
      found(auto, ["SGE_TASK_ID": "64", "SGE_TASK_FIRST": "1", "SGE_TASK_LAST": "64", "SGE_TASK_STEPSIZE": "1"])
        == "63/64")
    #expect(found(auto, ["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "5"]) == "0/5")
  }

  @Test func anArrayThatMayBeAPartOfAnotherDoesNot() {
    let auto = ShardChoice.auto(of: nil)
    let refusal = "but of how many shares is not known; write their number: auto/64"
    for variables in [
      slurm(7, 3, 7, 2), slurm(7, 0, 7, 2), slurm(3, 3, 7, 5), slurm(3, 0, 7, 3, step: 0), ["PBS_ARRAY_INDEX": "3"],
      ["JOB_COMPLETION_INDEX": "3"], ["LSB_JOBINDEX": "3"], ["SLURM_ARRAY_TASK_ID": "3"],
      ["AWS_BATCH_JOB_ARRAY_INDEX": "3"], ["CI_NODE_INDEX": "1"],
    ] {
      #expect(found(auto, variables).contains(refusal), "\(variables)")
    }
  }

  @Test func withTheirNumberTheTaskIsTheShare() {
    let auto = ShardChoice.auto(of: 64)
    #expect(found(auto, slurm(7, 3, 7, 2)) == "7/64", "some tasks are repeated")
    #expect(found(auto, ["JOB_COMPLETION_INDEX": "63"]) == "63/64")
    #expect(found(auto, ["PBS_ARRAY_INDEX": "0"]) == "0/64")
    #expect(found(auto, ["LSB_JOBINDEX": "1"]) == "0/64" && found(auto, ["SGE_TASK_ID": "64"]) == "63/64")
    #expect(
      found(auto, slurm(64, 1, 64, 64))
        == "shard: SLURM_ARRAY_TASK_ID is 64, but 64 shares need an array from 0 to 63")
  }

  @Test func theFirstVariableThatTellsATaskDecides() {
    let auto = ShardChoice.auto(of: 8)
    let both = ["SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "2"]
    #expect(found(auto, both) == "1/8")
    #expect(found(auto, ["SGE_TASK_ID": "undefined", "LSB_JOBINDEX": "0", "CI_NODE_INDEX": "3"]) == "2/8")
    #expect(found(auto, ["SGE_TASK_ID": "undefined"]).hasPrefix("shard: auto: none of SLURM_ARRAY_TASK_ID, "))
    #expect(found(auto, [:]).hasSuffix(" is set; name the share, such as 0/64"))
  }

  @Test func aListIsChosenByItsNumber() {
    let lists = { found($0, ["JOB_COMPLETION_INDEX": "5"], parts: 8) }
    #expect(lists(.list(7)) == "7/8" && lists(.share(Shard(7, of: 8))) == "7/8")
    #expect(lists(.auto(of: nil)) == "5/8" && lists(.auto(of: 8)) == "5/8")
    #expect(lists(.list(8)) == "shard: there is no list 8; the lists are 0 to 7")
    #expect(lists(.auto(of: 4)) == "shard: 4 shares, but there are 8 lists")
    #expect(found(.list(7), [:]).hasPrefix("shard: 7 of how many? "))
  }
}
