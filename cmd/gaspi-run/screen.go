package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// Sequences of ECMA-48 and the VT100, which every terminal emulator has; scrolling within some lines and a
// second screen among them.
const (
	home         = "\x1b[H"
	eraseLine    = "\x1b[2K"
	eraseBelow   = "\x1b[J"
	enterScreen  = "\x1b[?1049h\x1b[?25l" // the second screen, and no cursor
	leaveScreen  = "\x1b[?25h\x1b[?1049l"
	saveCursor   = "\x1b7"
	returnCursor = "\x1b8"
	scrollAll    = "\x1b[r"
	scrollBelow  = "\x1b[%d;%dr" // from line to line
	toLine       = "\x1b[%d;1H"
)

// Keys as a terminal in raw mode sends them.
const (
	ctrlC = 3
	ctrlZ = 26
)

// Size of a terminal that does not tell it.
const (
	usualWidth  = 80
	usualHeight = 24
)

// sizeOf is the size of a terminal.
func sizeOf(out *os.File) (width, height int) {
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return usualWidth, usualHeight
	}
	return width, height
}

// A screen is a terminal that this program has for itself until close.
type screen struct {
	in, out *os.File
	was     *term.State // of in; nil if that is no terminal
	keys    <-chan byte // what the user types; closed at the end of in, nil if it is no terminal
}

// openScreen takes the terminal out, and what is typed at in if that is one, too.
func openScreen(in, out *os.File) *screen {
	s := &screen{in: in, out: out}
	s.enter()
	if s.was != nil {
		keys := make(chan byte)
		s.keys = keys
		go readKeys(in, keys)
	}
	return s
}

// readKeys passes on what is typed until the process ends, for a read of a terminal cannot be ended.
func readKeys(in *os.File, keys chan<- byte) {
	defer close(keys)
	b := make([]byte, 1)
	for {
		if n, err := in.Read(b); n < 1 || err != nil {
			return
		}
		keys <- b[0]
	}
}

func (s *screen) enter() {
	if was, err := term.MakeRaw(int(s.in.Fd())); err == nil {
		s.was = was
	}
	_, _ = s.out.WriteString(enterScreen)
}

// close gives the terminal back as it was.
func (s *screen) close() {
	_, _ = s.out.WriteString(leaveScreen)
	if s.was != nil {
		_ = term.Restore(int(s.in.Fd()), s.was)
	}
}

// suspend gives the terminal back until the user lets this process go on.
func (s *screen) suspend() {
	s.close()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	s.enter()
}

func (s *screen) size() (width, height int) { return sizeOf(s.out) }

// leastHeight is the least height of a terminal that has room for a table above the output of ranks.
const leastHeight = 10

// A watcher shows what ranks do in the upper lines of a terminal, while output scrolls below them.
type watcher struct {
	out *os.File

	mu            sync.Mutex
	over          bool             // guarded by mu
	before        launcher.JobView // guarded by mu
	width, height int              // guarded by mu; of the terminal when lines were set apart, 0 before
	lines         int              // guarded by mu; that were
}

// begin makes room: output goes on at the last line, so that what scrolls up is the oldest of it.
func (w *watcher) begin() {
	_, height := sizeOf(w.out)
	_, _ = w.out.WriteString(strings.Repeat("\n", height))
}

// show is launcher.Config.Watch.
func (w *watcher) show(now launcher.JobView) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	var b bytes.Buffer
	if width, height := sizeOf(w.out); width != w.width || height != w.height {
		w.setApartLocked(&b, width, height, len(now.Ranks))
	}
	if w.lines == 0 {
		return
	}
	b.WriteString(saveCursor)
	for i, line := range append(frame(w.before, now, w.width, w.lines), make([]string, w.lines)...)[:w.lines] {
		fmt.Fprintf(&b, toLine+eraseLine+"%s", i+1, line)
	}
	b.WriteString(returnCursor)
	w.before = now
	_, _ = w.out.Write(b.Bytes())
}

// setApartLocked keeps the upper lines from scrolling: enough for all ranks, or half of the terminal. All that
// is on it scrolls up before.
func (w *watcher) setApartLocked(b *bytes.Buffer, width, height, ranks int) {
	w.width, w.height, w.lines = width, height, min(ranks+3, height/2)
	b.WriteString(scrollAll)
	if height < leastHeight {
		w.lines = 0
	}
	fmt.Fprintf(b, toLine, height)
	for range w.lines {
		b.WriteString("\n")
	}
	if w.lines > 0 {
		fmt.Fprintf(b, scrollBelow+toLine, w.lines+1, height, height)
	}
}

// close lets all of the terminal scroll again. Nothing is shown any more.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && w.lines > 0 {
		_, _ = w.out.WriteString(saveCursor + scrollAll + returnCursor)
	}
	w.over = true
}
