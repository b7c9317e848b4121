package probe

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestObjectsAreOfThisSource compares the source of the programs, and their objects, with those that make ebpf
// has noted. Making them takes clang, which this does not.
func TestObjectsAreOfThisSource(t *testing.T) {
	noted, err := os.ReadFile("probe.sum")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(noted)) {
		if f := strings.Fields(line); len(f) == 2 {
			want[f[1]] = f[0]
		}
	}
	for _, file := range []string{"probe.bpf.c", "probe_bpfel.o"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); want[file] != sum {
			t.Errorf("%s has the checksum %s, noted is %q: run make ebpf and commit the result", file, sum, want[file])
		}
	}
}
