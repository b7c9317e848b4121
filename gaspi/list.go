package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A Transfer is one entry of a list: a local span and an address at a rank. All
// entries of a list are with the same rank.
type Transfer struct {
	Local  Span
	Remote Remote
}

// WriteList is one Write per entry, all issued or none: if the queue has not
// room for all of them, or any of them is wrong, nothing is written. Entries of
// size 0 take no place in the queue; their addresses are checked as all others. An empty list does nothing.
func (q *Queue) WriteList(list []Transfer) error {
	return q.list("write_list", list, nil, transport.Link.Put)
}

// WriteListNotify is WriteList and then Notify to at, which names the same rank:
// whoever sees the notification sees all entries. It needs one entry of the
// queue more than WriteList.
func (q *Queue) WriteListNotify(list []Transfer, at Remote, n Notification) error {
	return q.list("write_list_notify", list, &listEnd{at: at, n: n}, transport.Link.Put)
}

// ReadList is one Read per entry, all issued or none; see WriteList.
func (q *Queue) ReadList(list []Transfer) error {
	return q.list("read_list", list, nil, getInto)
}

// ReadListNotify is ReadList, and then posts n in the local segment s: whoever
// sees it sees all entries.
func (q *Queue) ReadListNotify(list []Transfer, s *Segment, n Notification) error {
	return q.list("read_list_notify", list, &listEnd{local: s, n: n, isLocal: true}, getInto)
}

// getInto is Link.Get with the arguments in the order of Put.
func getInto(l transport.Link, t *transport.Queue, at transport.Addr, local Span) error {
	return l.Get(t, local, at)
}

// listEnd is the notification behind a list: at a peer or local.
type listEnd struct {
	at    Remote
	local *Segment // nil unless isLocal
	n     Notification

	isLocal bool
}

type moveOne func(transport.Link, *transport.Queue, transport.Addr, Span) error

func (q *Queue) list(op string, list []Transfer, end *listEnd, move moveOne) error {
	if len(list) == 0 && end == nil {
		return nil
	}
	link, r, need, err := q.checkList(list, end)
	if err != nil {
		return &OpError{Op: op, At: fmt.Sprintf("of %d entries", len(list)), Err: err}
	}
	if !q.take(r, need) {
		return q.full(r)
	}
	begun := q.timeline.Begin()
	for i, t := range list {
		if t.Local.Len() == 0 {
			continue
		}
		if err := move(link, q.traffic, t.Remote.addr(), t.Local); err != nil {
			return &OpError{Op: op, At: fmt.Sprintf("entry %d", i), Err: q.p.peers.Found(r, err)}
		}
		q.account(op, r, t.Local.Len())
	}
	if end != nil {
		if err := q.endList(link, r, list, end); err != nil {
			return &OpError{Op: op, At: "notification", Err: q.p.peers.Found(r, err)}
		}
	}
	q.recordList(op, begun, r, list, end)
	return nil
}

// account counts an entry of a list of transfers with a rank.
func (q *Queue) account(op string, r Rank, n uint64) {
	if c := q.counts.at(r); op[0] == 'w' {
		c.writes.Add(n)
	} else {
		c.reads.Add(n)
	}
}

// endList posts the notification of a list. Reads carry theirs on an empty one,
// which every link orders behind the reads before it.
func (q *Queue) endList(link transport.Link, r Rank, list []Transfer, end *listEnd) error {
	q.counts.at(r).notifies.Add(1)
	switch {
	case !end.isLocal:
		return link.Notify(q.traffic, end.n.flag(end.at.Segment))
	case len(list) == 0:
		end.n.flag(0).Post(end.local.mem.Notifications())
		return nil
	}
	return link.GetNotify(q.traffic, Span{}, list[0].Remote.addr(), end.local.mem.Notifications(), end.n.flag(0))
}

// checkList checks all of a list before any of it is issued, and returns the
// link, the rank, and how many entries of the queue it needs.
func (q *Queue) checkList(list []Transfer, end *listEnd) (link transport.Link, r Rank, need int, err error) {
	if len(list) > q.p.cfg.ListMax {
		return nil, 0, 0, fmt.Errorf("%w: Config.ListMax is %d", ErrTooLarge, q.p.cfg.ListMax)
	}
	r, need = q.p.rank, 0
	if len(list) > 0 {
		r = list[0].Remote.Rank
	} else if !end.isLocal {
		r = end.at.Rank
	}
	for i, t := range list {
		if t.Remote.Rank != r {
			return nil, 0, 0, fmt.Errorf("%w: entry %d is for rank %d, entry 0 for rank %d; all must be for one", ErrBadRank, i, t.Remote.Rank, r)
		}
		if link, err = q.enter(t.Remote, t.Local); err == nil {
			err = checkRemote(link, t.Remote, t.Local.Len())
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("entry %d, %v: %w", i, t.Remote, q.p.peers.Found(r, err))
		}
		if t.Local.Len() > 0 {
			need++
		}
	}
	if end != nil {
		need++
		at := end.at
		if end.isLocal {
			at = Remote{Rank: r}
		}
		if link, err = q.enter(at, Span{}); err == nil {
			err = q.checkEnd(link, r, end)
		}
	}
	return link, r, need, err
}

// checkRemote checks a range at a peer without moving anything. The link checks
// it again when it moves: the peer may withdraw the segment in between.
func checkRemote(link transport.Link, at Remote, n uint64) error {
	size, _, err := link.Size(at.Segment)
	if err != nil {
		return err
	}
	if at.Offset > size || n > size-at.Offset {
		return fmt.Errorf("%w: bytes [%d:+%d] of %d", ErrOutOfRange, at.Offset, n, size)
	}
	return nil
}

func (q *Queue) checkEnd(link transport.Link, r Rank, end *listEnd) error {
	if end.n.Value == 0 {
		return ErrZeroValue
	}
	var have uint32
	switch {
	case end.isLocal && end.local == nil:
		return fmt.Errorf("%w: no local segment is given for the notification", ErrNoSegment)
	case end.isLocal && end.local.mem.Closed():
		return fmt.Errorf("local segment: %w", ErrClosed)
	case end.isLocal:
		have = end.local.Notifications()
	default:
		if end.at.Rank != r {
			return fmt.Errorf("%w: the notification is for rank %d, the list for rank %d", ErrBadRank, end.at.Rank, r)
		}
		var err error
		if _, have, err = link.Size(end.at.Segment); err != nil {
			return err
		}
	}
	if uint32(end.n.ID) >= have {
		return fmt.Errorf("%w: id %d, but the segment has %d", ErrNoNotification, end.n.ID, have)
	}
	return nil
}
