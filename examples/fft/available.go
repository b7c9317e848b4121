package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// availableMemory is how many bytes programs of this host can still get without
// swapping: MemAvailable of /proc/meminfo. The error is os.ErrNotExist where
// there is no such file.
func availableMemory() (uint64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	return parseAvailable(string(text))
}

// parseAvailable finds the line in the text of /proc/meminfo.
func parseAvailable(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "MemAvailable:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
		if err != nil {
			return 0, fmt.Errorf("/proc/meminfo says %q: %w", strings.TrimSpace(line), err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("/proc/meminfo does not say MemAvailable: %w", os.ErrNotExist)
}

// byteCount writes a number of bytes for people.
func byteCount(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}
