package collectives

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// stallCheck is how long a sleep lasts before its reason is looked for, and up to twice as long, in a
// team of up to stallMembers; in larger ones it lasts longer in proportion, because the look
// is a message to everybody, over a connection that may have to be made for it.
const (
	stallCheck   = 250 * time.Millisecond
	stallMembers = 16
)

func stallAfter(members int) time.Duration {
	return stallCheck * time.Duration(max(stallMembers, members)) / stallMembers
}

// stalled looks for a reason why nothing goes on, and returns it. It blocks where the queue
// is full, until earlier messages have left it.
func (t *Team) stalled(ctx context.Context) error {
	if err := cmp.Or(t.members.Missing(), t.absent(), t.failedPost(), t.verdict()); err != nil {
		return err
	}
	return t.contrast(ctx)
}

// cut is called after a wait that was over before the patience of the team. When such waits, of calls that are made again
// and again, have found nothing to do for that long, it looks for a reason, and returns it.
func (t *Team) cut(look func(context.Context) error) error {
	now := time.Now()
	switch {
	case t.idle.IsZero():
		t.idle = now
	case now.Sub(t.idle) >= t.member.Patience:
		t.idle = now
		if err := look(t.member.NapOf(context.Background(), tryMost)); !nap.Ended(err) {
			return err
		}
	}
	return nil
}

// tryMost is how long cut may wait for room in the queue.
const tryMost = time.Millisecond

// failedPost returns why a post of this member failed, or nil if none has or some are under way.
// Members that wait for that post would wait for ever.
func (t *Team) failedPost() error {
	if err := t.queue.Wait(endedContext); !nap.Ended(err) {
		return t.member.Unneeded(err)
	}
	return nil
}

// endedContext makes a call return at once.
var endedContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// contrast tells all members which calls this one has made, and returns the error of two calls
// that do not match, if it finds any. It blocks where the queue is full.
func (t *Team) contrast(ctx context.Context) error {
	if err := t.mail.Publish(ctx, t.ops.notes()); err != nil {
		return err
	}
	return t.differing(ctx)
}

// differing is contrast without telling others.
func (t *Team) differing(ctx context.Context) error {
	a, b, differ, err := t.mail.Compare(ctx, t.ops.notes())
	if err != nil {
		return err
	}
	if !differ {
		a, b, differ = t.outrun()
	}
	if !differ {
		return nil
	}
	return t.condemn(ctx, a, b)
}

// outrun returns a call that this member is in, and a note of another one that has ended its call of
// that number although this one's cannot end without it. It is so far ahead, since it needs nothing of
// this one, that the two have no call in common that they tell of.
func (t *Team) outrun() (a, b agreement.Note, differ bool) {
	if n := t.ops.meeting; n != nil {
		for member := range t.ranks {
			// Each member that has ended the meeting has ended one more than this one.
			if later, ok := t.mail.Passed(member, n.Call); ok && later.Meetings <= t.ops.met {
				return *n, another(n.Call, later), true
			}
		}
	}
	for _, r := range t.ops.active {
		if later, ok := t.passed(r); ok {
			return r.p.note(r.call), another(r.call, later), true
		}
	}
	return a, b, false
}

// passed returns a note of a member that a run waits for although it has ended its call of that number.
// For whom a run waits is asked once, and only if somebody has.
func (t *Team) passed(r *run) (later agreement.Note, ok bool) {
	for member := range t.ranks {
		if _, ok = t.mail.Passed(member, r.call); ok {
			break
		}
	}
	if !ok {
		return later, false
	}
	for _, member := range r.awaited() {
		if later, ok := t.mail.Passed(member, r.call); ok {
			return later, true
		}
	}
	return later, false
}

// mismatchRows is how often a member tells the others its calls, to find out which two do not
// match. All know that some do.
const mismatchRows = 8

// mismatch returns the error of a meeting, or of an agreement, in which members were in different
// calls. It names two of them, unless ctx ends first; then it is unnamed.
func (t *Team) mismatch(ctx context.Context, unnamed error) error {
	for range mismatchRows {
		err := t.stalled(ctx)
		for range t.ranks { // each tells its calls about once meanwhile
			if err != nil || t.control.WaitFunc(t.member.Nap(ctx), t.mail.Pending) != nil {
				break
			}
			if err = t.verdict(); err == nil {
				err = t.differing(ctx)
			}
		}
		switch {
		case err != nil && !nap.Ended(err):
			return err
		case ctx.Err() != nil:
			return unnamed
		}
	}
	return unnamed
}

// strayed returns the error of a run in which something arrived that its sender has sent in another
// call: before that, the two members have not made the same calls.
func (t *Team) strayed(ctx context.Context, r *run, stray *executor.StrayError) error {
	sender := t.me
	if from := r.posters([]int32{stray.Slot}); len(from) > 0 {
		sender = from[0]
	}
	ahead := uint64(stray.Call-uint32(r.call)) & (1<<31 - 1)
	if ahead < 1<<30 { // the sender has made more calls
		later := agreement.Note{Call: r.call + ahead, Member: sender, Text: r.p.text}
		return t.condemn(ctx, r.p.note(r.call), another(r.call, later))
	}
	theirs := r.p.note(r.call - (1<<31 - ahead))
	theirs.Member = sender
	mine := another(theirs.Call, r.p.note(r.call))
	for _, n := range t.ops.notes() {
		if n.Call == theirs.Call {
			mine = n
		}
	}
	return t.condemn(ctx, mine, theirs)
}

// follow compares the calls of members that have ended some without hearing of each other, and
// returns the error of the first that do not match.
func (t *Team) follow(ctx context.Context) error {
	f, differ, err := t.ops.trail.Follow(ctx, t.mail)
	if err != nil || !differ {
		return err
	}
	mine, theirs := t.signed(f.Mine), t.signed(f.Theirs)
	if f.Mine == f.Theirs {
		theirs = "the same after other calls"
	}
	return t.condemn(ctx, agreement.Note{Call: f.Call, Member: t.me, Text: mine}, agreement.Note{Call: f.Call, Member: f.Member, Text: theirs})
}

// matches is follow that reports whether nothing was found nor stood against it. The next follow finds that again.
func (t *Team) matches(ctx context.Context) bool {
	_, differ, err := t.ops.trail.Follow(ctx, t.mail)
	return err == nil && !differ
}

// signed returns the text of the plan of a sign in a trail. Calls of new plans are agreed on, so that
// all members have those of calls that may differ unnoticed.
func (t *Team) signed(sign uint32) string {
	for _, p := range t.plans.byKey {
		if agreement.Sign(p.sign) == sign {
			return p.text
		}
	}
	return "another call"
}

// apart returns the error of an agreement in which members are in calls of different numbers, which
// err says: some have ended an earlier one alone that others did not make. All members learn of it in
// the agreement, and tell each other which.
func (t *Team) apart(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), mismatchRows*stallCheck)
	defer cancel()
	return t.mismatch(ctx, err)
}

// another returns a note of a call of which nothing is known but that it is not that of others, from
// one of a later call of its member.
func another(call uint64, later agreement.Note) agreement.Note {
	text := fmt.Sprintf("another call, after which call %d was %s,", later.Call+1, later.Text)
	return agreement.Note{Call: call, Member: later.Member, Text: text}
}

// condemn tells all members which two calls differ, and returns the error that says so.
func (t *Team) condemn(ctx context.Context, a, b agreement.Note) error {
	a, b, err := t.mail.Condemn(ctx, a, b)
	if err != nil {
		return err
	}
	return t.why(a, b)
}

// why returns the error of a verdict, or nil if it names a member as having left and this rank
// does not know of that yet, or is in a call before the one that cannot be completed.
func (t *Team) why(a, b agreement.Note) error {
	if a.Text != hasLeft {
		return t.mail.Mismatch(a, b)
	}
	if t.ops.first() < a.Call {
		return nil
	}
	if f := t.proc.Failure(gaspi.Rank(t.mail.RankOf(a.Member))); f != nil {
		return f
	}
	return nil
}

// verdict returns the error that another member found, or nil.
func (t *Team) verdict() error {
	for a, b := range t.mail.Verdicts() {
		if err := t.why(a, b); err != nil {
			return err
		}
	}
	return nil
}

// absent returns the error of a member that left normally although an operation under way
// waits for it, or nil. Everything that such a member sent has arrived.
func (t *Team) absent() error {
	left := t.members.Left()
	if len(left) == 0 {
		return nil
	}
	for _, r := range t.ops.active {
		for _, i := range r.awaited() {
			if slices.Contains(left, i) {
				return t.proc.Failure(t.ranks[i])
			}
		}
	}
	return nil
}

// tellOfLeaver tells all members that r has left and that this member needed it, so that
// those that wait for this member end too. A member whose queue stays full hears of it when
// this one leaves. It names the first call that this member does not complete: others
// complete the calls before it.
func (t *Team) tellOfLeaver(r gaspi.Rank) {
	n := agreement.Note{Call: t.ops.first(), Member: slices.Index(t.ranks, r), Text: hasLeft}
	_ = t.condemn(t.member.NapOf(context.Background(), stallCheck), n, n) // the caller returns the reason
}

// hasLeft is the text of a note about a member that left. No call has it.
const hasLeft = "-"

// A resumed context is that of a call that goes on where others left off, of which the first began then.
type resumed interface{ Began() time.Time }

// A longWait is a sleep of a team of which gaspi.Proc.TellWait was called once it had lasted, and again
// when it was for others.
type longWait struct {
	ended func()
	since time.Time
	run   *run // what was told of, in a state, which waited for slots
	state runState
	slots []int32
}

// told tells of the first operation under way by tell, unless that was done and it still waits for the same
// posts. It is cheap then: the members that post are known from the schedules of all.
func (w *longWait) told(t *Team, tell func(gaspi.LongWait) (ended func())) {
	if len(t.ops.active) == 0 {
		return
	}
	r := t.ops.active[0]
	slots := r.awaitedSlots()
	if w.ended != nil && w.run == r && w.state == r.state && slices.Equal(w.slots, slots) {
		return
	}
	if w.since.IsZero() {
		w.since = time.Now().Add(-t.member.Patience)
	}
	w.run, w.state, w.slots = r, r.state, slots
	var from []gaspi.Rank
	for _, member := range r.awaited() {
		from = append(from, t.ranks[member])
	}
	ended := tell(gaspi.LongWait{
		Call: r.p.task.String(), Detail: r.place(), Since: w.since,
		From: from, Group: t.own, Inside: t.control,
	})
	w.end()
	w.ended = ended
}

func (w *longWait) end() {
	if w.ended != nil {
		w.ended()
	}
}

// place says which operation this is and how far it is.
func (r *run) place() string {
	if r.state == ended {
		return fmt.Sprintf("call %d of the team", r.call+1)
	}
	done, all := r.exec.Steps()
	return fmt.Sprintf("call %d of the team, %v, step %d of %d", r.call+1, r.p.variant, done, all)
}

// waitingFor returns a text that names the ranks a run waits for.
func (r *run) waitingFor() string {
	if r.state == queued {
		return "an earlier operation of the team"
	}
	var names []string
	for _, i := range r.awaited() {
		names = append(names, fmt.Sprintf("rank %d", r.p.t.ranks[i]))
	}
	if r.state == agreeing {
		names = append(names, "to agree on the call")
	}
	return strings.Join(names, ", ")
}

// awaited returns the members that the run waits for.
func (r *run) awaited() []int {
	t := r.p.t
	switch r.state {
	case queued:
		return nil
	case agreeing:
		if r.agree.Arrived(t.mail) {
			return nil
		}
		return []int{r.agree.Awaited(t.mail)}
	}
	return r.writers()
}

// writers returns the members whose posts the run waits for.
func (r *run) writers() []int {
	return r.posters(r.exec.Awaited())
}

// posters returns the other members that post any of those slots at this one.
func (r *run) posters(slots []int32) []int {
	p := r.p
	return schedule.Posters(&p.call.Call, p.t.me, slots, p.variant.Emitter())
}

// awaitedSlots returns what tells apart for whom the run waits: slots, or the member that it agrees with.
func (r *run) awaitedSlots() []int32 {
	switch r.state {
	case queued:
		return nil
	case agreeing:
		return []int32{int32(r.agree.Awaited(r.p.t.mail))}
	}
	return r.exec.Awaited()
}
