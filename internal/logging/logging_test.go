package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// from returns a lookup of some variables.
func from(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

func TestRead(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "info": true, "debug": true, "info,coll": true, "debug,tcp,json,boot": true, "info,json": true,
		"warn": false, "coll": false, "info,": false, "info,info": false, "info coll": false, "json": false, "info,shm": false,
	} {
		s, err := Read(from(map[string]string{Env: text}))
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s=%q", Env, text)) {
			t.Errorf("%q: %v", text, err)
		}
		if l, err := s.Open("0"); err != nil || (l != nil) != (ok && text != "") {
			t.Errorf("%q: logger %v, %v", text, l, err)
		}
	}
}

func TestWhatIsHeard(t *testing.T) {
	for text, want := range map[string]string{
		"info":            "job info, coll info, coll warn, tcp warn, none info",
		"debug":           "job debug, job info, coll info, coll warn, tcp warn, none info",
		"info,coll":       "coll info, coll warn, tcp warn",
		"debug,job":       "job debug, job info, coll warn, tcp warn",
		"debug,job,coll":  "job debug, job info, coll info, coll warn, tcp warn",
		"info,boot,json":  "coll warn, tcp warn",
		"debug,tcp,rdma":  "coll warn, tcp warn",
		"info,coll,coll":  "coll info, coll warn, tcp warn",
		"debug,boot,json": "coll warn, tcp warn",
	} {
		s, err := Read(from(map[string]string{Env: text}))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		h := s.handler(&out)
		l := slog.New(h)
		l.With(Part, Job).Debug("job debug")
		l.With(Part, Job, "rank", 3).Info("job info")
		l.With(Part, Collectives).WithGroup("g").Info("coll info", "k", "v")
		l.With(Part, Collectives).Warn("coll warn")
		l.With(Part, TCP).Warn("tcp warn")
		l.Info("none info")
		if got := strings.Join(messages(t, out.String(), strings.Contains(text, "json")), ", "); got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// messages returns those of lines of text or JSON.
func messages(t *testing.T, lines string, isJSON bool) (all []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if !isJSON {
			_, rest, _ := strings.Cut(line, `msg="`)
			msg, _, _ := strings.Cut(rest, `"`)
			all = append(all, msg)
			continue
		}
		var record struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, record.Msg)
	}
	return all
}

func TestFilePerRank(t *testing.T) {
	base := filepath.Join(t.TempDir(), "log")
	s, err := Read(from(map[string]string{Env: "info", EnvFile: base}))
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{3, 12, 3} { // the second time it is appended to
		l, err := s.Open(fmt.Sprint(rank))
		if err != nil {
			t.Fatal(err)
		}
		l.Info("it is here", "rank", rank)
	}
	for rank, lines := range map[int]int{3: 2, 12: 1} {
		text, err := os.ReadFile(fmt.Sprintf("%s.%d", base, rank))
		if err != nil || strings.Count(string(text), fmt.Sprintf("rank=%d\n", rank)) != lines {
			t.Errorf("%v, %q; want %d lines", err, text, lines)
		}
	}
	s.file = filepath.Join(base, "no folder")
	if _, err := s.Open("0"); err == nil || !strings.HasPrefix(err.Error(), EnvFile+": ") {
		t.Errorf("a file that cannot be made: %v", err)
	}
}
