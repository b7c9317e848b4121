package boot

import "syscall"

// EnvStacks names a directory in which a rank writes the stacks of its goroutines, to a file RANK.stacks,
// whenever it gets the signal StacksSignal. The launcher sends that before it ends a job that has failed.
const EnvStacks = "GASPI_STACKS"

// StacksSignal is the last of the signals for real time, which programs do not use otherwise.
const StacksSignal = syscall.Signal(64)
