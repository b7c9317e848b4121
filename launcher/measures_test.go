package launcher

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A knownTimes measures nothing of process 1, and these times of all others.
type knownTimes KernelTimes

func (k knownTimes) Add(int) error { return nil }

func (k knownTimes) Read(pid int) (KernelTimes, error) {
	if pid == 1 {
		return KernelTimes{}, nil
	}
	return KernelTimes(k), nil
}

func (k knownTimes) Close() {}

// Goal: what an agent sends of a prober is all that the prober has measured.
func TestTimesOfProberAreSent(t *testing.T) {
	want := KernelTimes{Run: []uint64{1, 2}, Wake: []uint64{3}, Resent: 4, Resends: []Resend{{At: time.Unix(5, 6).UTC(), Port: 7}}}
	p := hostProber{knownTimes(want)}
	if sent, err := p.Read(1); sent != nil || err != nil {
		t.Errorf("%q of a process without times: %v", sent, err)
	}
	sent, err := p.Read(2)
	if err != nil {
		t.Fatal(err)
	}
	var got KernelTimes
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
