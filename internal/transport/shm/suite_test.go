//go:build !race

package shm

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// The race detector knows nothing of orders in mapped memory, so this suite runs
// without it; loopback runs the same one with it.
func TestContract(t *testing.T) {
	transporttest.Run(t, ranksOfOneProcess, func(size uint64, notifications uint32) (*segment.Segment, error) {
		return segment.Create(size, notifications, notify.ProcessWait(0, 0))
	})
}

// Whole jobs, with segments, links and peers' segments open, leave no descriptor.
func TestCloseLeavesNoDescriptor(t *testing.T) {
	before := descriptors(t)
	for range 3 {
		t.Run("job", TestContract)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// ranksOfOneProcess makes n ranks that meet in this process; they open each
// other's memory files as processes would.
func ranksOfOneProcess(t *testing.T, n int) []transport.Transport {
	ranks, all := make([]transport.Transport, n), make([]string, n)
	for r := range ranks {
		joined, err := Join(base.Rank(r), n, transporttest.IDs, among(all))
		if err != nil {
			t.Fatal(err)
		}
		ranks[r], all[r] = joined, joined.Address()
	}
	t.Cleanup(func() {
		for _, r := range ranks {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return ranks
}

// Goal: a rank that may open no further file gets that error for the first use of a peer and of a segment, and from Ping; the
// peer is not taken for dead because of it, and is reached when there are descriptors again.
// Method: the limit of the process is 0 for a card that was not opened yet, and again for a segment behind an open card, whose
// memory is mapped, or bound and reached through its owner.
func TestFirstUseWithoutDescriptors(t *testing.T) {
	for name, create := range map[string]func(uint64, uint32) (*segment.Segment, error){
		"mapped": func(size uint64, notifications uint32) (*segment.Segment, error) {
			return segment.Create(size, notifications, notify.ProcessWait(0, 0))
		},
		"bound": func(size uint64, notifications uint32) (*segment.Segment, error) {
			return segment.BindShared(make([]byte, size), notifications, notify.ProcessWait(0, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ranks := ranksOfOneProcess(t, 2)
			link, err := ranks[0].Link(1)
			if err != nil {
				t.Fatal(err)
			}
			for id := range segment.ID(2) {
				s, err := create(64, 4)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if err := errors.Join(ranks[1].Expose(id, s), ranks[1].Grant(id, 0)); err != nil {
					t.Fatal(err)
				}
				for call, do := range map[string]func() error{
					"size": func() error { _, _, err := link.Size(id); return err },
					"notify": func() error {
						return link.Notify(transport.NewQueue(1, 0), transport.Flag{Segment: id, ID: 1, Value: 1})
					},
					"ping": func() error { return link.Ping(t.Context()) },
				} {
					if call == "ping" && id > 0 {
						continue // it holds the process already
					}
					err := withoutDescriptors(t, do)
					if !errors.Is(err, syscall.EMFILE) || errors.Is(err, base.ErrRankDead) || call != "ping" && !strings.Contains(err.Error(), "open /proc/") {
						t.Errorf("%s of segment %d: %v, want the error of the system", call, id, err)
					}
				}
				if size, _, err := link.Size(id); size != 64 || err != nil {
					t.Errorf("segment %d with descriptors again: %d bytes, %v", id, size, err)
				}
				if err := link.Ping(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// withoutDescriptors returns what do returns while the process may open no file.
func withoutDescriptors(t *testing.T, do func() error) error {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	err := do()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	return err
}
