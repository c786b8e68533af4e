import Files
import Ledger
import Testing

@testable import JobSettings
@testable import Jobs
@testable import Sourcing

/// Digests, and the lines of lists.
@Suite struct ChecksumTests {
  private func digest(_ pieces: [[UInt8]]) -> SHA256Digest {
    var hasher = SHA256Hasher()
    for piece in pieces { piece.withUnsafeBytes { hasher.append($0) } }
    return hasher.finish()
  }

  /// *Source*: the examples of FIPS 180-2, appendix B.
  @Test func digestsAreThoseOfTheStandard() {
    let hundred = Array(repeating: UInt8(ascii: "a"), count: 100)
    for (pieces, expected) in [
      ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ([Array("a".utf8), [], Array("bc".utf8)], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (Array(repeating: hundred, count: 10_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ] {
      #expect(digest(pieces).description == expected)
    }
  }

  /// *Source*: what sha256sum 9.1 of GNU coreutils writes for an empty file of each name.
  @Test(arguments: [
    ("a b", "", "a b"), (" a", "", " a"), ("a\\b", "\\", "a\\\\b"), ("a\nb", "\\", "a\\nb"), ("a\rb", "\\", "a\\rb"),
    ("\\n\n", "\\", "\\\\n\\n"), ("-", "", "./-"), ("./-", "", "./-"), ("-a", "", "-a"), ("a\tb\"'*", "", "a\tb\"'*"),
  ])
  func namesAreEscapedAsSha256sumDoes(name: String, start: String, shown: String) {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let line = ChecksumLine(digest([]), Path(name)).bytes
    #expect(String(decoding: line, as: UTF8.self) == "\(start)\(empty)  \(shown)\n")
    #expect(ChecksumLine.isBeginning(Array(line.prefix(ChecksumLine.headSize))))
  }

  @Test func onlyListsOfChecksumsAreTakenForSome() {
    let digits = String(repeating: "0a", count: 32)
    for text in ["\(digits)  a\n", "\(digits) *a\n", "\\\(digits)  a", "\(digits.uppercased())  a"] {
      #expect(ChecksumLine.isBeginning(Array(text.utf8)), "\(text)")
    }
    for text in ["", digits, "\(digits) a\n", "\(digits)\ta", "\(digits.dropLast())  a", "x\(digits.dropLast())  a"] {
      #expect(!ChecksumLine.isBeginning(Array(text.utf8)), "\(text)")
    }
  }

  @Test func eachListHasItsLedger() throws {
    func ledger(_ file: Path, _ shard: Shard? = nil) throws -> Path {
      try ChecksumPlace(ChecksumSettings(file: file), shard, isRead: true).ledger
    }
    #expect(try ledger("SUMS") == "./.thumbjob/SUMS.ledger")
    #expect(try ledger("/a/SUMS", Shard(3, of: 64)) == "/a/.thumbjob/SUMS.3-of-64.ledger")
    let long = Path(String(repeating: "a", count: 255))
    #expect(try ledger(long).lastName.length < 100)
    #expect(try ledger(long) != ledger(Path(String(repeating: "b", count: 255))))
    for name in ["SUMS", "ledger", "ledger-1-of-2", "ledger-1"] {
      for shard in [nil, Shard(1, of: 2)] { #expect(try !Ledger.isName(ledger(Path(name), shard).lastName), "\(name)") }
    }
  }
}
