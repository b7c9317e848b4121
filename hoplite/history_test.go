package hoplite_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gaspi-go/gaspi-go/hoplite"
)

// An operation is a call of a client. Times are nanoseconds since 1970, by the clock that
// all processes of a host share.
type operation struct {
	Number     int
	Client     int
	Verb       string
	ID         string
	Value      string // what was put or got; unknown if the caller was not told
	Begin, End int64  // End is 0 while it has not ended
	Code       string // "" if it did what it says
}

// A recorder writes operations to a file as they begin and end, so that the file is
// there when the process is not.
type recorder struct {
	mu   sync.Mutex
	file *os.File // guarded by mu
	last int      // guarded by mu
}

func newRecorder(dir string, rank int) (*recorder, error) {
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("history-%d", rank)))
	return &recorder{file: f}, err
}

func (r *recorder) close() { r.file.Close() }

func (r *recorder) write(op operation) {
	text, err := json.Marshal(op)
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

// begin records that op begins, and returns what records its end.
func (r *recorder) begin(op operation) func(value string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	op.Number, op.Begin = r.last, time.Now().UnixNano()
	r.write(op)
	return func(value string, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		op.End = time.Now().UnixNano()
		op.Code = codeOf(err)
		if err == nil && value != "" {
			op.Value = value
		}
		r.write(op)
	}
}

func codeOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, hoplite.ErrExists):
		return "exists"
	case errors.Is(err, hoplite.ErrFull):
		return "full"
	}
	return "other"
}

// unknown is the value of a sum whose caller did not look: the first Get tells it.
const unknown = "?"

// A state is an object to its users: nothing, or something that has a value.
type state struct {
	there bool
	value string
}

// steps are the states that an operation may lead to. A death may take any object away at
// any moment, so each of them may also be followed by nothing.
func steps(s state, op operation) []any {
	next := step(s, op)
	if len(next) > 0 {
		next = append(next, state{})
	}
	return next
}

func step(s state, op operation) []any {
	open := op.End == 0 || op.Code == "other"
	switch op.Verb {
	case "put", "reduce":
		value := op.Value
		if op.Verb == "reduce" {
			value = unknown
		}
		switch {
		case op.Code == "full":
			return []any{s}
		case open && op.Verb == "reduce":
			return []any{s, state{true, unknown}, state{}} // its target may have been there for a while
		case open && !s.there:
			return []any{s, state{true, value}} // it may yet happen, or never
		case open:
			return []any{s}
		case op.Code == "exists":
			if s.there || op.Verb == "reduce" {
				return []any{s} // a target may be refused because of another that was then given up
			}
			return nil
		case !s.there || op.Verb == "put" && s.value == value:
			return []any{state{true, value}}
		}
		return nil
	case "delete":
		if open {
			return []any{s, state{}}
		}
		return []any{state{}}
	case "get":
		switch {
		case open || op.Code != "" || s.there && s.value == op.Value:
			return []any{s}
		case s.there && s.value == unknown:
			return []any{state{true, op.Value}}
		}
		return nil
	}
	panic("no verb " + op.Verb)
}

func historyModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: partByID,
		Init:      func() []any { return []any{state{}} },
		Step:      func(s, _, out any) []any { return steps(s.(state), out.(operation)) },
		Equal:     func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

// partByID is the histories of the objects, each on its own.
func partByID(history []porcupine.Operation) [][]porcupine.Operation {
	byID := map[string][]porcupine.Operation{}
	for _, op := range history {
		id := op.Input.(operation).ID
		byID[id] = append(byID[id], op)
	}
	var parts [][]porcupine.Operation
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		parts = append(parts, byID[id])
	}
	return parts
}

const (
	unknownResult = porcupine.Unknown
	impossible    = porcupine.Illegal
)

// checkHistories checks what the ranks have recorded, and says how many calls it is.
func checkHistories(t *testing.T, dir string) (porcupine.CheckResult, int) {
	t.Helper()
	ops := readHistories(t, dir)
	last := int64(0)
	for _, op := range ops {
		last = max(last, op.Begin, op.End)
	}
	var history []porcupine.Operation
	for _, op := range ops {
		end := cmp.Or(op.End, last+1)
		if op.Code == "other" && op.Verb != "get" {
			end = last + 1 // what was canceled may go on
		}
		history = append(history, porcupine.Operation{ClientId: op.Client, Input: op, Output: op, Call: op.Begin, Return: end})
	}
	result := porcupine.CheckOperationsTimeout(historyModel(), history, 5*time.Second)
	if result == impossible {
		logImpossible(t, history)
	}
	return result, len(ops)
}

// logImpossible prints the calls on objects that could not have happened in any order.
func logImpossible(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	for _, part := range partByID(history) {
		if porcupine.CheckOperationsTimeout(historyModel(), part, 5*time.Second) != impossible {
			continue
		}
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
		for _, op := range part {
			o := op.Input.(operation)
			t.Logf("%d to %d: client %d %s %s: %q %s", op.Call-part[0].Call, op.Return-part[0].Call, o.Client, o.Verb, o.ID, o.Code, o.Value)
		}
	}
}

// readHistories is all operations, of each only the last line. A line that a killed process has
// not finished writing is left out.
func readHistories(t *testing.T, dir string) []operation {
	t.Helper()
	type key struct{ client, number int }
	byKey := map[key]operation{}
	for r := range mortalRanks {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("history-%d", r)))
		if err != nil {
			continue // it died before its first call
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			var op operation
			if json.Unmarshal(lines.Bytes(), &op) == nil {
				byKey[key{r, op.Number}] = op
			}
		}
		f.Close()
	}
	return slices.Collect(maps.Values(byKey))
}

// TestHistoryModelRefuses feeds the model what must not pass.
func TestHistoryModelRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []operation
	}{
		{"a value that nobody put", []operation{{Verb: "put", ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: "get", ID: "a", Begin: 3, End: 4, Value: "y"}}},
		{"found after it was deleted", []operation{
			{Verb: "put", ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: "delete", ID: "a", Begin: 3, End: 4},
			{Verb: "get", ID: "a", Begin: 5, End: 6, Value: "x"},
		}},
		{"found before it was put", []operation{{Verb: "get", ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: "put", ID: "a", Begin: 3, End: 4, Value: "x"}}},
		{"refused though nothing is there", []operation{{Verb: "put", ID: "a", Begin: 1, End: 2, Code: "exists", Value: "x"}}},
		{"two values of one sum", []operation{
			{Verb: "reduce", ID: "a", Begin: 1, End: 2, Value: unknown}, {Verb: "get", ID: "a", Begin: 3, End: 4, Value: "x"},
			{Verb: "get", ID: "a", Begin: 5, End: 6, Value: "y"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var history []porcupine.Operation
			for i, op := range c.ops {
				history = append(history, porcupine.Operation{ClientId: i, Input: op, Output: op, Call: op.Begin, Return: op.End})
			}
			if porcupine.CheckOperations(historyModel(), history) {
				t.Error("accepted")
			}
		})
	}
}
