package hoplite

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// dataLanes is how many queues carry transfers to members that share no memory with this
// rank. Members that share one also share the fate of waiting for whichever of them is
// slowest to take what was issued; a queue for each would leave few for the program.
const dataLanes = 8

// Open makes a store over the members of group, which is committed. It is collective over
// them, with the same cfg, and blocks; otherwise all get an error that matches
// gaspi.ErrMismatch. A store takes a segment, with the highest id that is free on all
// members, a group of its own (Config.Groups of package gaspi), and one queue, or up to ten where
// members share no memory.
//
// Calls of other goroutines over group do not disturb it; several may open stores at a time,
// with different tags.
//
// When ctx ends first, and the store has no group yet, the others go on waiting; later, their calls
// of Open end with gaspi.ErrRevoked, or those of the store if they have it, which is closed then. In both cases the
// same call again is right, at this member and at those that got gaspi.ErrRevoked: it goes on with
// the first call, or begins a new one. To give up, revoke group: that ends Open at all members that are still in
// it. After an error of ctx or the loss of a member a group number stays taken.
//
// A process in which GOMAXPROCS is 1 gets a GOMAXPROCS of 2, for the goroutine that serves the other members while the
// program computes or waits for something else. Close does not restore it.
func Open(ctx context.Context, group *gaspi.Group, cfg Config) (*Store, error) {
	me, member := group.Rank()
	if !member {
		return nil, openError(fmt.Errorf("%w: this rank, %d, is not in the group", gaspi.ErrBadRank, group.Proc().Rank()))
	}
	own, err := agree.Provisional(ctx, group, agree.Stores, cfg.Tag)
	if err != nil {
		return nil, openError(err)
	}
	s := &Store{
		group: group, own: own, proc: group.Proc(), me: me,
		ended: make(chan struct{}), released: make(chan struct{}),
		calls: map[core.CallID]*openCall{}, asked: map[asked]int64{}, kernels: map[uint32]kernel{},
		gets: map[string][]*openCall{}, back: make(chan struct{}, 1),
	}
	s.lookFn = s.look
	if err := s.build(ctx, cfg); err != nil {
		agree.GiveUp(own, err)
		_ = s.giveBack() // the error that led here says more
		return nil, openError(err)
	}
	own.RevokeAlone()
	s.start()
	return s, nil
}

// build makes what the store has.
func (s *Store) build(ctx context.Context, cfg Config) error {
	own := s.own
	full, wrong := cfg.complete(s.proc.Config())
	if err := settle(ctx, own, full, wrong); err != nil {
		return err
	}
	s.cfg, s.lay = full, newLayout(own.Size(), full.Slots, full.Inline)
	if err := s.allocate(ctx, own); err != nil {
		return err
	}
	err := agree.Unanimous(ctx, own, s.connect())
	if err == nil && full.Links == (Links{}) {
		s.cfg.Links, err = s.measure(ctx, own)
	}
	return err
}

func openError(err error) error { return &Error{Call: "open", Err: err} }

// settle makes sure that all members pass the same configuration, and that nobody's is
// wrong. Otherwise all get an error, instead of waiting for each other.
func settle(ctx context.Context, g *gaspi.Group, cfg Config, wrong error) error {
	fields := []struct {
		name  string
		value int64
	}{
		{"Capacity", cfg.Capacity}, {"Inline", cfg.Inline}, {"InlineQuota", cfg.InlineQuota}, {"Chunk", cfg.Chunk},
		{"Window", int64(cfg.Window)}, {"Slots", int64(cfg.Slots)}, {"Shape", int64(cfg.Shape)},
		{"Links.Bandwidth", int64(math.Float64bits(cfg.Links.Bandwidth))}, {"Links.Latency", int64(math.Float64bits(cfg.Links.Latency))},
	}
	votes := make([]int64, 1, 1+2*len(fields)) // one for the verdict; of each field the highest and the lowest
	for _, f := range fields {
		votes = append(votes, f.value, ^f.value)
	}
	if err := agree.Verdict(ctx, g, votes, wrong); err != nil {
		return err
	}
	for i, f := range fields {
		if highest, lowest := votes[1+2*i], ^votes[2+2*i]; lowest != highest {
			return fmt.Errorf("%w: Config.%s is not the same at all members", gaspi.ErrMismatch, f.name)
		}
	}
	return nil
}

// allocate makes the queue, and the segment, which all members can reach.
func (s *Store) allocate(ctx context.Context, own *gaspi.Group) (err error) {
	s.queue, err = s.proc.CreateQueue()
	if err := agree.Unanimous(ctx, own, err); err != nil {
		return err
	}
	size := s.lay.objects() + uint64(s.cfg.Capacity)
	s.seg, err = s.proc.CreateSegment(ctx, gaspi.AnySegment, size, gaspi.Over(own), gaspi.WithNotifications(s.lay.ids()), gaspi.Sparse())
	if err != nil {
		return err
	}
	s.mem = s.seg.Bytes()[s.lay.objects():]
	for _, r := range own.Ranks() {
		s.peers = append(s.peers, peer{rank: r, live: true})
	}
	return nil
}

// connect finds out who shares memory with this rank, and makes lanes to the others. The
// members have registered their segments.
func (s *Store) connect() error {
	far := map[int]gaspi.Rank{}
	for i := range s.peers {
		p := &s.peers[i]
		_, mapped := s.seg.Mapped(p.rank, 0, s.lay.objects())
		if p.near = mapped || i == s.me; !p.near {
			far[i] = p.rank
		}
	}
	lanes := 0
	if len(far) > 0 {
		lanes = 1 + min(len(far), dataLanes)
	}
	for range lanes {
		q, err := s.proc.CreateQueue()
		if err != nil {
			return err
		}
		s.lanes = append(s.lanes, newLane(q, far, s.hand))
	}
	next := 0
	for i := range s.peers {
		if !s.peers[i].near {
			s.peers[i].lane = s.lanes[1+next%(lanes-1)]
			next++
		}
	}
	return nil
}

// start begins to serve the members.
func (s *Store) start() {
	near := make([]bool, len(s.peers))
	for i := range near {
		near[i] = s.peers[i].near
	}
	lendFrom := int64(0)
	if cpu.CopiesPast() {
		lendFrom = pastCaches
	}
	shareFrom := int64(1)
	if s.shareCores() {
		shareFrom = longShared
	}
	s.core = core.New(core.Config{
		Near: near, LendFrom: lendFrom, ShareFrom: shareFrom, Star: s.cfg.Shape == ShapeAuto && s.shareCores() && !slices.Contains(near, false),
		Rank: core.Rank(s.me), Size: len(s.peers), Capacity: s.cfg.Capacity, Align: align,
		Inline: s.cfg.Inline, InlineQuota: s.cfg.InlineQuota, Chunk: s.cfg.Chunk, Window: s.cfg.Window,
		Slots: s.cfg.Slots, Links: shape.Links(s.cfg.Links), Shape: shape.Shape(s.cfg.Shape),
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.stopLanes = cancel
	for _, l := range s.lanes {
		go l.loop(ctx)
	}
	needProcessor()
	go s.loop()
}

// needProcessor gives the loop a Go processor besides the program's. With one only, the loop would begin to serve a
// member when the program blocks or after up to 10 ms, and would keep the processor for a while when it sleeps.
func needProcessor() {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
}

// hand takes what a lane has waited for.
func (s *Store) hand(r submission) {
	if s.inbox.put(r) == nil {
		s.help()
	}
}
