package collectives

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// FirstSlab is how many bytes of scratch a team has from the start.
const FirstSlab = firstSlab

// PretendHosts makes a team take its members for ranks of several hosts: member i is
// on host nodes[i].
func PretendHosts(t *Team, nodes []int) {
	t.nodes = nodes
	t.chooser = choice.Chooser{Machine: t.chooser.Machine, Forced: t.chooser.Forced, Hosts: t.chooser.Hosts}
}

// SetPatience is how long a team waits before it looks for the reason. On a busy machine some waits
// take long, and the look allocates.
func SetPatience(t *Team, patience time.Duration) { t.member.Patience = patience }

// TellSleep returns a function that says for whom the team sleeps, whenever that has changed, as gaspi-run is
// told. It is called while all goroutines of the team sleep.
func TellSleep(t *Team) (from func() (ranks []gaspi.Rank, changed bool)) {
	var w longWait
	return func() (ranks []gaspi.Rank, changed bool) {
		w.told(t, func(l gaspi.LongWait) (ended func()) {
			ranks, changed = l.From, true
			return func() {}
		})
		return ranks, changed
	}
}

// Force is Config.Algorithms of a team that is there.
func Force(t *Team, text string) error {
	forced, err := choice.ParseForced(text)
	if err == nil {
		old := &t.chooser
		t.chooser = choice.Chooser{Machine: old.Machine, Forced: forced, Hosts: old.Hosts, OneNode: old.OneNode}
	}
	return err
}

// Outline is how a member would do a task that no plan serves: all that has to be alike
// on the members before one of them claims memory or sends anything.
func Outline(t *Team, task Task) string {
	if err := task.err; err != nil {
		return err.Error()
	}
	t.limit(&task)
	if err := task.check(t); err != nil {
		return err.Error()
	}
	k := task.key(t)
	p := t.draft(&task, k)
	var err error
	if p.variant, err = t.chooser.Choose(&p.call); err != nil {
		return err.Error()
	}
	p.call.Radix = p.variant.Radix
	s := schedule.Build(&p.call.Call, t.me, p.variant.Emitter())
	depth := t.depth(s, p.task.elem.Size)
	p.bid = t.arena.Bid(executor.Notifications(s, depth), executor.Room(s, p.task.elem.Size, depth))
	p.text = p.wording()
	return fmt.Sprintf("%v by %v: plain %v, in %v, out %v, %d elements of scratch and %d of flip, %+v, signature %x",
		p.text, p.variant, p.plain(), k.in, k.out, s.Scratch, s.Flip, p.bid, p.signature())
}

// Ahead returns how many runs ahead a plan for a task lets a sender be, or 0 if there is no plan.
func Ahead(t *Team, task Task) int {
	p := t.draft(&task, task.key(t))
	var err error
	if p.variant, err = t.chooser.Choose(&p.call); err != nil {
		return 0
	}
	b, err := p.binding()
	if err != nil {
		return 0
	}
	return b.Depth.Copies
}

// Names returns the names of all ways to do a task that its options allow and that Explain
// prints, without their prices, and the name of the chosen one if it is the only one.
func Names(t *Team, task Task) ([]string, error) {
	if task.err != nil {
		return nil, task.err
	}
	t.limit(&task)
	if err := task.check(t); err != nil {
		return nil, err
	}
	p := t.draft(&task, task.key(t))
	var names []string
	for _, want := range []choice.Settings{t.chooser.Wanted(&p.call), {}} {
		for _, v := range t.chooser.Candidates(&p.call, want) {
			names = append(names, v.String())
		}
		if len(names) == 1 {
			break
		}
	}
	return names, nil
}

// Begun returns how many operations a bucket has begun. No vector is under way.
func Begun[T Element](b *Bucket[T]) int { return b.begun }
