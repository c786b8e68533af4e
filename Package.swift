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

/// Only for `make fuzz`. It is a library, because no executable can be linked with the compiler flag for fuzzing. Other
/// builds only compile the target.
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

let package = Package(
  name: "thumbjob",
  // macOS is untested. The standard library's atomics and task executors need version 15.
  platforms: [.macOS(.v15)],
  products: [
    // The libraries for other packages. The programs are not listed: SwiftPM makes a product of each by itself, and whoever
    // depends on a library would have to fetch what the listed programs need.
    .library(name: "AccessRecording", targets: ["AccessRecording"]),
    .library(name: "BoundedQueue", targets: ["BoundedQueue"]),
    .library(name: "MemoryPressure", targets: ["MemoryPressure"]),
    .library(name: "Thumbnails", targets: ["Thumbnails"]),
  ] + fuzzProducts + benchmarkProducts,
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ],
  targets: [
    // System libraries: module maps and nothing else.
    .systemLibrary(name: "CJPEGLibrary", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CLcms2", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
    .systemLibrary(name: "CLibExif", pkgConfig: "libexif", providers: [.apt(["libexif-dev"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CTIFF", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(name: "CDe265", pkgConfig: "libde265", providers: [.apt(["libde265-dev"])]),
    .systemLibrary(name: "CDav1d", pkgConfig: "dav1d", providers: [.apt(["libdav1d-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CLinux"),

    .target(name: "Locking", swiftSettings: samples),
    .target(name: "Caching", dependencies: ["Locking"], swiftSettings: settings),
    .target(
      name: "Files", dependencies: ["CLinux", "Locking"],
      swiftSettings: settings),
    .target(name: "BoundedQueue", dependencies: ["Locking"], swiftSettings: settings),
    .target(name: "MemoryPressure", dependencies: ["CLinux", "Files", "Locking"], swiftSettings: settings),
    .target(name: "CShaping"),
    .target(
      name: "ContactSheet",
      dependencies: ["CShaping", "Files"],
      swiftSettings: settings),
    .target(
      name: "Ledger",
      dependencies: [
        "Files", "Locking", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings),
    .target(
      name: "FolderWatching",
      dependencies: ["CLinux", "Files", "Locking"],
      swiftSettings: settings),
    .target(name: "CCurl"),
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
    .target(name: "CLibJPEG", dependencies: ["CJPEGLibrary"]),
    .target(name: "CEarlySignals"),
    .target(
      name: "Thumbnails", dependencies: ["CLibJPEG", "CLcms2", "CLibExif"], swiftSettings: samples),
    .target(name: "CDecoding"),
    .target(
      name: "CPictures",
      dependencies: ["CDecoding", "CLibJPEG", "CPNG", "CGIF", "CWebP", "CTIFF", "CDe265", "CDav1d"],
      cSettings: [.headerSearchPath("."), .unsafeFlags(["-O2"], .when(configuration: .debug))],
      // giflib has no file for pkg-config, and C does not read the module map.
      linkerSettings: [.linkedLibrary("gif"), .linkedLibrary("z"), .linkedLibrary("m")]),
    .target(name: "CFence", dependencies: ["CDecoding", "CSeccomp"]),
    .executableTarget(
      name: "thumbjob-decoder", dependencies: ["CDecoding", "CFence", "CPictures"], linkerSettings: plainC),
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
        "Fetching", "Files", "Marks", "Pictures", "Sandbox", "Thumbnails",
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
        "AccessRecording", "BoundedQueue", "CMalloc", "Fetching", "Files", "JobSettings", "Locking", "MemoryPressure",
        "Pictures", "Places", "Sandbox", "Sourcing", "Thumbnails",
      ],
      swiftSettings: settings),
    .target(
      name: "Jobs",
      dependencies: [
        "BoundedQueue", "CNettle", "ContactSheet", "Fetching", "Files", "FolderWatching",
        "Gallery", "JobSettings", "Ledger", "Locking", "Marks", "MemoryPressure", "PictureMaking", "Pictures", "Places",
        "Sandbox",
        "Sourcing", "Thumbnails", "TraceRecording",
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
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
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
        "JobSettings", "Jobs", "MemoryPressure", "PictureMaking", "Places", "QueueBaselines", "Sourcing", "Splitting",
        "StatusEndpoint", "Thumbnails", "TraceRecording",
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
        "Thumbnails", .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
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
        "Files", "Ledger", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
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
      name: "ThumbnailsTests", dependencies: ["Thumbnails", "CLibJPEG", "CLcms2", "ReferenceDecoder", "TestSupport"],
      swiftSettings: settings),
    .target(
      name: "PictureWriters", dependencies: ["CDecoding", "CPictures", "CTIFF", "CWebP"], path: "Tests/PictureWriters"),
    .testTarget(
      name: "PicturesTests",
      dependencies: ["CDecoding", "CPictures", "PictureWriters", "Pictures", "TestSupport", "Thumbnails"],
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
