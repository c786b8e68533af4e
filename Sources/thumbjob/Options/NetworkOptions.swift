import ArgumentParser
import JobSettings

/// The options of sources that are fetched from the network.
struct NetworkOptions: ParsableArguments {
  @Option(
    name: .customLong("per-host"),
    help: ArgumentHelp("The most connections to one host. (default: 4)", valueName: "n"))
  var perHost: Int?

  @Flag(
    name: .customLong("allow-private"),
    help: "Also fetch from addresses that are not public, such as this machine's and its local network's.")
  var allowPrivate = false

  @Option(
    help: ArgumentHelp(
      "How much of a source to fetch: exact (as much as gives the thumbnails of the whole), sparing (without the last bit of "
        + "progressive JPEGs, which hardly shows), whole. (default: exact)", valueName: "extent"))
  var fetch: FetchExtent?

  @Option(
    name: .customLong("limit-bytes"),
    help: ArgumentHelp("The most bytes of a source: 64M, 2G. (default: 512M)", valueName: "size"))
  var limitBytes: String?

  func apply(to network: inout NetworkSettings) throws(TextError) {
    if let perHost { network.perHost = try perHost.checked(NetworkSettings.perHostRange, for: "--per-host") }
    if allowPrivate { network.allowsPrivate = true }
    if let fetch { network.extent = fetch }
    if let limitBytes { network.largest = try NetworkSettings.parseLargest(limitBytes, for: "--limit-bytes") }
  }
}

extension FetchExtent: ExpressibleByArgument {}
