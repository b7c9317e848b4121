package vm

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// fakeKernel returns a kernel with two sectors of set-up, 100 bytes of code and a
// compressed part.
func fakeKernel(packed []byte) []byte {
	k := make([]byte, 3*512+100, 3*512+100+len(packed))
	k[0x1f1] = 2
	copy(k[0x202:], "HdrS")
	binary.LittleEndian.PutUint32(k[0x248:], 100)
	binary.LittleEndian.PutUint32(k[0x24c:], uint32(len(packed)))
	return append(k, packed...)
}

func TestPayload(t *testing.T) {
	good := fakeKernel([]byte("packed"))
	for _, c := range []struct {
		name   string
		kernel []byte
		want   string
		err    string
	}{
		{"kernel", good, "packed", ""},
		{"with more behind it", append(bytes.Clone(good), 1, 2, 3), "packed", ""},
		{"cut off", good[:len(good)-1], "", "promises 1642 bytes, and there are 1641"},
		{"header cut off", good[:0x24f], "", "no header"},
		{"something else", make([]byte, 4096), "", "no header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := payload(c.kernel)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if string(got) != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestDecompressKernel(t *testing.T) {
	testenv.Need(t, "xz")
	cmd := exec.CommandContext(t.Context(), "xz", "--stdout")
	cmd.Stdin = strings.NewReader("an ELF file")
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	other := fakeKernel([]byte("\x28\xb5\x2f\xfd and so on"))
	for _, c := range []struct {
		name   string
		kernel []byte
		want   string
		err    string
	}{
		{"xz, and a size behind it", fakeKernel(append(packed, 11, 0, 0, 0)), "an ELF file", ""},
		{"another format", other, string(other), ""},
		{"xz that is damaged", fakeKernel(packed[:len(packed)-20]), "", "xz cannot decompress the kernel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "vmlinuz")
			if err := os.WriteFile(file, c.kernel, 0o644); err != nil {
				t.Fatal(err)
			}
			err := decompressKernel(t.Context(), file)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			got, readErr := os.ReadFile(file)
			if err != nil || readErr != nil || string(got) != c.want {
				t.Errorf("%q, %v, %v, want %q", got, err, readErr, c.want)
			}
		})
	}
}
