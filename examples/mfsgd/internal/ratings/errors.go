package ratings

import (
	"fmt"
	"strings"
)

// A LineError says what is wrong with one line of a ratings file.
type LineError struct {
	File    string
	Line    int    // counted from 1, the header included
	Text    string // the line, without its end
	Problem string // what was found and what was expected
}

// Error names the file, the line and its text, cut where it gets long.
func (e *LineError) Error() string {
	const longest = 120 // some four times the longest line of a MovieLens file
	text := e.Text
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return fmt.Sprintf("%s:%d: %s; the line is %q", e.File, e.Line, e.Problem, text)
}

// A FewUsersError says that some rank would own no user.
type FewUsersError struct {
	Source       string // the file or the synthetic set
	Users, Ranks int
}

// Error says how many ranks can be used.
func (e *FewUsersError) Error() string {
	return fmt.Sprintf("%s has %d users, too few for %d ranks: every rank needs at least one, so start at most %d",
		e.Source, e.Users, e.Ranks, e.Users)
}
