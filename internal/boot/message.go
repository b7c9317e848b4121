package boot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// protocolVersion is the first thing both sides say. It changes whenever an old
// peer could misunderstand a message.
const protocolVersion = 6

// maxLine bounds a message on the wire, its newline included.
const maxLine = 1 << 20

// maxReason bounds the text that a message carries.
const maxReason = 1024

// The kinds of messages. A message is one line: a JSON object and a newline.
const (
	kindHello  = "hello"  // both ways, first: version, job, rank, size; to the rank also its credentials, beat, hosted
	kindPut    = "put"    // to the launcher: name, value
	kindGet    = "get"    // to the launcher: rank whose value is wanted, name
	kindFence  = "fence"  // to the launcher: name, word, part
	kindKill   = "kill"   // to the launcher: rank to kill
	kindMiss   = "miss"   // to the launcher: rank that this one cannot reach any more, reason
	kindBye    = "bye"    // to the launcher, last
	kindValue  = "value"  // to the rank: rank, name, value: the answer to get
	kindNever  = "never"  // to the rank: rank, name, reason: it is gone, and put no such value
	kindFenced = "fenced" // to the rank: name: all have come; value has their parts, reason says who did not agree, if any
	kindBroken = "broken" // to the rank: the fence name failed because rank is gone, reason
	kindGone   = "gone"   // to the rank: rank and then also others, left, reason
	kindRefuse = "refuse" // to the rank: rank was not killed, reason
	kindDie    = "die"    // to the rank: another one asked for your end
	kindAsk    = "ask"    // to the rank: number, name: what is asked of its process
	kindAnswer = "answer" // to the launcher: number, value; more: another part follows; reason: why there is none
	kindBeat   = "beat"   // both ways, over a network: still here
	kindError  = "error"  // both ways, last: what was wrong with what the other side said
)

// A message is what travels between launcher and rank. Which fields mean
// something depends on the kind; the others are zero.
type message struct {
	Kind    string    `json:"kind"`
	Version int       `json:"version,omitempty"`
	Job     string    `json:"job,omitempty"`
	Rank    base.Rank `json:"rank"`
	Size    int       `json:"size,omitempty"`
	Key     string    `json:"key,omitempty"`
	Beat    int64     `json:"beat,omitempty"`   // how long either side may be silent, in milliseconds; 0 for ever
	Hosted  bool      `json:"hosted,omitempty"` // by rank 0, not by a launcher
	Name    string    `json:"name,omitempty"`
	Value   []byte    `json:"value,omitempty"`
	Word    string    `json:"word,omitempty"`
	Part    string    `json:"part,omitempty"`
	Left    bool      `json:"left,omitempty"`
	Reason  string    `json:"reason,omitempty"`

	Number uint64 `json:"number,omitempty"` // of a question
	More   bool   `json:"more,omitempty"`

	Also []base.Rank `json:"also,omitempty"` // ranks that are gone like Rank and after it, in order
}

// encode returns m as a line, newline included.
func encode(m message) ([]byte, error) {
	m.Reason = trimText(m.Reason)
	if err := m.check(); err != nil {
		return nil, err
	}
	line, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(line)+1 > maxLine {
		return nil, fmt.Errorf("%s message of %d bytes; at most %d fit", m.Kind, len(line)+1, maxLine)
	}
	return append(line, '\n'), nil
}

// decode reads a line without its newline. The message passed check; whether its ranks are
// within the job is for the caller to see.
func decode(line []byte) (message, error) {
	var m message
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return message{}, fmt.Errorf("malformed message %.60q: %w", line, err)
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return message{}, fmt.Errorf("malformed message: %.40q follows the JSON object", rest)
	}
	if err := m.check(); err != nil {
		return message{}, err
	}
	return m, nil
}

// check refuses a message that means nothing, whoever wrote it.
func (m message) check() error {
	if m.Rank < 0 || m.Size < 0 || m.Beat < 0 {
		return fmt.Errorf("%.20q message with a negative number (rank %d, size %d, beat %d)", m.Kind, m.Rank, m.Size, m.Beat)
	}
	if len(m.Reason) > maxReason {
		return fmt.Errorf("%.20q message with a reason of %d bytes; at most %d are allowed", m.Kind, len(m.Reason), maxReason)
	}
	for _, r := range m.Also {
		if r < 0 {
			return fmt.Errorf("%.20q message with a negative rank", m.Kind)
		}
	}
	switch m.Kind {
	case kindHello:
		return m.checkHello()
	case kindPut, kindValue:
		return checkNamed(m.Name, m.Value)
	case kindAsk:
		return checkName(m.Name)
	case kindAnswer:
		return checkNamed(m.Kind, m.Value)
	case kindFence:
		return checkFence(m.Name, m.Word, m.Part)
	case kindFenced:
		return checkNamed(m.Name, m.Value)
	case kindGet, kindNever, kindBroken:
		return checkName(m.Name)
	case kindKill, kindMiss, kindBye, kindGone, kindRefuse, kindDie, kindBeat, kindError:
		return nil
	default:
		return fmt.Errorf("message of unknown kind %.20q", m.Kind)
	}
}

func (m message) checkHello() error {
	if m.Version != protocolVersion {
		return fmt.Errorf("boot protocol version %d; this side speaks version %d: build launcher and program from the same version of the module", m.Version, protocolVersion)
	}
	if err := CheckJob(m.Job); err != nil {
		return err
	}
	if m.Size < 1 || int(m.Rank) >= m.Size {
		return fmt.Errorf("hello from rank %d of a job of %d", m.Rank, m.Size)
	}
	return nil
}

// CheckJob refuses ids that could not be part of a file name or a variable.
func CheckJob(job string) error {
	for _, c := range job {
		ok := c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !ok {
			return fmt.Errorf("job id %.70q has the character %q; expected 1 to 64 letters of ASCII, digits and '-'", job, c)
		}
	}
	if job == "" || len(job) > 64 {
		return fmt.Errorf("job id %.70q has %d characters; expected 1 to 64 letters of ASCII, digits and '-'", job, len(job))
	}
	return nil
}

// trimText makes a text fit for the wire.
func trimText(s string) string {
	if len(s) > maxReason {
		s = s[:maxReason]
	}
	if !utf8.ValidString(s) {
		s = string(bytes.ToValidUTF8([]byte(s), []byte("?")))
		for len(s) > maxReason {
			s = s[:len(s)-1]
		}
	}
	return s
}
