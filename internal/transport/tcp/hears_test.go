package tcp

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A rank is heard from its first connection until it has said that it leaves.
func TestHearsUntilThePeerHasLeft(t *testing.T) {
	ranks := join(t, 2, nil)
	if ranks[0].Hears(1) || ranks[0].Hears(0) || ranks[0].Hears(2) || ranks[0].Hears(-1) {
		t.Error("heard without a connection")
	}
	link, err := ranks[0].Link(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !ranks[0].Hears(1) || !ranks[1].Hears(0) {
		t.Error("not heard although connected")
	}
	if err := ranks[1].Close(); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "a rank that has closed is no longer heard", func() bool { return !ranks[0].Hears(1) })
}
