package page

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// A HostInfo is where a report was made.
type HostInfo struct {
	Name, Kernel, Processor string
	Cores                   int
	Go                      string
	Commit                  string // with a "+" if the tree had changes; a text that says so if the build did not note it
}

// unknown stands for what the system does not tell.
const unknown = "unknown"

// ThisHost is the present one. A fact that the system does not tell is unknown.
func ThisHost() HostInfo {
	h := HostInfo{Name: unknown, Kernel: unknown, Processor: unknown, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if name, err := os.Hostname(); err == nil {
		h.Name = name
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		h.Processor = processorOf(string(text))
	}
	h.Commit = unstamped
	if info, ok := debug.ReadBuildInfo(); ok {
		h.Commit = commitOf(info)
	}
	if h.Commit == unstamped {
		if text, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
			h.Commit += "; the folder that it ran in is at " + strings.TrimSpace(string(text))
		}
	}
	return h
}

// processorOf is the name in the first entry of /proc/cpuinfo.
func processorOf(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

// unstamped is the commit of a program whose build did not note any.
const unstamped = "unknown: the program was built without a version stamp (go run, or -buildvcs=false)"

// commitOf is the commit that go build noted: that of the tree, or of the version of the module
// that go install built.
func commitOf(info *debug.BuildInfo) string {
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	switch {
	case commit != "":
		return commit + changed
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return "of version " + info.Main.Version
	}
	return unstamped
}

// String is a host in a line.
func (h HostInfo) String() string {
	return fmt.Sprintf("%s, %d cores of %s, kernel %s, %s, commit %s", h.Name, h.Cores, h.Processor, h.Kernel, h.Go, h.Commit)
}
