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
	Commit                  string // with a "+" if the tree had changes; "unknown" if nobody noted it
}

// unknown stands for what the system does not tell.
const unknown = "unknown"

// ThisHost is the present one. A fact that the system does not tell is unknown.
func ThisHost() HostInfo {
	h := HostInfo{Name: unknown, Kernel: unknown, Processor: unknown, Cores: runtime.NumCPU(), Go: runtime.Version(), Commit: unknown}
	if name, err := os.Hostname(); err == nil {
		h.Name = name
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		h.Processor = processorOf(string(text))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		h.Commit = commitOf(info.Settings)
	}
	if h.Commit == unknown { // a build that was told not to note it
		if text, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
			h.Commit = strings.TrimSpace(string(text)) + " (of the directory that the report was made in)"
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

// commitOf is what go build noted about the tree.
func commitOf(settings []debug.BuildSetting) string {
	commit := unknown
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+"
		}
	}
	return commit
}

// String is a host in a line.
func (h HostInfo) String() string {
	return fmt.Sprintf("%s, %d cores of %s, kernel %s, %s, commit %s", h.Name, h.Cores, h.Processor, h.Kernel, h.Go, h.Commit)
}
