// Package logging makes the logger that the environment of a rank asks for, so that a job says more
// without a change of its program.
//
// It knows levels, parts and files; what is said, and when, is the business of those who log.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// The variables. Env has a level and, behind commas, json and the parts that are heard; without a part
// all are. EnvFile begins the name of a file for each rank, in place of standard error.
const (
	Env     = "GASPI_LOG"
	EnvFile = "GASPI_LOG_FILE"
)

// Part is the key of the attribute that says which part of the library a line is from.
const Part = "part"

// Parts are its values.
const (
	Job         = "job"  // starts and ends, and who is lost
	Boot        = "boot" // how ranks find their job and each other
	TCP         = "tcp"
	RDMA        = "rdma"
	Collectives = "coll" // which algorithms the chooser picks
)

var parts = []string{Job, Boot, TCP, RDMA, Collectives}

// LogSettings are what Env says.
type LogSettings struct {
	level slog.Level
	json  bool
	parts []string // that are heard; none: all
	file  string   // what EnvFile says
	none  bool     // nothing is heard
}

// Read reads the variables by lookup, as os.LookupEnv does.
func Read(lookup func(name string) (value string, set bool)) (LogSettings, error) {
	text, _ := lookup(Env)
	s := LogSettings{none: text == ""}
	s.file, _ = lookup(EnvFile)
	for i, word := range strings.Split(text, ",") {
		switch {
		case s.none:
		case i == 0 && word == "info":
			s.level = slog.LevelInfo
		case i == 0 && word == "debug":
			s.level = slog.LevelDebug
		case i > 0 && word == "json":
			s.json = true
		case i > 0 && slices.Contains(parts, word):
			s.parts = append(s.parts, word)
		default:
			return LogSettings{none: true}, fmt.Errorf("%s=%.80q: expected info or debug, and behind it perhaps ,json and parts such as ,coll of %s",
				Env, text, strings.Join(parts, ", "))
		}
	}
	return s, nil
}

// Open returns the logger of a rank, nil if nothing is to be heard. A file has the rank as the end of
// its name, is made or appended to, and stays open until the process ends.
func (s LogSettings) Open(rank string) (*slog.Logger, error) {
	if s.none {
		return nil, nil
	}
	var w io.Writer = os.Stderr
	if s.file != "" {
		f, err := os.OpenFile(fmt.Sprintf("%s.%s", s.file, rank), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", EnvFile, err)
		}
		w = f
	}
	return slog.New(s.handler(w)), nil
}

func (s LogSettings) handler(w io.Writer) slog.Handler {
	o := &slog.HandlerOptions{Level: s.level}
	if s.json {
		return &handler{Handler: slog.NewJSONHandler(w, o), heard: s.parts}
	}
	return &handler{Handler: slog.NewTextHandler(w, o), heard: s.parts}
}

// A handler drops lines of parts that are not heard, but for warnings and errors.
type handler struct {
	slog.Handler
	heard []string // none: all
	part  string   // of its lines
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if level < slog.LevelWarn && len(h.heard) > 0 && !slices.Contains(h.heard, h.part) {
		return false
	}
	return h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	for _, a := range attrs {
		if a.Key == Part {
			c.part = a.Value.String()
		}
	}
	c.Handler = h.Handler.WithAttrs(attrs)
	return &c
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	c := *h
	c.Handler = h.Handler.WithGroup(name)
	return &c
}
