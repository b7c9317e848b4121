package core

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/messages.txt anew")

// A sample is a message whose bytes testdata/messages.txt states.
type sample struct {
	name   string
	fields any // the struct of its kind
	msg    Message
}

func of(name string, fields interface{ message() Message }) sample {
	return sample{name, fields, fields.message()}
}

// TestGolden compares the bytes of each kind of message, and of each of its flags, with the
// golden file: a change of it is a change of the protocol between ranks.
func TestGolden(t *testing.T) {
	var text strings.Builder
	for _, s := range samples() {
		b := s.msg.Append(nil)
		fmt.Fprintln(&text, s.name)
		for ; len(b) > 0; b = b[min(len(b), 32):] {
			fmt.Fprintln(&text, " ", hex.EncodeToString(b[:min(len(b), 32)]))
		}
	}
	path := filepath.Join("testdata", "messages.txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
