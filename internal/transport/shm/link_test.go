package shm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// The files of a rank that was killed are gone before anybody announces its
// death. A rank that needs one for the first time then must get the error that the rank is
// dead, not that a file is missing: before whoever started it has taken note of the end, and after.
func TestFirstUseOfADeadRankNamesIt(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		t.Run(fmt.Sprintf("reaped %t", reaped), func(t *testing.T) { firstUseOfADeadRank(t, reaped) })
	}
}

func firstUseOfADeadRank(t *testing.T, reaped bool) {
	peer := exec.Command("cat") // ends when its input does
	input, err := peer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	wait := sync.OnceFunc(func() { _ = peer.Wait() })
	defer wait()
	card, err := json.Marshal(address{PID: peer.Process.Pid, Card: 3})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Join(0, 2, 4, among([]string{"", string(card)}))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	hold, err := process.Hold(peer.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.CloseFile(hold)
	input.Close()
	for !process.AwaitEnd(hold, 0) {
	}
	if reaped {
		wait()
	}

	link, err := tr.Link(1)
	if err != nil {
		t.Fatal(err)
	}
	err = link.Notify(transport.NewQueue(1, 0), transport.Flag{Segment: 0, ID: 0, Value: 1})
	var dead *base.RankError
	if !errors.As(err, &dead) || dead.Rank != 1 {
		t.Errorf("got %v, want a RankError about rank 1", err)
	}
}

// Goal: the loss of a rank is taken note of at once while an operation waits for whether the process of that rank has ended,
// so that operations with other ranks go on.
// Method: the lock that such an operation holds is held while the transport hears of the loss and makes another link.
func TestLoseWhileTheEndOfARankIsAwaited(t *testing.T) {
	tr, err := Join(0, 3, 4, among(make([]string, 3)))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	link, err := tr.Link(1)
	if err != nil {
		t.Fatal(err)
	}
	l := link.(*peerLink)
	l.mu.Lock()
	defer l.mu.Unlock()
	lost, why := make(chan error), &base.RankError{Rank: 1, Reason: "killed"}
	go func() {
		tr.Lose(why)
		_, err := tr.Link(2)
		lost <- err
	}()
	select {
	case err := <-lost:
		if err != nil || !errors.Is(l.Lost(), why) {
			t.Errorf("%v; rank 1 is gone: %v", err, l.Lost())
		}
	case <-testenv.Context(t).Done():
		t.Error("the loss of rank 1 holds up the transport")
	}
}

// Goal: a card that this rank cannot read leaves no memory mapped, however often it is tried.
// Method: a peer with another configuration; the mappings of cards of this process are counted.
func TestRefusedCardIsNotKept(t *testing.T) {
	peer, err := Join(1, 2, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	before := cardsMapped(t)
	for range 3 {
		if _, err := openCard(os.Getpid(), peer.ownFile, 2, 4); err == nil || !strings.Contains(err.Error(), "the configuration must be the same") {
			t.Errorf("%v, want that the configuration is another one", err)
		}
	}
	if after := cardsMapped(t); after != before {
		t.Errorf("%d cards are mapped, %d before", after, before)
	}
}

// cardsMapped is how many mappings of cards this process has.
func cardsMapped(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), "gaspi-card")
}
