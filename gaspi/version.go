package gaspi

// Version is the version of this module, by semantic versioning.
const Version = "0.1.0-dev"

// StandardVersion is the version of the GASPI standard that this package
// follows; docs/GASPI.md states the deliberate differences.
const StandardVersion = "17.1"
