package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-run/internal/live"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// A generatedJob is a job of many ranks that no process runs: its looks are made up, by the number of the look. Rank 2 is
// silent once it is stopped.
type generatedJob struct {
	ranks   int
	looks   atomic.Int64
	stopped atomic.Bool
}

func (g *generatedJob) Job() string { return "generated256" }
func (g *generatedJob) Ranks() int  { return g.ranks }
func (g *generatedJob) Ask(context.Context, launcher.Rank, string) ([]byte, error) {
	return nil, errors.New("no process")
}

func (g *generatedJob) Look() launcher.JobView {
	n := g.looks.Add(1)
	view := launcher.JobView{At: time.Unix(1e9+n, 0), Cause: "rank 3 computes", Details: "RANK"}
	for i := range g.ranks {
		bytes := uint64(n) * uint64(1+i%7) * 1e8
		r := launcher.RankActivity{
			Rank: launcher.Rank(i), Host: fmt.Sprintf("node%02d", i/16), State: "computing", Clock: uint64(100*n) - uint64(i%5),
			Stats: launcher.RankStats{
				Rank: launcher.Rank(i), BytesWritten: bytes, Waited: time.Duration(n*int64(i%10)) * time.Second / 10,
				Peers:       []launcher.PeerStats{{Peer: launcher.Rank((i + 1) % g.ranks), BytesWritten: bytes}, {Peer: launcher.Rank((i + 64) % g.ranks), BytesWritten: bytes / 100}},
				Collectives: []launcher.CollectiveStats{{Operation: "allreduce", Algorithm: "ring x4", Calls: uint64(n), Bytes: bytes, Time: time.Duration(n) * time.Second / 10}},
			},
		}
		switch {
		case i == 2 && g.stopped.Load():
			r.State, r.Since = "silent", 6*time.Second
			view.Cause = "rank 2 tells nothing any more"
		case i%3 == 0:
			r.State, r.Since, r.Call, r.Place, r.From = "in collective", 300*time.Millisecond, "allreduce (sum of 1000 float64), call 7 of the team, ring x4, step 3 of 64", "solver/main.go:81", "3"
		}
		view.Ranks = append(view.Ranks, r)
	}
	return view
}

// TestPageInABrowserOf256Ranks opens the page of 256 ranks, which are generated: no processes run, but the server and its
// page are those of gaspi-run --http. Rank 2 falls silent and is marked, without reloading.
func TestPageInABrowserOf256Ranks(t *testing.T) {
	program := findBrowser(t)
	for _, c := range []struct {
		name  string
		width int
		dark  bool
	}{
		{"256 ranks light", 1280, false},
		{"256 ranks dark", 1280, true},
		{"256 ranks light phone", 390, false},
		{"256 ranks dark phone", 390, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := live.Listen(":0")
			if err != nil {
				t.Fatal(err)
			}
			s, g := live.Serve(at), &generatedJob{ranks: 256}
			defer s.Close()
			s.Show(g)
			b := newBrowser(t, program, s.Address(), c.width, c.dark)
			b.until("document.querySelectorAll('#rows tr').length === 256 && seen.traffic.length >= 6 && seen.pairs.side === 64")
			if b.value("document.getElementById('stall').hidden") != true {
				t.Error("a job that runs is stalled")
			}
			if got := b.value("[0, 4, 255].every(r => document.querySelector(`tr[data-rank='${r}'] .clock`).innerText === String(seen.ranks[r].clock))"); got != true {
				t.Errorf("the clocks of rows: %v", b.value("document.querySelector('#rows').innerText.slice(0, 300)"))
			}
			b.picture(c.name + " running")
			g.stopped.Store(true)
			b.until("document.querySelector('#rows tr.bad')?.dataset.rank === '2' && document.getElementById('cause').innerText === 'rank 2 tells nothing any more'")
			b.fits(c.width, c.dark)
			b.picture(c.name + " stopped")
		})
	}
}
