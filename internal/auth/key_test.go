package auth

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestKeyTextAndBack(t *testing.T) {
	k := NewKey()
	back, err := ParseKey(" " + k.Text() + "\n")
	if err != nil || back != k {
		t.Errorf("%v; the key did not come back", err)
	}
	if NewKey() == k {
		t.Error("two new keys are equal")
	}
}

func TestKeyDoesNotPrint(t *testing.T) {
	k := NewKey()
	digits := strings.ToLower(k.Text())
	inside := struct{ Key Key }{k}
	encoded, err := json.Marshal(inside)
	if err != nil {
		t.Fatal(err)
	}
	printed := []string{string(encoded), k.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d"} {
		printed = append(printed, fmt.Sprintf(verb, k), fmt.Sprintf(verb, inside), fmt.Sprintf(verb, &k))
	}
	for _, p := range printed {
		if !strings.Contains(p, hidden) || strings.Contains(strings.ToLower(p), digits[:8]) {
			t.Errorf("printed as %q, want %q", p, hidden)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := NewKey().Text()
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "64 hexadecimal digits"},
		{"short", good[:62], "64 hexadecimal digits"},
		{"long", good + "00", "64 hexadecimal digits"},
		{"no digits", strings.Repeat("x", 64), "64 hexadecimal digits"},
		{"two", good + "\n" + good, "64 hexadecimal digits"},
		{"zeros", strings.Repeat("0", 64), "all zeros"},
	} {
		_, err := ParseKey(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		} else if len(c.text) > 8 && strings.Contains(err.Error(), c.text[:8]) {
			t.Errorf("%s: the error shows the text: %v", c.name, err)
		}
	}
}

func TestReadCredentials(t *testing.T) {
	k := NewKey()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(k.Text()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range []string{path, fmt.Sprintf("/proc/self/fd/%d", f.Fd())} {
		if got, err := ReadCredentials("GASPI_KEY_FILE", p); err != nil || got.Key != k {
			t.Errorf("%s: %v; it is not the key that was written", p, err)
		}
	}
	if _, err := ReadCredentials("GASPI_KEY_FILE", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := ReadCredentials("GASPI_KEY_FILE", "/dev/zero"); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("an endless file: %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("00", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCredentials("GASPI_KEY_FILE", path); err == nil || !strings.Contains(err.Error(), "1024 bytes") {
		t.Errorf("a long file: %v", err)
	}
}

func TestDerivedBytesDiffer(t *testing.T) {
	k := NewKey()
	same, err := ParseKey(k.Text())
	if err != nil {
		t.Fatal(err)
	}
	if k.JobID() != same.JobID() || k.JobID() == NewKey().JobID() || len(k.JobID()) != 32 {
		t.Errorf("job ids %s and %s of one key", k.JobID(), same.JobID())
	}
	if strings.Contains(k.Text(), k.JobID()) {
		t.Error("the job id shows part of the key")
	}
}

// TestKeyFilesOfOthersAreRefused tries every mode of a file.
func TestKeyFilesOfOthersAreRefused(t *testing.T) {
	k := NewKey()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(k.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode := os.FileMode(0o400); mode <= 0o777; mode++ {
		if mode&0o400 == 0 {
			continue // not even its owner can read it
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCredentials("GASPI_KEY_FILE", path)
		if mode&0o077 == 0 && (err != nil || got.Key != k) {
			t.Errorf("mode %04o: %v", mode, err)
		}
		if want := fmt.Sprintf("GASPI_KEY_FILE=%q: it is open to other users (mode %04o)", path, mode); mode&0o077 != 0 && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "chmod 600")) {
			t.Errorf("mode %04o: %v, want an error with %q", mode, err, want)
		}
	}
}

// TestNamedPipeIsNoKeyFile would wait for ever without O_NONBLOCK.
func TestNamedPipeIsNoKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCredentials("GASPI_KEY_FILE", path); err == nil || !strings.Contains(err.Error(), "it is no regular file but a named pipe") {
		t.Errorf("%v, want that it is no regular file", err)
	}
}
