//go:build capi && cgo && linux

package main

import (
	"os"
	"strings"
)

// takeEnvironment makes Go's copy of the environment what C has now: Go copied it when the
// library was loaded, and C programs set variables after that.
func takeEnvironment() {
	now := map[string]string{}
	for i := 0; ; i++ {
		entry, ok := environEntry(i)
		if !ok {
			break
		}
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			now[name] = value
		}
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := now[name]; !ok {
			os.Unsetenv(name)
		}
	}
	for name, value := range now {
		if os.Getenv(name) != value {
			os.Setenv(name, value)
		}
	}
}
