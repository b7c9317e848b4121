package beside

import (
	"runtime/debug"
	"strings"
)

// ourVersion is the version of this program, empty where it was built without one.
func ourVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		const digits = 12
		if s.Key == "vcs.revision" {
			return s.Value[:min(digits, len(s.Value))]
		}
	}
	return strings.Trim(info.Main.Version, "()")
}
