import Files
import Foundation
import TestSupport
import Testing

@testable import Fetching

@Suite struct AddressTests {
  private func bytes(_ text: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
    #expect(inet_pton(text.contains(":") ? AF_INET6 : AF_INET, text, &bytes) == 1, "\(text)")
    return bytes
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "168.63.129.16",
    "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1",
    "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
    "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1",
    "fec0::1",
    "ff02::1", "4000::1",
  ])
  func anAddressThatIsNotPublicIsRefused(address: String) { #expect(!PublicAddresses.isPublic(bytes(address))) }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.0.0.1", "128.0.0.1", "169.253.1.1",
    "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.167.0.1", "192.169.0.1", "198.17.0.1", "198.20.0.1",
    "223.255.255.255",
    "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    "2002:808:808::1",
  ])
  func aPublicAddressIsAllowed(address: String) { #expect(PublicAddresses.isPublic(bytes(address))) }

  @Test func aSocketAddressIsReadAsItIs() {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0xa9fe_a9fe).bigEndian
    let rules = AllowedAddresses(allowsPrivate: false, environment: [:])
    let (all, none) = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        (AllowedAddresses(allowsPrivate: true, environment: [:]).refusal(of: pointer), rules.refusal(of: pointer))
      }
    }
    #expect(all == nil && none == "169.254.169.254")
    var local = sockaddr()
    local.sa_family = sa_family_t(AF_UNIX)
    #expect(withUnsafePointer(to: local) { rules.refusal(of: $0) } == "an address of an unknown kind")
  }

  @Test func theProxyOfTheEnvironmentMayHaveAnyAddress() {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0009).bigEndian
    address.sin_port = in_port_t(3128).bigEndian
    for (proxy, isAllowed) in [
      ("http://user:word@127.0.0.9:3128/", true), ("127.0.0.9:3128", true), ("[::ffff:7f00:9]:3128", false),
      ("127.0.0.9", false), ("http://127.0.0.9:80", false), ("127.0.0.8:3128", false),
    ] {
      let rules = AllowedAddresses(allowsPrivate: false, environment: ["https_proxy": proxy])
      let refusal = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rules.refusal(of: $0) }
      }
      #expect((refusal == nil) == isAllowed, "\(proxy)")
    }
  }

  // MARK: URLs

  private func url(_ text: String) throws -> RemoteURL { try RemoteURL(parsing: text.utf8) }

  @Test(arguments: [
    ("https://example.org", "https://example.org/", "example.org/index"),
    ("HTTPS://Example.ORG:443/a.jpg#x", "https://example.org/a.jpg", "example.org/a.jpg"),
    ("http://h:8080/d/a%20b.jpg", "http://h:8080/d/a%20b.jpg", "h_8080/d/a b.jpg"),
    ("http://h:80/%C3%A9.jpg", "http://h/%C3%A9.jpg", "h/é.jpg"),
    ("http://[::1]:81/a.jpg", "http://[::1]:81/a.jpg", "--1_81/a.jpg"),
    ("https://user:word@h/a.jpg", "https://h/a.jpg", "h/a.jpg"),
    ("http://h/..%2f..%2fetc/passwd", "http://h/..%2f..%2fetc/passwd", "h/..%2f..%2fetc/passwd"),
    ("http://h/%2e%2e/a.jpg", "http://h/%2e%2e/a.jpg", "h/%2E%2E/a.jpg"),
    ("http://h/./../a.jpg", "http://h/./../a.jpg", "h/%2E/%2E%2E/a.jpg"),
    ("http://h/a%00b%0a.jpg", "http://h/a%00b%0a.jpg", "h/a%00b%0a.jpg"),
    ("http://h/dir/", "http://h/dir/", "h/dir/index"),
  ])
  func aURLHasARequestAndAPlace(text: String, request: String, place: String) throws {
    let url = try url(text)
    #expect(url.text == request && url.mirrored == Path(place), "\(url.text) \(url.mirrored)")
  }

  @Test func differentURLsHaveDifferentPlaces() throws {
    let long = String(repeating: "x", count: 300)
    let texts = [
      "http://h/a.jpg", "http://h/a.jpg?", "http://h/a.jpg?v=1", "http://h/a.jpg?v=2", "http://h/a.jpg?key=1",
      "http://h/a.jpg?key=2", "http://h/a.jpg?st=1", "http://h/a.jpg?st=2", "http://h//a.jpg",
      "http://h/d//a.jpg",
      "http://h/d/a.jpg", "https://h:8443/a.jpg", "http://h/\(long).jpg", "http://h/\(long)y.jpg", "http://h/%2541.jpg",
      "http://h/A.jpg", "http://h/", "http://h/?a",
    ]
    let places = try texts.map { try url($0).mirrored }
    // An empty query means the same.
    #expect(places[0] == places[1] && Set(places).count == texts.count - 1, "\(places)")
    #expect(places.allSatisfy { $0.normalized == $0 && !$0.isAbsolute && $0.names.allSatisfy { $0.length <= 230 } })
    #expect(places[2].printable.hasPrefix("h/a.") && places[2].printable.hasSuffix(".jpg"))
  }

  @Test func whatOnlyProvesThatARequestIsAllowedChangesNoPlace() throws {
    let places = try [
      "X-Amz-Signature=1&X-Amz-Date=2&v=3", "v=3&X-Amz-Signature=9", "v=3&sig=a&se=b",
      "Expires=4&Signature=x&Key-Pair-Id=y&v=3",
    ].map {
      try url("https://h/a.jpg?" + $0).mirrored
    }
    #expect(Set(places).count == 1)
  }

  @Test func aSecretIsInNoDescription() throws {
    let url = try url("https://me:word@h/a.jpg?X-Amz-Signature=abc&v=1&Token=def&sig=&key=k%3D")
    #expect("\(url)" == "https://h/a.jpg?X-Amz-Signature=…&v=1&Token=…&sig=…&key=…")
    #expect(url.userInfo == "me:word" && url.text.contains("abc"))
    let long = String(repeating: "word", count: 100)
    for text in [
      "ftp://me:word@h/a", "https://me:word@[h/a", "https://me:word@h:99999/a?token=t", "https://me:wo/word@h/a",
      "https://me:w?word@h/a", "https://me:w#word@h/a", "https://me:\(long)@h/a b",
    ] {
      let error = #expect(throws: RemoteURLError.self) { try self.url(text) }
      #expect(
        error.map { !"\($0)".contains("word") && !"\($0)".contains("=t") } == true, "\(String(describing: error))")
    }
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://h/a", "s3://b/k", "http://", "http:///a", "http://h:0/", "http://h:65536/",
    "http://h:a/",
    "http://a b/", "http://h/a b.jpg", "http://h/\u{e9}", "http://h\n/", "http://[::1", "http://[zz]/", "http://h@/",
    "http://h\"x/", "http://../a.jpg", "http://./a.jpg", "http://a..b/",
    LongText("http://" + String(repeating: "h", count: 300) + "/"),
    LongText("http://h/" + String(repeating: "a", count: 8200)),
  ])
  func aTextThatCannotBeFetchedIsRefused(text: LongText) {
    let error = #expect(throws: RemoteURLError.self) { try url(text.text) }
    #expect(error.map { !"\($0)".contains("\n") && "\($0)".utf8.count < 500 } == true)
  }
}
