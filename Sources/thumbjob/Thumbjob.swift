import ArgumentParser

@main
struct Thumbjob: ParsableCommand {}
