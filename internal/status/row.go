package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A RankRow is what a rank tells of itself. Times are those of the clock of its host.
type RankRow struct {
	Joined  time.Time `json:"j"`           // when it joined the job
	Beat    time.Time `json:"b"`           // when it was written
	Moved   time.Time `json:"m"`           // when the counts were last seen to change
	Closed  bool      `json:"c,omitempty"` // the rank has left the job
	Counts  Counts    `json:"n"`
	Waits   []Wait    `json:"w,omitempty"` // those that have lasted, the oldest first
	Further int       `json:"f,omitempty"` // waits for which there was no room
}

// A Wait is a call that waits, and has done so for a while.
type Wait struct {
	Call   string    `json:"c"`           // as the program has written it, such as "Segment.WaitSome"
	Detail string    `json:"d,omitempty"` // such as "notifications 3-5 of segment 0"
	Place  string    `json:"p,omitempty"` // file and line of the caller
	Since  time.Time `json:"s"`
	// Until is when it ended; zero if it lasts. It is told a moment longer, as another one may go on for it.
	Until time.Time `json:"u,omitzero"`

	// Group names the group whose collective call it is, so that calls of one group can be compared;
	// empty for calls of this rank alone.
	Group string `json:"g,omitempty"`
	// From are the ranks that can end the wait, at most MaxFrom of them; More is how many there are
	// beyond.
	From []base.Rank `json:"f,omitempty"`
	More int         `json:"m,omitempty"`
	// Any says that one of From is enough; else all are needed.
	Any bool `json:"a,omitempty"`
}

// Counts only grow, but for Clock.
type Counts struct {
	Writes        uint64        `json:"w,omitempty"`
	BytesWritten  uint64        `json:"x,omitempty"`
	Reads         uint64        `json:"r,omitempty"`
	BytesRead     uint64        `json:"s,omitempty"`
	Notifications uint64        `json:"n,omitempty"` // issued without data
	QueueWaits    uint64        `json:"q,omitempty"`
	QueueFull     uint64        `json:"u,omitempty"` // posts that were not issued
	Barriers      uint64        `json:"b,omitempty"`
	AllReduces    uint64        `json:"a,omitempty"`
	Atomics       uint64        `json:"t,omitempty"`
	Messages      uint64        `json:"p,omitempty"` // passive ones, sent and received
	Waited        time.Duration `json:"d,omitempty"` // for notifications, and in barriers and small reductions

	Clock uint64 `json:"k,omitempty"` // of the stale-synchronous reduction that has made most calls of those that are open
}

// Limits of a row.
const (
	RowSize  = 8192 // bytes of a row in the file
	MaxWaits = 4
	MaxFrom  = 64

	maxText = 256        // bytes of Call, Detail, Place and Group
	magic   = 0x31575247 // "GRW1"
)

// ErrNone says that no rank has written a row, and ErrTorn that one was being written.
var (
	ErrNone = errors.New("no row was written")
	ErrTorn = errors.New("the row was being written")
)

// Append appends the row to b in the form of the file, which is that of Seal, and returns the result; the
// text is JSON. It cuts what has no room: waits beyond MaxWaits, ranks beyond MaxFrom, and texts.
func (r RankRow) Append(b []byte) []byte {
	text, err := json.Marshal(r.cut())
	if err != nil || headerSize+len(text) > RowSize {
		panic(fmt.Sprintf("status: row of %d bytes: %v", len(text), err)) // cut bounds every part
	}
	return Seal(b, magic, text)
}

// cut returns the row as far as there is room for it. It shares nothing that it changes.
func (r RankRow) cut() RankRow {
	if over := len(r.Waits) - MaxWaits; over > 0 {
		r.Waits, r.Further = r.Waits[:MaxWaits], r.Further+over
	}
	waits := make([]Wait, len(r.Waits))
	for i, w := range r.Waits {
		if over := len(w.From) - MaxFrom; over > 0 {
			w.From, w.More = w.From[:MaxFrom], w.More+over
		}
		w.Call, w.Detail, w.Place, w.Group = shorten(w.Call), shorten(w.Detail), shorten(w.Place), shorten(w.Group)
		waits[i] = w
	}
	r.Waits = waits
	return r
}

// shorten returns the beginning of a text, as printable ASCII, which JSON takes as it is.
func shorten(s string) string {
	b := make([]byte, 0, min(len(s), maxText))
	for _, c := range s {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			c = '?'
		}
		if len(b) == maxText {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}

// Parse reads what Append has made, from the beginning of b.
func Parse(b []byte) (RankRow, error) {
	text, err := Unseal(b, magic)
	if err != nil {
		return RankRow{}, err
	}
	var r RankRow
	if err := json.Unmarshal(text, &r); err != nil {
		return RankRow{}, fmt.Errorf("malformed row: %w", err)
	}
	return r, nil
}
