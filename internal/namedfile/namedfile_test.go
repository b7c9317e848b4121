package namedfile

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

const most = 64

// TestKindsOfFiles reads every kind of file that a path can name. Without its checks, Read
// would block at the pipe and never end at the device.
func TestKindsOfFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(syscall.Mkfifo(at("fifo"), 0o600))
	check(os.WriteFile(at("full"), []byte(strings.Repeat("x", most)), 0o600))
	check(os.WriteFile(at("long"), []byte(strings.Repeat("x", most+1)), 0o600))
	check(os.WriteFile(at("empty"), nil, 0o600))
	check(os.Symlink("/dev/zero", at("zero")))
	check(os.Symlink(at("fifo"), at("pipe")))
	check(os.Symlink(at("full"), at("link")))
	t.Chdir(dir)
	sock, err := net.Listen("unix", "socket") // the whole path may be longer than one of a socket
	check(err)
	defer sock.Close()
	r, w, err := os.Pipe()
	check(err)
	defer r.Close()
	check2 := func(_ int, err error) { t.Helper(); check(err) }
	check2(w.WriteString("piped"))
	check(w.Close())
	zero, err := os.Open("/dev/zero")
	check(err)
	defer zero.Close()

	for _, c := range []struct {
		path, want, wrong string
	}{
		{at("full"), strings.Repeat("x", most), ""},
		{at("link"), strings.Repeat("x", most), ""},
		{at("empty"), "", ""},
		{fmt.Sprintf("/dev/fd/%d", r.Fd()), "piped", ""},
		{at("long"), "", "it has more than 64 bytes"},
		{at("fifo"), "", "it is no regular file but a named pipe"},
		{at("pipe"), "", "it is no regular file but a named pipe"},
		{"/dev/zero", "", "it is no regular file but a device"},
		{"/dev/null", "", "it is no regular file but a device"},
		{at("zero"), "", "it is no regular file but a device"},
		{fmt.Sprintf("/dev/fd/%d", zero.Fd()), "", "it has more than 64 bytes"},
		{dir, "", "it is no regular file but a directory"},
		{at("socket"), "", "no such device or address"},
		{at("none"), "", "no such file or directory"},
		{at("full") + "/below", "", "not a directory"},
		{"", "", "no such file or directory"},
		{"a\x00b", "", "invalid argument"},
		{strings.Repeat("n", 5000), "", "file name too long"},
	} {
		got, err := File{Named: "GASPI_X", Path: c.path, Expected: "a short file", Most: most}.Read()
		if c.wrong == "" {
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %q, %v, want %q", c.path, got, err, c.want)
			}
			continue
		}
		shown := fmt.Sprintf("%q", c.path)
		if len(c.path) > longestPath {
			shown = fmt.Sprintf("%q", c.path[:longestPath]+"...")
		}
		if want := "GASPI_X=" + shown + ": " + c.wrong + "; expected a short file"; err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v, want %s", c.path, got, err, want)
		}
	}
}

func TestErrorsOfFlags(t *testing.T) {
	_, err := File{Named: "--x", Path: "/none/é" + strings.Repeat("é", longestPath), Expected: "a file", Most: most}.Read()
	if err == nil || !strings.HasPrefix(err.Error(), `--x "/none/é`) || !utf8.ValidString(err.Error()) || strings.ContainsRune(err.Error(), utf8.RuneError) {
		t.Errorf("%v, want the flag and a path that is cut between two characters", err)
	}
	if _, err := (File{Named: "--x", Path: "/none", Expected: "a file", Most: most}).Open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want one that matches fs.ErrNotExist", err)
	}
}

func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := File{Named: "GASPI_X", Path: path, Expected: "a list", Most: most}
	for content, want := range map[string]string{"[1,2]": "", "{}": "cannot unmarshal", "": "unexpected end", "[1": "unexpected end", "[1] 2": "after top-level value"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var list []int
		err := f.JSON(&list)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "GASPI_X=") || !strings.HasSuffix(err.Error(), "; expected a list")) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// Goal: a directory that a user has named is made, or one sentence says which part of its path is the obstacle.
// Method: what may be in the way, at the end of the path and before it.
func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(in("file"), nil, 0o600), os.Mkdir(in("there"), 0o700), os.Symlink("nowhere", in("link"))); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)
	for path, want := range map[string]string{
		in("there"):     "",
		in("there/a/b"): "",
		in("new/a/b"):   "",
		in("file"):      "it is there and no directory",
		in("file/a/b"):  fmt.Sprintf("%q is there and no directory", in("file")),
		in("link"):      "it is there and no directory",
		in("link/a"):    fmt.Sprintf("%q is there and no directory", in("link")),
		in(long):        "it cannot be made: file name too long",
		"":              "it cannot be made: no such file or directory",
		"/proc/none/a":  `"/proc/none" cannot be made: no such file or directory`,
	} {
		f := File{Named: "--dir", Path: path, Expected: NewDir}
		if want != "" {
			want = f.title() + ": " + want + "; expected a directory, or the name of a new one in a directory that this user may write to"
		}
		err := f.MakeDir()
		if text := fmt.Sprint(err); err != nil && text != want || err == nil && want != "" {
			t.Errorf("%s, want %s", text, want)
		}
		if info, wrong := os.Stat(path); err == nil && (wrong != nil || !info.IsDir()) {
			t.Errorf("%s: %v, %v", path, info, wrong)
		}
	}
}
