// swift-tools-version: 6.2
import PackageDescription

/// The compiler settings of every Swift target. A warning is an error in CI, which sets `CI`. Elsewhere it stays a
/// warning, because a newer compiler may report new ones.
let settings: [SwiftSetting] =
  [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
  + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// For targets that process millions of samples, and for the one that checks every lock in debug builds. They are optimised
/// in debug builds too, also in those of a package that depends on this one: without it, the tests would take three times
/// as long, and a thumbnail sixteen times. SwiftPM allows such flags in dependencies since its tools version 6.2.
let samples: [SwiftSetting] = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Only for `make fuzz`. It is a library, because no executable can be linked with the compiler flag for fuzzing. The tests
/// only compile the target.
let fuzzProducts: [Product] =
  Context.environment["THUMBJOB_FUZZ"] == nil
  ? [] : [.library(name: "FuzzTargets", type: .static, targets: ["FuzzTargets"])]

/// Only for the package in Benchmarks, which compares locks and caches with each other.
let benchmarkProducts: [Product] =
  Context.environment["THUMBJOB_BENCHMARKS"] == nil
  ? []
  : ["Locking", "LockContest", "Caching"].map { .library(name: $0, targets: [$0]) }

/// For programs in C. Without these options they would load Swift's libraries.
let plainC: [LinkerSetting] = [.unsafeFlags(["-static-stdlib", "-nostartfiles"], .when(platforms: [.linux]))]

// One trait in a condition: SwiftPM 6.2 and 6.3 read several differently.
let formats: TargetDependencyCondition? = .when(traits: ["Formats"])
let ledger: TargetDependencyCondition? = .when(traits: ["Ledger"])
let endpoint: TargetDependencyCondition? = .when(traits: ["Endpoint"])
/// C code that needs a library of the trait is compiled only with this macro.
let withFormats: CSetting = .define("THUMBJOB_FORMATS", .when(traits: ["Formats"]))

/// A system library that a product needs. With a name for pkg-config, SwiftPM warns if the library is missing, even in packages
/// that use another product. On Linux every compiler finds the headers without pkg-config.
func ofProducts(_ name: String, _ library: String) -> Target {
  #if os(Linux)
  .systemLibrary(name: name)
  #else
  .systemLibrary(name: name, pkgConfig: library)
  #endif
}

let package = Package(
  name: "thumbjob",
  // macOS is untested. The standard library's atomics and task executors need version 15.
  platforms: [.macOS(.v15)],
  products: [
    // The libraries for other packages. SwiftPM fetches for those packages what the products of this list need. So the programs
    // are not in it; SwiftPM makes products of them by itself.
    //
    // Two libraries bring Locking along: AccessRecording knows its guards, and the examples of BoundedQueue use them, because the
    // thread sanitizer does not know the mutex of Swift's library and would report races.
    .library(name: "AccessRecording", targets: ["AccessRecording", "Locking"]),
    .library(name: "BoundedQueue", targets: ["BoundedQueue", "Locking"]),
    .library(name: "MemoryPressure", targets: ["MemoryPressure"]),
    .library(name: "Thumbnails", targets: ["Thumbnails"]),
  ] + fuzzProducts + benchmarkProducts,
  traits: [
    // The parts that a build of the program may leave out. If all four are left out, the program
    // needs libjpeg alone.
    .default(enabledTraits: ["Formats", "Network", "Ledger", "Endpoint"]),
    .trait(
      name: "Formats",
      description: """
        Formats other than JPEG, colour profiles, EXIF, fonts of contact sheets, and a filter of system calls around decoder \
        processes (15 libraries)
        """),
    .trait(name: "Network", description: "Sources from the network, and thumbnails in buckets (libcurl)"),
    .trait(name: "Ledger", description: "What runs remember, and lists of checksums (SQLite and nettle)"),
    .trait(name: "Endpoint", description: "The status page, and the commands status, cancel, pause and resume"),
    // What BoundedQueue offers beside other packages. The program uses none of it.
    .trait(
      name: "ServiceLifecycleSupport", description: "A queue as a service of swift-service-lifecycle"),
    .trait(name: "LoggingSupport", description: "Logs the ends of operations with swift-log"),
    .trait(name: "MetricsSupport", description: "Metrics of a queue with swift-metrics"),
    .trait(
      name: "TracingSupport", description: "A span for each operation with swift-distributed-tracing"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ],
  targets: [
    // System libraries: module maps and nothing else.
    ofProducts("CJPEGLibrary", "libjpeg"), ofProducts("CLcms2", "lcms2"), ofProducts("CLibExif", "libexif"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    // SwiftPM warns of flags in their files for pkg-config.
    .systemLibrary(name: "CAVIF", providers: [.apt(["libavif-dev"])]),
    .systemLibrary(name: "CJXL", providers: [.apt(["libjxl-dev"])]),
    .systemLibrary(name: "COpenJPEG", pkgConfig: "libopenjp2", providers: [.apt(["libopenjp2-7-dev"])]),
    .systemLibrary(name: "CTIFF", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(name: "CDe265", pkgConfig: "libde265", providers: [.apt(["libde265-dev"])]),
    .systemLibrary(name: "CDav1d", pkgConfig: "dav1d", providers: [.apt(["libdav1d-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CVectors"),

    .target(name: "Locking", swiftSettings: samples),
    .target(name: "Caching", dependencies: ["Locking"], swiftSettings: settings),
    .target(
      name: "Files", dependencies: ["CLinux", "Locking"],
      swiftSettings: settings),
    .target(
      name: "BoundedQueue",
      dependencies: [
        "Locking",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycleSupport"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["LoggingSupport"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["MetricsSupport"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["TracingSupport"])),
      ],
      swiftSettings: settings),
    .target(name: "MemoryPressure", dependencies: ["CLinux", "Files", "Locking"], swiftSettings: settings),
    .target(name: "CShaping", cSettings: [withFormats]),
    .target(
      name: "ContactSheet",
      dependencies: ["CShaping", "Files"],
      swiftSettings: settings),
    .target(
      name: "Ledger",
      dependencies: [
        "Files", "Locking", .product(name: "GRDB", package: "GRDB.swift", condition: ledger),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: ledger),
      ],
      swiftSettings: settings),
    .target(
      name: "FolderWatching",
      dependencies: ["CLinux", "Files", "Locking"],
      swiftSettings: settings),
    .target(name: "CCurl", cSettings: [.define("THUMBJOB_NETWORK", .when(traits: ["Network"]))]),
    .target(
      name: "Fetching",
      dependencies: [
        "CCurl", "CLinux", "Caching", "Files", "Locking",
      ],
      swiftSettings: settings),
    .target(name: "AccessRecording", dependencies: ["Locking"], swiftSettings: settings),
    .target(
      name: "TraceRecording", dependencies: ["AccessRecording", "Files", "Locking"], swiftSettings: settings),
    .target(name: "QueueBaselines", dependencies: ["Locking"], swiftSettings: settings),
    // Not part of the installed program: what goes wrong with threads, and how it is done right.
    .target(
      name: "ThreadLessons", dependencies: ["AccessRecording", "BoundedQueue", "Locking"], swiftSettings: settings),
    .executableTarget(
      name: "lessons",
      dependencies: ["ThreadLessons", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: settings),
    // C does not read the module map.
    .target(name: "CLibJPEG", dependencies: ["CJPEGLibrary"], linkerSettings: [.linkedLibrary("jpeg")]),
    .target(name: "CEarlySignals"),
    .target(
      name: "Thumbnails",
      dependencies: [
        "CLibJPEG", "CVectors", .target(name: "CLcms2", condition: formats),
        .target(name: "CLibExif", condition: formats),
      ], swiftSettings: samples),
    .target(name: "CDecoding"),
    .target(
      name: "CPictures",
      dependencies: [
        "CDecoding", "CLibJPEG", .target(name: "CPNG", condition: formats), .target(name: "CGIF", condition: formats),
        .target(name: "CWebP", condition: formats), .target(name: "CTIFF", condition: formats),
        .target(name: "CDe265", condition: formats), .target(name: "CDav1d", condition: formats),
        .target(name: "CJXL", condition: formats), .target(name: "COpenJPEG", condition: formats),
      ],
      cSettings: [.headerSearchPath("."), withFormats, .unsafeFlags(["-O2"], .when(configuration: .debug))],
      // giflib has no file for pkg-config, and C does not read module maps.
      linkerSettings: [
        .linkedLibrary("gif", .when(traits: ["Formats"])), .linkedLibrary("isal", .when(traits: ["Formats"])),
        .linkedLibrary("jxl", .when(traits: ["Formats"])),
        .linkedLibrary("z", .when(traits: ["Formats"])),
        .linkedLibrary("m"),
      ]),
    .target(
      name: "CFence", dependencies: ["CDecoding", .target(name: "CSeccomp", condition: formats)],
      cSettings: [withFormats]),
    .executableTarget(
      name: "thumbjob-decoder", dependencies: ["CDecoding", "CFence", "CPictures"], linkerSettings: plainC),
    .target(
      name: "CEncoders",
      dependencies: [
        "CDecoding", .target(name: "CPNG", condition: formats), .target(name: "CWebP", condition: formats),
        .target(name: "CAVIF", condition: formats),
      ],
      cSettings: [.headerSearchPath("."), withFormats, .unsafeFlags(["-O2"], .when(configuration: .debug))],
      linkerSettings: [
        .linkedLibrary("avif", .when(traits: ["Formats"])), .linkedLibrary("z", .when(traits: ["Formats"])),
      ]),
    .executableTarget(
      name: "thumbjob-encoder", dependencies: ["CDecoding", "CEncoders", "CFence"], linkerSettings: plainC),
    .target(name: "Pictures", dependencies: ["CDecoding", "Thumbnails"], swiftSettings: settings),
    .target(
      name: "Sandbox",
      dependencies: [
        "AccessRecording", "CDecoding", "CLinux", "Files", "Locking",
      ],
      swiftSettings: settings),
    .target(
      name: "Gallery",
      resources: [
        .embedInCode("Page/index.html"), .embedInCode("Page/gallery.css"), .embedInCode("Page/text.js"),
        .embedInCode("Page/paths.js"), .embedInCode("Page/thumbhash.js"), .embedInCode("Page/pictures.js"),
        .embedInCode("Page/folders.js"), .embedInCode("Page/rows.js"), .embedInCode("Page/grid.js"),
        .embedInCode("Page/viewer.js"), .embedInCode("Page/address.js"), .embedInCode("Page/keys.js"),
        .embedInCode("Page/swipe.js"), .embedInCode("Page/start.js"),
      ],
      swiftSettings: settings),
    .target(
      name: "Marks",
      dependencies: ["Fetching", "Files", "Thumbnails"],
      swiftSettings: settings),
    .target(
      name: "Sourcing",
      dependencies: [
        .target(name: "CNettle", condition: ledger), "Fetching", "Files", "Marks", "Pictures", "Sandbox", "Thumbnails",
      ],
      swiftSettings: settings),
    .target(
      name: "JobSettings",
      dependencies: [
        "ContactSheet", "Fetching", "Files", "Gallery", "Marks", "MemoryPressure", "Sourcing", "Thumbnails", "Yams",
      ],
      swiftSettings: settings),
    .target(
      name: "Places",
      dependencies: [
        "CLinux", "Fetching", "Files", "JobSettings", "Ledger", "Locking", "Marks", "Sourcing", "Thumbnails",
      ],
      swiftSettings: settings),
    .target(
      name: "PictureMaking",
      dependencies: [
        "AccessRecording", "BoundedQueue", "CDecoding", "CMalloc", "Fetching", "Files", "JobSettings", "Locking",
        "Marks",
        "MemoryPressure", "Pictures", "Places", "Sandbox", "Sourcing", "Thumbnails", "TraceRecording",
      ],
      swiftSettings: settings),
    .target(
      name: "Previews",
      dependencies: [
        "BoundedQueue", "CLinux", .target(name: "CNettle", condition: ledger), "Caching", "Fetching", "Files",
        "JobSettings",
        "Locking", "MemoryPressure", "PictureMaking", "Pictures", "Sourcing", "Thumbnails", "TraceRecording",
      ],
      swiftSettings: settings),
    .target(
      name: "PreviewEndpoint",
      dependencies: [
        "BoundedQueue", "Locking", "Previews", "StatusEndpoint",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: endpoint),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: endpoint),
        .product(name: "Logging", package: "swift-log", condition: endpoint),
        .product(name: "NIOCore", package: "swift-nio", condition: endpoint),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: endpoint),
        .product(name: "NIOPosix", package: "swift-nio", condition: endpoint),
      ],
      swiftSettings: settings),
    .target(
      name: "Jobs",
      dependencies: [
        "BoundedQueue", "ContactSheet", "Fetching", "Files",
        "FolderWatching",
        "Gallery", "JobSettings", "Ledger", "Locking", "Marks", "MemoryPressure", "PictureMaking", "Pictures", "Places",
        "Sandbox",
        "Sourcing", "Thumbnails", "TraceRecording",
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: settings),
    .target(
      name: "Splitting",
      dependencies: [
        "BoundedQueue", "Files", "JobSettings", "Locking", "Pictures", "Places", "Sourcing",
        "Thumbnails",
      ],
      swiftSettings: settings),
    .target(
      name: "StatusEndpoint",
      dependencies: [
        "Caching", "Files", "Locking",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: endpoint),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: endpoint),
        .product(name: "Logging", package: "swift-log", condition: endpoint),
        .product(name: "NIOCore", package: "swift-nio", condition: endpoint),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: endpoint),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: endpoint),
        .product(name: "NIOPosix", package: "swift-nio", condition: endpoint),
      ],
      resources: [
        .embedInCode("Page/page.html"), .embedInCode("Page/style.css"), .embedInCode("Page/openapi.json"),
        .embedInCode("Page/ask.js"), .embedInCode("Page/text.js"), .embedInCode("Page/run.js"),
        .embedInCode("Page/limits.js"), .embedInCode("Page/operations.js"), .embedInCode("Page/thumbnails.js"),
        .embedInCode("Page/viewer.js"), .embedInCode("Page/charts.js"), .embedInCode("Page/listen.js"),
      ],
      swiftSettings: settings),
    .target(
      name: "Comparison",
      dependencies: [
        "CLinux", "Files", "Locking", "MemoryPressure",
      ],
      // The files in Code are links to the code of the variants, which the page shows.
      resources: [
        .embedInCode("Page/compare.html"), .embedInCode("Page/compare.css"), .embedInCode("Code/EngineIntake.txt"),
        .embedInCode("Code/GlobalQueue.txt"), .embedInCode("Code/GlobalQueueOfItems.txt"),
        .embedInCode("Code/OneSerialQueue.txt"), .embedInCode("Code/SemaphoreQueue.txt"),
        .embedInCode("Code/PlainOperationQueue.txt"), .embedInCode("Code/TaskGroupOfItems.txt"),
        .embedInCode("Code/WindowedTaskGroup.txt"), .embedInCode("Code/SerialLoop.txt"),
      ], swiftSettings: settings),
    .executableTarget(
      name: "thumbjob",
      dependencies: [
        "AccessRecording", "BoundedQueue", "CEarlySignals", "Comparison", "Fetching", "Files", "Ledger",
        "Locking",
        "JobSettings", "Jobs", "MemoryPressure", "PictureMaking", "Places", "PreviewEndpoint", "Previews",
        "QueueBaselines", "Sourcing", "Splitting", "StatusEndpoint", "Thumbnails", "TraceRecording",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: [
        .embedInCode("Completion/thumbjob.bash"), .embedInCode("Completion/thumbjob.zsh"),
        .embedInCode("Completion/thumbjob.fish"),
      ],
      swiftSettings: settings),

    .target(
      name: "TestSupport",
      dependencies: [
        "CLibJPEG", .product(name: "Subprocess", package: "swift-subprocess"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/TestSupport", swiftSettings: samples),
    .executableTarget(
      name: "make-images",
      dependencies: ["TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Tests/MakeImages", swiftSettings: settings),
    .executableTarget(name: "decoding-memory", dependencies: ["CDecoding", "CPictures"], path: "Tests/DecodingMemory"),
    .executableTarget(
      name: "status-demo",
      dependencies: [
        "Files", "Locking", "StatusEndpoint", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/StatusDemo", swiftSettings: settings),
    .target(
      name: "MainActorProgram", dependencies: ["BoundedQueue"], path: "Tests/MainActorProgram",
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "BoundedQueueTests",
      dependencies: ["BoundedQueue", "Locking", "MainActorProgram", "MemoryPressure", "TestSupport"],
      swiftSettings: settings),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Comparison", "ContactSheet", "Fetching", "Files", "MemoryPressure", "Pictures", "StatusEndpoint",
        "JobSettings", "Marks", "Sourcing",
        "Thumbnails", .product(name: "HTTPTypes", package: "swift-http-types", condition: endpoint),
        .product(name: "NIOCore", package: "swift-nio", condition: endpoint),
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: settings),
    .target(name: "BadDeeds", dependencies: ["CDecoding"], path: "Tests/BadDeeds"),
    .executableTarget(
      name: "bad-decoder", dependencies: ["BadDeeds", "CFence"], path: "Tests/BadDecoder", linkerSettings: plainC),
    .executableTarget(
      name: "sandbox-parent", dependencies: ["BadDeeds", "CDecoding", "Files", "Sandbox"], path: "Tests/SandboxParent",
      swiftSettings: settings),
    .testTarget(
      name: "SandboxTests",
      dependencies: [
        "AccessRecording", "BadDeeds", "CDecoding", "CLinux", "Files", "Sandbox", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "AccessRecordingTests", dependencies: ["AccessRecording", "Locking", "TestSupport"],
      swiftSettings: settings),
    .target(name: "LockContest", dependencies: ["Locking"], path: "Tests/LockContest", swiftSettings: settings),
    .testTarget(
      name: "LockingTests", dependencies: ["LockContest", "Locking", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "CachingTests", dependencies: ["Caching", "Locking", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "FilesTests",
      dependencies: ["Files", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "LedgerTests",
      dependencies: [
        "Files", "Ledger", "TestSupport", .product(name: "GRDB", package: "GRDB.swift", condition: ledger),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FetchingTests",
      dependencies: [
        "Fetching", "Files", "Locking", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "FolderWatchingTests", dependencies: ["Files", "FolderWatching", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ContactSheetTests",
      dependencies: [
        "ContactSheet", "Files", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ComparisonTests",
      dependencies: ["Comparison", "Files", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "QueueBaselinesTests", dependencies: ["QueueBaselines", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ThreadLessonsTests", dependencies: ["Locking", "TestSupport", "ThreadLessons", "lessons"],
      swiftSettings: settings),
    .testTarget(
      name: "TraceRecordingTests", dependencies: ["AccessRecording", "TraceRecording", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "MemoryPressureTests", dependencies: ["MemoryPressure", "TestSupport"], swiftSettings: settings),
    .target(name: "ReferenceDecoder", dependencies: ["CJPEGLibrary"], path: "Tests/ReferenceDecoder"),
    .testTarget(
      name: "ThumbnailsTests",
      dependencies: [
        "Thumbnails", "CLibJPEG", .target(name: "CLcms2", condition: formats), "ReferenceDecoder", "TestSupport",
      ],
      swiftSettings: settings),
    .target(
      name: "PictureWriters",
      dependencies: [
        "CDecoding", "CPictures", .target(name: "CTIFF", condition: formats),
        .target(name: "CWebP", condition: formats),
      ], path: "Tests/PictureWriters", cSettings: [withFormats]),
    .testTarget(
      name: "PicturesTests",
      dependencies: [
        "CDecoding", "CEncoders", "CPictures", "PictureWriters", "Pictures", "TestSupport", "Thumbnails",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "JobsTests",
      dependencies: [
        "AccessRecording", "BoundedQueue", "ContactSheet", "Fetching", "Files", "JobSettings", "Jobs", "Ledger",
        "Locking",
        "MemoryPressure", "Marks", "PictureMaking", "Places", "Sourcing", "Splitting",
        "Thumbnails", "TestSupport",
        "TraceRecording",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PreviewsTests",
      dependencies: ["BoundedQueue", "Fetching", "Files", "Previews", "TestSupport", "Thumbnails"],
      swiftSettings: settings),
    .testTarget(
      name: "StatusEndpointTests", dependencies: ["Files", "StatusEndpoint", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "thumbjobUnitTests",
      dependencies: [
        "BoundedQueue", "Files", "MemoryPressure", "StatusEndpoint", "TestSupport", "JobSettings", "Jobs", "Marks",
        "PictureMaking", "Places", "Sourcing", "Splitting", "Thumbnails",
        "thumbjob",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .testTarget(name: "thumbjobTests", dependencies: ["thumbjob", "TestSupport"], swiftSettings: settings),
  ]
)

// FuzzTargets needs all traits, so only the tests and `make fuzz` compile it.
if Context.environment["THUMBJOB_FUZZ"] == nil, Context.environment["THUMBJOB_TARGETS"] == nil {
  package.targets.removeAll { $0.name == "FuzzTargets" }
}

/// With `THUMBJOB_TARGETS`, names with spaces between, the package has only these targets and what they need. `make test`
/// compiles for each sanitizer, and without one, only what it tests there.
if let wanted = Context.environment["THUMBJOB_TARGETS"] {
  let dependencies = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0.dependencies) })
  var needed: Set<String> = []
  var open = wanted.split(separator: " ").map(String.init)
  while let name = open.popLast() {
    guard needed.insert(name).inserted, let dependencies = dependencies[name] else { continue }
    for dependency in dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): open.append(name)
      default: break
      }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
