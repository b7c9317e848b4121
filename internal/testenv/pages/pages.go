// Package pages reads the Go code and the sessions of a shell that documents show, so that tests
// compile and run them. It does not know what a document says about them. It is for tests alone.
package pages

import (
	"fmt"
	"regexp"
	"strings"
)

// A Block is what a page has between two fences.
type Block struct {
	Page string // as it was given to Blocks
	Line int    // of the first fence, from 1
	Kind string // what stands behind the first fence, such as go
	Text string // lines, each with its end
}

// Blocks returns the blocks of a page in their order.
func Blocks(page, text string) []Block {
	var found []Block
	number, inside := 0, false
	for line := range strings.Lines(text) {
		number++
		kind, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && !inside:
			found = append(found, Block{Page: page, Line: number, Kind: kind})
			inside = true
		case fence:
			inside = false
		case inside:
			found[len(found)-1].Text += line
		}
	}
	return found
}

// String is where the block is.
func (b Block) String() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// IsGo reports whether the block is Go code.
func (b Block) IsGo() bool { return b.Kind == "go" }

// IsProgram reports whether the block is a whole program.
func (b Block) IsProgram() bool { return b.IsGo() && strings.HasPrefix(b.Text, "package main\n") }

// IsSession reports whether the block is a session of a shell: commands and what they print.
func (b Block) IsSession() bool { return b.Kind == "text" && strings.HasPrefix(b.Text, "$ ") }

// Session returns the commands of a session, without "$ ", and the lines that they print.
func (b Block) Session() (commands, printed []string) {
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		} else {
			printed = append(printed, line)
		}
	}
	return commands, printed
}

// sourceFile matches the name of a source in a command.
var sourceFile = regexp.MustCompile(`\b\w+\.go\b`)

// Source is the file that a session calls the program before it, or nothing.
func (b Block) Source() string {
	commands, _ := b.Session()
	return sourceFile.FindString(strings.Join(commands, "\n"))
}

// Framed makes a whole program of Go code: the code itself if it is one. Otherwise it is the body of
// a function, in which the names that fragments use without a word about them have their types. Only
// code that makes its own values of these runs; all other is for the compiler.
func (b Block) Framed() string {
	if b.IsProgram() {
		return b.Text
	}
	return strings.Replace(frame, "\tFRAGMENT\n", b.Text, 1)
}

const frame = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/segment"
	"github.com/gaspi-go/gaspi-go/ssp"
)

var _ = []any{errors.Is, fmt.Print, os.Exit, time.Now, collectives.Sum, hoplite.Sum, segment.BytesOf[byte], ssp.Sum}

type given struct {
	p       *gaspi.Proc
	g       *gaspi.Group
	seg     *gaspi.Segment
	q       *gaspi.Queue
	src     gaspi.Span
	peer    gaspi.Rank
	team    *collectives.Team
	store   *hoplite.Store
	n       int
	x, y, z []float64
}

func fragment(ctx context.Context, from given) error {
	p, g, seg, q, src, peer := from.p, from.g, from.seg, from.q, from.src, from.peer
	team, store, n, x, y, z := from.team, from.store, from.n, from.x, from.y, from.z
	_, _, _, _, _, _, _, _, _, _, _, _ = p, g, seg, q, src, peer, team, store, n, x, y, z
	{
	FRAGMENT
	}
	return nil
}

func main() { check(fragment(context.Background(), given{})) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`
