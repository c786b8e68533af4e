import Files
import Foundation
import TestSupport
import Testing

@testable import Fetching

/// S3 without a server: places, keys of accounts, signatures, listings.
@Suite struct S3Tests {
  private func location(_ text: String) throws -> StoreLocation { try StoreLocation(parsing: text.utf8) }

  // MARK: Places

  @Test func aKeyStandsAsItIs() throws {
    let place = try location("S3://photos/a b/%20/é?x#y.jpg")
    #expect(place.bucket == "photos")
    #expect(place.key == Array("a b/%20/é?x#y.jpg".utf8))
    #expect(try location("s3://photos").isFolder)
    #expect(try location("s3://photos/dir/").isFolder)
    #expect(try !location("s3://photos/dir").isFolder)
  }

  @Test(arguments: ["s3://", "s3:///key", "s3://.", "s3://../x", "s3://a b/x", "s3://user@host/x", "s3://a:80/x"])
  func whatNamesNoBucketIsRefused(_ text: String) {
    #expect(throws: RemoteURLError.self) { try location(text) }
  }

  @Test func aKeyIsNeverLongerThanTheServiceAllows() throws {
    #expect(try location("s3://b/" + String(repeating: "k", count: 1024)).key.count == 1024)
    #expect(throws: RemoteURLError.self) { try location("s3://b/" + String(repeating: "k", count: 1025)) }
  }

  @Test(arguments: [
    ("s3://b/dir/photo.jpg", "b/dir/photo.jpg"), ("s3://b/..", "b/%2E%2E"),
    ("s3://b/../../x.jpg", "b/%2E%2E/%2E%2E/x.jpg"),
    ("s3://b/./x.jpg", "b/%2E/x.jpg"), ("s3://b/a\nb\u{7f}.jpg", "b/a%0Ab%7F.jpg"),
    ("s3://b/a b+%2F.jpg", "b/a b+%2F.jpg"),
  ])
  func thumbnailsMirrorTheKeyWithoutLeavingTheFolder(_ text: String, _ path: String) throws {
    #expect(try location(text).mirrored(below: nil) == Path(path))
  }

  @Test func emptyNamesInAKeyTellSourcesApart() throws {
    let paths = try Set(
      ["s3://b/a/x.jpg", "s3://b/a//x.jpg", "s3://b//a/x.jpg"].map { try location($0).mirrored(below: nil) })
    #expect(paths.count == 3)
    for path in paths { #expect(path.parent == "b/a") }
  }

  @Test func aPartOfABucketContainsOnlyWhatIsInItsFolder() throws {
    let photos = try location("s3://b/photos").asFolder
    #expect(try photos.contains(location("s3://b/photos/a.jpg")))
    #expect(try !photos.contains(location("s3://b/photos2/a.jpg")))
    #expect(try !photos.contains(location("s3://c/photos/a.jpg")))
    let common = try location("s3://b/x/one/").commonFolder(with: location("s3://b/x/other/"))
    #expect(common.key == Array("x/".utf8))
  }

  // MARK: Accounts

  private func account(_ environment: [String: String], config: String = "", credentials: String = "") throws
    -> S3Account
  {
    let folder = TemporaryFolder()
    let aws = folder.path + "/.aws"
    try FileManager.default.createDirectory(atPath: aws, withIntermediateDirectories: true)
    try config.write(toFile: aws + "/config", atomically: true, encoding: .utf8)
    try credentials.write(toFile: aws + "/credentials", atomically: true, encoding: .utf8)
    return try S3Account(environment: environment.merging(["HOME": folder.path]) { $1 })
  }

  private let files = (
    config:
      "[default]\nregion = eu-west-1\n[profile  work]\nregion=us-west-2\nendpoint_url = http://h:9000/base\ns3 =\n  region = no\n",
    credentials:
      "# comment\n[default]\naws_access_key_id = A\naws_secret_access_key = B==\n\n[work]\naws_access_key_id=C\n"
      + "aws_secret_access_key=D\naws_session_token=E\n"
  )

  @Test func keysComeFromTheEnvironmentAndThenFromTheFiles() throws {
    let first = try account([:], config: files.config, credentials: files.credentials)
    #expect(first.keys?.id == "A" && first.keys?.secret == "B==" && first.keys?.sessionToken == nil)
    #expect(first.region == "eu-west-1" && first.endpoint == nil)
    let work = try account(["AWS_PROFILE": "work"], config: files.config, credentials: files.credentials)
    #expect(work.keys?.id == "C" && work.keys?.sessionToken == "E" && work.region == "us-west-2")
    #expect(work.endpoint?.text == "http://h:9000/base")
    let variables = [
      "AWS_ACCESS_KEY_ID": "X", "AWS_SECRET_ACCESS_KEY": "Y", "AWS_SESSION_TOKEN": "Z", "AWS_REGION": "r",
      "AWS_DEFAULT_REGION": "q", "AWS_ENDPOINT_URL": "http://one", "AWS_ENDPOINT_URL_S3": "http://two",
      "AWS_PROFILE": "",
    ]
    let set = try account(variables, config: files.config, credentials: files.credentials)
    #expect(set.keys?.id == "X" && set.keys?.sessionToken == "Z" && set.region == "r")
    #expect(set.endpoint?.host == "two")
    let indented = try account(
      [:], credentials: "\u{FEFF}[default]\n  aws_access_key_id = A\n\taws_secret_access_key = B\n")
    #expect(indented.keys?.secret == "B")
    let none = try account([:])
    #expect(none.keys == nil && none.region == "us-east-1")
  }

  @Test(arguments: [
    (["AWS_PROFILE": "other"], "", "other"), (["AWS_ACCESS_KEY_ID": "A"], "", "AWS_SECRET_ACCESS_KEY"),
    ([:], "[default]\naws_access_key_id = A\n", "aws_secret_access_key"),
    ([:], "[default]\nrole_arn = x\n", "role_arn"),
    (["AWS_REGION": "a.evil.example/"], "", "region"), (["AWS_ENDPOINT_URL": "ftp://x"], "", "endpoint"),
    (["AWS_ACCESS_KEY_ID": "A\r\nX: y", "AWS_SECRET_ACCESS_KEY": "B"], "", "character"),
  ])
  func whatCannotBeUsedIsSaid(_ environment: [String: String], _ credentials: String, _ word: String) {
    let error = #expect(throws: FetchError.self) { try account(environment, credentials: credentials) }
    #expect("\(error.map { "\($0)" } ?? "")".contains(word))
  }

  @Test func onlyFilesHaveKeys() throws {
    let folder = TemporaryFolder()
    let pipe = Path(folder.path + "/pipe")
    #expect(pipe.withCString { mkfifo($0, 0o600) } == 0)
    for path in [pipe, Path(folder.path), "/dev/zero"] {
      #expect(throws: FetchError.self, "\(path)") { try ProfileFile(path) }
    }
    #expect(try ProfileFile("/dev/null").section("default") == nil)
    #expect(try ProfileFile("/no/such/file").section("default") == nil)
  }

  // MARK: URLs

  @Test func objectsHaveURLsAsTheServiceWantsThem() throws {
    let amazon = try account([:])
    func text(_ place: String, _ account: S3Account, _ region: String = "us-east-1") throws -> String {
      account.url(of: try location(place), in: region, query: nil).text
    }
    #expect(try text("s3://b-1/a b+é/~.jpg", amazon) == "https://b-1.s3.us-east-1.amazonaws.com/a%20b%2B%C3%A9/~.jpg")
    #expect(try text("s3://b-1", amazon) == "https://b-1.s3.us-east-1.amazonaws.com/")
    #expect(try text("s3://b.1/x", amazon, "cn-north-1") == "https://s3.cn-north-1.amazonaws.com.cn/b.1/x")
    #expect(try text("s3://Old_Bucket/x", amazon) == "https://s3.us-east-1.amazonaws.com/Old_Bucket/x")
    let own = try account(["AWS_ENDPOINT_URL": "http://minio:9000/s3/"])
    #expect(try text("s3://b-1//x", own) == "http://minio:9000/s3/b-1//x")
  }

  // MARK: Signatures

  /// The examples of Amazon's documentation for Signature Version 4.
  @Test(arguments: [
    ("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ])
  func signaturesAreThoseOfTheDocumentation(_ query: String, _ signature: String) throws {
    _ = try Fetcher(FetchLimits(), userAgent: "test/1")  // loads the library
    let keys = S3Account.Keys(
      id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", sessionToken: nil)
    let url = RemoteURL(scheme: .https, host: "examplebucket.s3.amazonaws.com", port: nil, path: "/", query: query)
    let lines = try S3Signature(keys: keys, region: "us-east-1", time: 1_369_353_600)
      .lines(method: "GET", url: url, header: [], body: [])
    #expect(lines.contains("x-amz-date: 20130524T000000Z"))
    #expect(lines.last?.hasSuffix("Signature=\(signature)") == true)
  }

  // MARK: Listings

  private func page(_ inside: String) throws -> ObjectPage {
    try ObjectPage(
      Array("<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\">\(inside)</ListBucketResult>".utf8),
      of: location("s3://b/d/"))
  }

  @Test func aPageHasWhatTheServiceTells() throws {
    let page = try page(
      """
      <!-- comment --><Name>b</Name><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>1+/=&amp;</NextContinuationToken>
      <Contents><Key>d/a+b%2Bc%0A%FF.jpg</Key><LastModified>2026-11-24T11:59:37.000Z</LastModified>
      <ETag>&quot;abc&#45;2&#x22;</ETag><Size>123</Size><StorageClass>GLACIER</StorageClass><Owner><ID>x</ID></Owner></Contents>
      <Contents><ETag>1</ETag><Key>d/x</Key></Contents><CommonPrefixes/>
      """)
    #expect(page.next == "1+/=&")
    #expect(page.objects.map(\.location.key) == [Array("d/a b+c\n".utf8) + [0xFF] + ".jpg".utf8, Array("d/x".utf8)])
    #expect(page.objects[0].validators == Validators(entityTag: "\"abc-2\"", lastModified: 1_795_521_577))
    #expect(page.objects[1].validators == Validators(entityTag: "\"1\""))
  }

  @Test func aKeyThatCannotBeUsedHidesNoOther() throws {
    let long = String(repeating: "k", count: 1025)
    let page = try page(
      "<EncodingType>url</EncodingType><Contents><Key>d/a%00</Key></Contents><Contents><Key>d/\(long)</Key></Contents>"
        + "<Contents><Key></Key></Contents><Contents><Key>d/x</Key></Contents>")
    #expect(page.unusable == 3)
    #expect(page.objects.map(\.location.key) == [Array("d/x".utf8)])
  }

  @Test func aKeyIsDecodedOnlyIfTheServiceHasEncodedIt() throws {
    #expect(try page("<Contents><Key>d/%41+</Key></Contents>").objects.map(\.location.key) == [Array("d/%41+".utf8)])
  }

  @Test func aPageNamesNothingOutsideItsPrefix() throws {
    let page = try page("<Contents><Key>other/x.jpg</Key></Contents><Contents><Key>d/x.jpg</Key></Contents>")
    #expect(page.objects.map(\.location.key) == [Array("d/x.jpg".utf8)])
  }

  @Test(arguments: [
    "", "no XML", "<html></html>", "<ListBucketResult>", "<ListBucketResult></Other>", "<ListBucketResult/><Second/>",
    "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult/>", "<ListBucketResult>&a;</ListBucketResult>",
    "<ListBucketResult>&#xD800;</ListBucketResult>", "<ListBucketResult>&#99999999999;</ListBucketResult>",
    "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<ListBucketResult><!-- ",
    "<",
    "</", "<>", "</>",
    String(repeating: "<a>", count: 20),
  ])
  func whatIsNoListingIsRefused(_ text: String) throws {
    #expect(throws: FetchError.self) { try ObjectPage(Array(text.utf8), of: location("s3://b")) }
  }

  @Test func aPageWithMoreThanWasAskedForIsRefused() throws {
    for (element, count) in [("<Contents><Key>d/a</Key></Contents>", 1000), ("<a/>", 50_000)] {
      #expect(throws: FetchError.self) { try page(String(repeating: element, count: count + 1)) }
    }
  }

  /// Every beginning of a page, and the page with each byte changed, is read or refused.
  @Test func noTextBreaksTheReader() throws {
    let text = Array(
      "<ListBucketResult a=\"&gt;\"><Contents><Key>a&amp;%41</Key><ETag>\"1\"</ETag><B/></Contents></ListBucketResult>"
        .utf8)
    for end in text.indices {
      _ = try? ObjectPage(Array(text[..<end]), of: location("s3://b"))
      for byte in [0, 0x26, 0x3C, 0x3E, 0x2F, 0xFF] as [UInt8] {
        var changed = text
        changed[end] = byte
        _ = try? ObjectPage(changed, of: location("s3://b"))
      }
    }
  }

  @Test func aRefusalIsToldByItsWord() {
    func code(_ text: String) -> String { S3Refusal(Array(text.utf8)).code }
    #expect(code("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Mess") == "NoSuchKey")
    #expect(code("<Error><Code>a\u{1b}[31m</Code></Error>") == "a?[31m")
    #expect(code("<html><Code>x</Code></html>") == "")
    #expect(code("") == "")
    let text = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"
    #expect(S3Refusal(Array(text.utf8)).region == "eu-west-1")
  }
}
