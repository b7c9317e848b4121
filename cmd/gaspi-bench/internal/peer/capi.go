package peer

import (
	"path/filepath"
	"strconv"
)

// capiName is the name of the library for C of this project.
const capiName = "gaspi-c"

// OverMessages reports whether the library of that name is measured over shm and tcp.
func OverMessages(name string) bool { return MPI(name) || name == capiName }

// capi is the library for C of this project, as installed beside the gaspi-run in PATH.
func capi() library {
	return library{
		name: capiName, title: "the library for C", compiler: "cc", launcher: "gaspi-run",
		missing: "make -C capi install PREFIX=DIR puts it into DIR/bin, and the library beside it",
		source:  "gaspibench.c",
		beside:  capiFlags,
		ways: func(operation string) []string {
			switch operation {
			case "barrier", "latency", "delivery", "bandwidth":
				return []string{""}
			}
			return nil
		},
		arguments: func(j Job) []string {
			return append([]string{strconv.FormatInt(j.Time.Microseconds(), 10)}, j.points()...)
		},
		command:    capiCommand,
		algorithms: noAlgorithms,
	}
}

// capiFlags are the arguments of the compiler for the library that was installed with a launcher.
func capiFlags(launcher string) []string {
	prefix := filepath.Dir(filepath.Dir(launcher))
	lib := filepath.Join(prefix, "lib")
	return []string{"-I" + filepath.Join(prefix, "include"), "-L" + lib, "-lgaspi", "-Wl,-rpath," + lib}
}

func capiCommand(j Job) launch {
	transport, bind := "shm", "none"
	if j.TCP {
		transport = "tcp"
	}
	if j.Bound {
		bind = "core"
	}
	return launch{args: []string{"-n", strconv.Itoa(j.Ranks), "--transport", transport, "--bind", bind, "--output", "raw"}}
}
