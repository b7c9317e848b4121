package peer

import (
	"strconv"
)

// fabrics are libfabric by who makes progress: see fabricbench.c.
func fabrics() []library {
	return []library{
		fabric("libfabric", "libfabric", "polling"),
		fabric("libfabric-descriptor", "libfabric with a descriptor", "descriptor"),
		fabric("libfabric-thread", "libfabric with a thread", "thread"),
	}
}

func fabric(name, title, progress string) library {
	return library{
		name: name, title: title, compiler: "cc", packages: "libfabric-dev gcc",
		source: "fabricbench.c", link: []string{"-lfabric", "-lpthread"},
		ways: func(operation string) []string {
			switch operation {
			case "latency", "delivery", "bandwidth":
				return []string{"put"}
			}
			return nil
		},
		arguments: func(j Job) []string {
			bound := map[bool]string{true: "1", false: "0"}[j.Bound]
			return append([]string{progress, j.Provider, bound, strconv.FormatInt(j.Time.Microseconds(), 10)}, j.points()...)
		},
		command:    func(Job) launch { return launch{} },
		algorithms: noAlgorithms,
	}
}
