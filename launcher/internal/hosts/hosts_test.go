package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cases := []struct {
		list string
		want []Entry
	}{
		{"a", []Entry{{"a", 1}}},
		{"a:2,b:3", []Entry{{"a", 2}, {"b", 3}}},
		{"a, b ,a:2", []Entry{{"a", 3}, {"b", 1}}},
		{"me@a.example:2", []Entry{{"me@a.example", 2}}},
		{"10.0.0.1:4", []Entry{{"10.0.0.1", 4}}},
		{"::1,fe80::2%eth0", []Entry{{"::1", 1}, {"fe80::2%eth0", 1}}},
		{"[::1]:2,[::2],::1", []Entry{{"::1", 3}, {"::2", 1}}},
	}
	for _, c := range cases {
		got, err := Parse(c.list)
		if err != nil {
			t.Errorf("%q: %v", c.list, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.list, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ list, want string }{
		{"", "a name is missing"},
		{"a,,b", "a name is missing"},
		{"a,", "a name is missing"},
		{":2", "host name of 0 bytes"},
		{"a:", `"" slots: expected a number from 1 to 65536`},
		{"a:0", `"0" slots`},
		{"a:-1", `"-1" slots`},
		{"a:+1", `"+1" slots`},
		{"a:2x", `"2x" slots`},
		{"a:99999999999999999999", "slots"},
		{"a:65536,b", "at most 65536 in all"},
		{"-oProxyCommand=x", `the character '-' at byte 0`},
		{"@a", `the character '@' at byte 0`},
		{"a b", `the character ' ' at byte 1`},
		{"a;b", `the character ';'`},
		{"a$(x)", `the character '$'`},
		{"[::1", "expected [ADDRESS]:SLOTS"},
		{"[::1]2", "expected [ADDRESS]:SLOTS"},
		{strings.Repeat("a", 256), "host name of 256 bytes"},
	}
	for _, c := range cases {
		if got, err := Parse(c.list); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an error with %q", c.list, got, err, c.want)
		}
	}
}

func TestParseFile(t *testing.T) {
	text := "# the cluster\n\na slots=2\nb:3 # trailing\n  c\t\nd slots=4 max_slots=8\na\n[::1] slots=2 max-slots=2\n"
	want := []Entry{{"a", 3}, {"b", 3}, {"c", 1}, {"d", 4}, {"::1", 2}}
	got, err := ParseFile("hosts", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for text, want := range map[string]string{
		"":                                "hosts: there is no host in it",
		"# nothing\n":                     "hosts: there is no host in it",
		"a\nb slots=x\n":                  `hosts:2: host b: "x" slots`,
		"a slots\n":                       `hosts:1: host a: "" slots`,
		"a cores=2\n":                     `hosts:1: host a: "cores=2": expected slots=N`,
		"a slots=4 max_slots=2\n":         "hosts:1: host a: 4 slots, but at most 2",
		"a\n-b\n":                         `hosts:2: host "-b"`,
		"a:x slots=2":                     `hosts:1: host "a:x"`,
		"a\n" + strings.Repeat("b", 5000): "hosts:2: a line of more than 4096 bytes; expected lines such as: a slots=2",
	} {
		if got, err := ParseFile("hosts", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
	if _, err := ReadFile("nope/nope"); err == nil || !strings.Contains(err.Error(), `file of hosts "nope/nope": no such file or directory; expected a file with lines such as: a slots=2`) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReadFileOfKinds reads what is no regular file. A pipe with a name would let it wait for
// ever.
func TestReadFileOfKinds(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, t.TempDir(), "/dev/null"} {
		if got, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("file of hosts %q: it is no regular file", path)) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fmt.Fprintln(w, "a slots=2")
	w.Close()
	got, err := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if d := cmp.Diff([]Entry{{"a", 2}}, got); d != "" || err != nil {
		t.Errorf("an inherited pipe: %v (-want +got):\n%s", err, d)
	}
}

func TestFill(t *testing.T) {
	all := []Entry{{"a", 2}, {"b", 3}, {"c", 1}}
	cases := []struct {
		n    int
		want []Entry
	}{
		{0, all},
		{6, all},
		{1, []Entry{{"a", 1}}},
		{2, []Entry{{"a", 2}}},
		{4, []Entry{{"a", 2}, {"b", 2}}},
	}
	for _, c := range cases {
		got, err := fill(all, c.n)
		if err != nil {
			t.Errorf("%d: %v", c.n, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%d (-want +got):\n%s", c.n, d)
		}
	}
	want := "7 ranks do not fit into the 6 slots of 3 hosts: name more hosts, or give them more slots (NAME:SLOTS)"
	if _, err := fill(all, 7); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// environment is one in which the pairs are set.
func environment(pairs ...string) func(string) (string, bool) {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func TestSlurm(t *testing.T) {
	cases := []struct {
		name, nodes, tasks string
		want               []Entry
	}{
		{"one node", "h1", "4", []Entry{{"h1", 4}}},
		{"range", "h[1-4]", "4,2,1(x2)", []Entry{{"h1", 4}, {"h2", 2}, {"h3", 1}, {"h4", 1}}},
		{"list and range", "h[1-2,7],x01", "2(x4)", []Entry{{"h1", 2}, {"h2", 2}, {"h7", 2}, {"x01", 2}}},
		{"leading zeros", "n[009-011]", "1(x3)", []Entry{{"n009", 1}, {"n010", 1}, {"n011", 1}}},
		{"two brackets", "r[1-2]n[3,5]-ib", "1(x4)", []Entry{{"r1n3-ib", 1}, {"r1n5-ib", 1}, {"r2n3-ib", 1}, {"r2n5-ib", 1}}},
	}
	for _, c := range cases {
		got, err := Slurm(environment(slurmJob, "17", slurmNodes, c.nodes, slurmTasks, c.tasks, slurmCPUs, "64(x9)"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	got, err := Slurm(environment(slurmJob, "17", slurmNodes, "a,b", slurmCPUs, "8(x2)"))
	if d := cmp.Diff([]Entry{{"a", 8}, {"b", 8}}, got); err != nil || d != "" {
		t.Errorf("no tasks but processors: %v\n%s", err, d)
	}
	for _, pairs := range [][]string{nil, {slurmNodes, "a"}, {slurmJob, "17"}} {
		if got, err := Slurm(environment(pairs...)); got != nil || err != nil {
			t.Errorf("%q is no allocation: %v, %v", pairs, got, err)
		}
	}
}

func TestSlurmRefuses(t *testing.T) {
	cases := []struct{ nodes, tasks, want string }{
		{"", "1", `SLURM_JOB_NODELIST="": it names no node`},
		{"a,,b", "1(x3)", "a name is missing"},
		{"h[1-", "1", "a bracket is not closed"},
		{"h[]", "1", `"" in brackets`},
		{"h[3-1]", "1", `"3-1" in brackets`},
		{"h[1-x]", "1", `"1-x" in brackets`},
		{"h[1--2]", "1", "in brackets"},
		{"h[0-99999999]", "1", "more than 65536 nodes"},
		{"h[1-300][1-300]", "1", "more than 65536 nodes"},
		{"h[9999999999]", "1", "in brackets"},
		{"a b", "1", `the character ' '`},
		{"h]", "1", `the character ']'`},
		{"a,b", "1", `SLURM_TASKS_PER_NODE="1": counts for 1 of the 2 nodes`},
		{"a,b", "1,2,3", "counts for more than the 2 nodes"},
		{"a,b", "1(x3)", "counts for more than the 2 nodes"},
		{"a", "1(x1", `"1(x1": expected a count`},
		{"a", "0", `"0": expected a count`},
		{"a", "1(x0)", "expected a count"},
		{"a", "", `"": expected a count`},
		{"a", "4(x)", "expected a count"},
	}
	for _, c := range cases {
		got, err := Slurm(environment(slurmJob, "17", slurmNodes, c.nodes, slurmTasks, c.tasks))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("nodes %q, tasks %q: %v, %v; want an error with %q", c.nodes, c.tasks, got, err, c.want)
		}
	}
	if _, err := Slurm(environment(slurmJob, "17", slurmNodes, "a")); err == nil || !strings.Contains(err.Error(), "neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE") {
		t.Errorf("no counts: %v", err)
	}
}

// check fails if hosts that were accepted break a promise.
func check(t *testing.T, all []Entry) {
	total := 0
	for _, h := range all {
		if err := checkName(h.Name); err != nil || h.Slots < 1 {
			t.Fatalf("%+v was accepted: %v", h, err)
		}
		total += h.Slots
	}
	if len(all) == 0 || total > MaxSlots {
		t.Fatalf("%d hosts with %d slots were accepted", len(all), total)
	}
}

// legible fails if a sentence about a line of a file cannot be read on a terminal: its characters are printable, and
// there are not too many of them.
func legible(t *testing.T, line string, err error) {
	t.Helper()
	if text := err.Error(); !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q: the error cannot be printed: %q", line, err)
	}
	if len(err.Error()) > 1000 {
		t.Errorf("%.80q: an error of %d bytes", line, len(err.Error()))
	}
}

// Goal: the sentence about a line of a file can be read on a terminal, whatever is in the line.
// Method: each byte, and words that are long, at each place of a line, of which some are refused for something else.
func TestRefusalsOfFilesAreLegible(t *testing.T) {
	words := []string{strings.Repeat("x", 3000), "\u202e", "\ufeff", "\ufffd", "\x1b[31m"}
	for b := range 256 {
		words = append(words, string([]byte{byte(b)}))
	}
	refused := 0
	for _, form := range []string{"%s", "%sa slots=x", "a%s slots=0", "[%s", "a:%s", "a slots=%s", "a max_slots=1%s slots=2", "a %s=2", "a slots=1 %s"} {
		for _, word := range words {
			line := fmt.Sprintf(form, word)
			if _, err := ParseFile("hosts", strings.NewReader(line)); err != nil {
				refused++
				legible(t, line, err)
			}
		}
	}
	if refused < 5*len(words) {
		t.Errorf("%d lines are refused, of %d", refused, 9*len(words))
	}
	for name, want := range map[string]string{
		"ä":      `host "ä": the character 'ä' at byte 0 is not allowed`,
		"\ufffd": "host \"\ufffd\": the character '\ufffd' at byte 0 is not allowed",
		"a\xff":  `host "a\xff": 0xff at byte 1, which is no UTF-8, is not allowed`,
	} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"\xff slots=x", "a:2,b", "[::1]:2", "a slots=2\n#x\nb:3", "h[1-4,7],x01", "r[1-2]n[01-03]", "4,2,1(x2)"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if all, err := Parse(a); err == nil {
			check(t, all)
		}
		if all, err := ParseFile("x", strings.NewReader(a)); err == nil {
			check(t, all)
		} else {
			legible(t, a, err)
		}
		for _, counts := range []string{b, fmt.Sprintf("1(x%d)", strings.Count(a, ",")+1)} {
			if all, err := Slurm(environment(slurmJob, "1", slurmNodes, a, slurmTasks, counts)); err == nil {
				check(t, all)
			}
		}
	})
}
