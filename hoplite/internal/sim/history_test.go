package sim

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// An object, to its users: nothing, something that has a value, or something that is lost.
// A Get that has a value found that value; one that was told of a loss or a deletion says
// nothing about values. A Put or a Reduce that was refused met an object.
type object struct {
	there   bool
	value   string
	passing bool // the target of a Reduce that came to nothing: it may be gone at any moment
}

// model is one object of the store. From the first death on, any object may be gone at any
// moment; death is -1 if there is none.
func model(death int) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: byID,
		Init:      func() []any { return []any{object{}} },
		Step: func(state, input, output any) []any {
			s, op := state.(object), output.(Operation)
			next := step(s, op)
			if s.passing {
				next = append(next, step(object{}, op)...)
			}
			if death >= 0 && (op.End == 0 || op.End >= int64(death)) {
				next = append(next, object{})
			}
			return next
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

func byID(history []porcupine.Operation) [][]porcupine.Operation {
	byID := map[string][]porcupine.Operation{}
	for _, op := range history {
		id := op.Input.(Operation).ID
		byID[id] = append(byID[id], op)
	}
	var parts [][]porcupine.Operation
	for _, id := range sortedKeys(byID) {
		parts = append(parts, byID[id])
	}
	return parts
}

// unknown is the value of a target whose reduction never told: the first Get tells it.
const unknown = "?"

func step(s object, op Operation) []any {
	open := op.End == 0 || op.Code == core.Canceled || op.Code == core.Deleted
	switch op.Verb {
	case Put, Reduce:
		switch {
		case op.Verb == Reduce && (open || op.Code != core.OK):
			if s.there {
				return []any{s}
			}
			return []any{s, object{true, unknown, true}}
		case open && !s.there:
			return []any{s, object{there: true, value: op.Value}} // it may yet happen, or never
		case open:
			return []any{s}
		case op.Code == core.OK && !s.there:
			return []any{object{there: true, value: op.Value}}
		case op.Code == core.OK && op.Verb == Put && (s.value == op.Value || s.value == unknown):
			return []any{object{there: true, value: op.Value}}
		case op.Code == core.OK:
			return nil
		case op.Code == core.Exists && !s.there && op.Verb == Put && !op.mayBeTarget():
			return nil
		}
		return []any{s}
	case Delete:
		if op.End == 0 || op.Code != core.OK {
			return []any{s, object{}}
		}
		return []any{object{}}
	case Get:
		switch {
		case op.End == 0 || op.Code != core.OK || s.there && s.value == op.Value:
			return []any{s}
		case s.there && s.value == unknown:
			return []any{object{true, op.Value, s.passing}}
		}
		return nil
	}
	return []any{s}
}

// mayBeTarget reports whether reductions make this object: one may have begun to, and then
// have given it up, while the call was open.
func (o Operation) mayBeTarget() bool { return len(o.ID) > 1 }

// linearizable checks the history of an exploration.
func linearizable(r Exploration) porcupine.CheckResult {
	var history []porcupine.Operation
	last := int64(r.Steps) + 10
	for _, op := range r.History {
		end := op.End
		if end == 0 || op.Code == core.Canceled {
			end = last // a Put or a Delete goes on
		}
		history = append(history, porcupine.Operation{ClientId: op.Client, Input: op, Output: op, Call: op.Begin * 2, Return: end*2 + 1})
	}
	death := -1
	if r.Deaths > 0 {
		death = r.FirstDeath
	}
	return porcupine.CheckOperationsTimeout(model(death), history, 5*time.Second)
}

// TestHistories checks that the calls of explorations could have happened one after the
// other: each at a moment between its beginning and its end.
func TestHistories(t *testing.T) {
	checked, calls := 0, 0
	for s := range *histories {
		r, err := Explore(ExplorationOptions{Seed: s + 1, History: true})
		if err != nil {
			t.Fatal(err)
		}
		switch linearizable(r) {
		case porcupine.Illegal:
			for _, op := range r.History {
				t.Logf("%d-%d client %d of rank %d: %s %s %.8x", op.Begin, op.End, op.Client, op.Rank, op, op.Code, op.Value)
			}
			t.Fatalf("seed %d, with %d deaths: the calls could not have happened in any order", s+1, r.Deaths)
		case porcupine.Ok:
			checked++
			calls += len(r.History)
		}
	}
	t.Logf("%d histories of %d calls", checked, calls)
	if uint64(checked) < *histories*3/4 {
		t.Errorf("only %d histories could be checked", checked)
	}
}

// TestModelRefuses feeds the model histories that must not pass.
func TestModelRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []Operation
	}{
		{"a value that nobody put", []Operation{
			{Verb: Put, ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: Get, ID: "a", Begin: 3, End: 4, Value: "y"}}},
		{"found after it was deleted", []Operation{
			{Verb: Put, ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: Delete, ID: "a", Begin: 3, End: 4},
			{Verb: Get, ID: "a", Begin: 5, End: 6, Value: "x"}}},
		{"found before it was put", []Operation{
			{Verb: Get, ID: "a", Begin: 1, End: 2, Value: "x"}, {Verb: Put, ID: "a", Begin: 3, End: 4, Value: "x"}}},
		{"refused though nothing is there", []Operation{{Verb: Put, ID: "a", Begin: 1, End: 2, Code: core.Exists, Value: "x"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var history []porcupine.Operation
			for i, op := range c.ops {
				history = append(history, porcupine.Operation{ClientId: i, Input: op, Output: op, Call: op.Begin * 2, Return: op.End * 2})
			}
			if porcupine.CheckOperations(model(-1), history) {
				t.Error("accepted")
			}
		})
	}
}
