package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A Trial is a job of processes that a fault comes to: its ranks make a call again and
// again until that, and then each of some others once.
type Trial struct {
	Fault         string
	Calls         []string // names of rows, as Calls returns them
	Hosts, Groups []int    // index is the rank
	Victim, Other gaspi.Rank
	Shift, Count  int
	Dir           string        // a folder that all ranks see
	Limit         time.Duration // what takes longer hangs
}

// patience is how long package gaspi waits for news of a lost connection.
const patience = time.Second

// Bound is how long after the fault the first call may go on at ranks that lose one that it
// needs, where silence counts as a loss after heartbeat: docs/HOSTS.md has the formula. A row may
// be slower, and a rank may do something else before the call.
func (t *Trial) Bound(heartbeat time.Duration) time.Duration {
	return transport.LossMost(heartbeat) + patience + t.row(t.Calls[0]).later(heartbeat) + mostGap
}

// Faults are those that can come to processes: on one host, or on several.
func Faults(hosts int) []string {
	if hosts == 1 {
		return []string{string(killed), string(stopped), string(late)}
	}
	return []string{string(killed), string(stopped), string(host), string(link), string(oneWay), string(launcher)}
}

// Calls are the names of the rows that make sense with a fault, between processes. Stores
// that lose each other end each other's ranks, which would be a fault for other rows.
func Calls(fault string) []string {
	var names []string
	for _, x := range rows() {
		kept := x.faults == nil || slices.Contains(x.faults, faultKind(fault))
		if cut := fault == string(link) || fault == string(oneWay); kept && !(cut && strings.HasPrefix(x.call, "hoplite.")) && x.call != "gaspi.Proc.Kill" {
			names = append(names, x.String())
		}
	}
	return names
}

func (t *Trial) job() *job {
	return &job{fault: faultKind(t.Fault), hosts: t.Hosts, victim: t.Victim, other: t.Other}
}

// Reports says whether rank r says how its calls end before others leave because of
// theirs, and whether it does so at all.
func (t *Trial) Reports(r gaspi.Rank) (first, ever bool) {
	j, x := t.job(), t.row(t.Calls[0])
	switch j.verdict(r, t.needs(x)) {
	case either:
		return false, false
	case fails:
		lost := j.lost(r)
		direct := slices.ContainsFunc(t.needs(x)(r), func(o gaspi.Rank) bool { return slices.Contains(lost, o) })
		return direct, true
	}
	return true, true
}

func (t *Trial) row(name string) *row {
	table := rows()
	i := slices.IndexFunc(table, func(x row) bool { return x.String() == name })
	return &table[i]
}

func (t *Trial) needs(x *row) func(r gaspi.Rank) []gaspi.Rank {
	return func(r gaspi.Rank) []gaspi.Rank { return neededBy(x, t.Groups, t.Shift, r) }
}

// A player is a rank of a trial.
type player struct {
	*Trial
	p    *gaspi.Proc
	job  *job
	lost []gaspi.Rank
}

// Play is the life of a rank of a trial. It prints "ready" when the fault may come, a line
// that begins with "cell" for each call that ended as it should, one that begins with
// "wrong" for each that did not, "told" if it is one that reports before others leave, and
// "done" if it reports at all; then it waits for the file "leave", and ends with the error
// of the first call.
func (t *Trial) Play(ctx context.Context, p *gaspi.Proc) error {
	ctx, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	x := &player{Trial: t, p: p, job: t.job()}
	x.lost = x.job.lost(p.Rank())
	members, steps, err := x.prepare(ctx)
	if err != nil {
		return fmt.Errorf("preparation: %w", err)
	}
	fmt.Println("ready")
	err = x.first(ctx, t.row(t.Calls[0]), members[0], steps[0])
	first, ever := t.Reports(p.Rank())
	if first {
		for i := 1; i < len(steps); i++ {
			x.once(ctx, t.row(t.Calls[i]), steps[i])
		}
		fmt.Println("told")
	}
	if ever {
		fmt.Println("done")
	}
	x.await(ctx, func() bool {
		_, err := os.Stat(filepath.Join(t.Dir, "leave"))
		return err == nil
	})
	return err
}

// prepare opens all rows over the group of this rank.
func (x *player) prepare(ctx context.Context) (members []*member, steps []step, err error) {
	for _, r := range x.p.World().Ranks() {
		if err := x.p.Ping(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	var ranks []gaspi.Rank
	for r, g := range x.Groups {
		if g == x.Groups[x.p.Rank()] {
			ranks = append(ranks, gaspi.Rank(r))
		}
	}
	g, err := x.p.NewGroup(ranks...)
	if err == nil {
		err = g.Commit(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	me, _ := g.Rank()
	for i, name := range x.Calls {
		m := &member{
			p: x.p, group: g, id: gaspi.SegmentID(2 * i), me: me, shift: x.Shift, count: x.Count, victim: x.Victim,
			draw: rand.New(rand.NewPCG(uint64(i), uint64(me))),
		}
		do, err := x.row(name).open(ctx, m)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		members, steps = append(members, m), append(steps, do)
	}
	return members, steps, x.p.Barrier(ctx, x.p.World())
}

// first makes a call until the fault has shown, or a few times before and after.
func (x *player) first(ctx context.Context, of *row, m *member, do step) error {
	want := x.job.verdict(x.p.Rank(), x.needs(of))
	const before, afterwards = 3, 2
	for i := 0; ; i++ {
		if i == 0 && x.job.fault == late && x.p.Rank() == x.Victim {
			pause(ctx, x.Limit/12)
		}
		if i == before && want == goesOn {
			x.known(ctx)
		}
		pause(ctx, gapAt(m.draw, i))
		begin := time.Now()
		err := x.call(ctx, of, do, i)
		x.judge(of, want, begin, err)
		if err != nil || of.once || want == goesOn && i == before+afterwards {
			if want != either {
				x.known(ctx)
			}
			return err
		}
	}
}

// call makes a call, and ends one that may wait for ever.
func (x *player) call(ctx context.Context, of *row, do step, i int) error {
	if x.inTheDark(of) {
		limited, cancel := context.WithTimeout(ctx, x.Limit/6)
		defer cancel()
		ctx = limited
	}
	return do(ctx, i)
}

// once makes a call when the loss is known.
func (x *player) once(ctx context.Context, of *row, do step) {
	want := x.job.verdict(x.p.Rank(), x.needs(of))
	if x.inTheDark(of) || want == fails && !x.direct(of) || want == goesOn && !x.meets(of, x.p.Rank()) {
		return // it may wait for what was forgotten, for ranks that leave later, or for some in their first call
	}
	begin := time.Now()
	err := do(ctx, 0)
	if err == nil && want == fails && !of.once {
		for i := 1; err == nil && i < 10; i++ { // what was under way may end some of them well
			err = do(ctx, i)
		}
	}
	x.judge(of, want, begin, err)
	if err == nil && want == fails {
		fmt.Printf("wrong %v: no error, although it needs one of %v\n", of, x.lost)
	}
}

// meets reports whether all whom a call of rank r waits for make it too. Those that say
// nothing before others leave are in their first call until then.
func (t *Trial) meets(of *row, r gaspi.Rank) bool {
	return of.needs != needsTeam && of.needs != needsJob || !slices.ContainsFunc(t.needs(of)(r), func(o gaspi.Rank) bool {
		first, _ := t.Reports(o)
		return !first
	})
}

// inTheDark reports whether a call may wait for ever, since more than one member is lost.
func (x *player) inTheDark(of *row) bool {
	n := 0
	for _, r := range x.lost {
		if x.Groups[r] == x.Groups[x.p.Rank()] {
			n++
		}
	}
	return n > 1 && of.dark
}

func (x *player) direct(of *row) bool {
	return slices.ContainsFunc(x.needs(of)(x.p.Rank()), func(r gaspi.Rank) bool { return slices.Contains(x.lost, r) })
}

// known waits until this rank knows of all its losses.
func (x *player) known(ctx context.Context) {
	begin := time.Now()
	for _, r := range x.lost {
		if !x.await(ctx, func() bool { return x.p.Failure(r) != nil }) {
			fmt.Printf("wrong: rank %d is not known to be lost after %v\n", r, time.Since(begin))
		}
	}
}

func (x *player) await(ctx context.Context, look func() bool) bool {
	for !look() && ctx.Err() == nil {
		pause(ctx, time.Millisecond)
	}
	return look()
}

// judge says how a call has ended, if that is the end of a cell.
func (x *player) judge(of *row, want verdict, begin time.Time, err error) {
	gone, named := errors.AsType[*gaspi.RankError](err)
	took := time.Since(begin).Round(time.Millisecond)
	switch {
	case want == either:
	case err == nil && want == fails:
	case err == nil:
		fmt.Printf("cell %v: no error, after %v\n", of, took)
	case errors.Is(err, context.DeadlineExceeded) && x.inTheDark(of):
		fmt.Printf("cell %v: nothing is known any more, after %v\n", of, took)
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Printf("wrong %v: hangs for %v: %v\n", of, took, err)
	case want == goesOn:
		fmt.Printf("wrong %v: an error of a call that needs nobody who is lost: %v\n", of, err)
	case !errors.Is(err, gaspi.ErrRankDead) || !named && !(errors.Is(err, gaspi.ErrRevoked) && of.told && x.job.lostToSome(x.p.Rank())):
		fmt.Printf("wrong %v: an error that names nobody: %v\n", of, err)
	case !named:
		fmt.Printf("cell %v: this rank is lost to another, after %v\n", of, took)
	case x.direct(of) && !slices.Contains(x.lost, gone.Rank) && !(of.told && gone.Rank != x.p.Rank() && x.job.lostToSome(gone.Rank)):
		fmt.Printf("wrong %v: it names rank %d, lost are %v: %v\n", of, gone.Rank, x.lost, err)
	default:
		fmt.Printf("cell %v: rank %d is lost, after %v\n", of, gone.Rank, took)
	}
}
