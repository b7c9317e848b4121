package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: rows of the runtime alone can be had in these forms too.
func TestFormsWithoutPeers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.svg")
	stdout, stderr, code := gaspiBench(t, "broadcast", "--sizes", "8,64", "--time", "1ms", "--osu", "--plot", file)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "# gaspi-bench broadcast, 2 ranks over shm: gaspi\n# Size ") || strings.Contains(stdout, "p50 us") {
		t.Errorf("exit code %d, %s%s", code, stderr, stdout)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "</svg>") {
		t.Errorf("the drawing is %q: %v", data, err)
	}
}
