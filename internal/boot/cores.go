package boot

// EnvLocalCores is how many cores the ranks of this host share. A rank that is
// bound to one core cannot find it out by itself. Missing, it is what the Go
// runtime says.
const EnvLocalCores = "GASPI_LOCAL_CORES"
