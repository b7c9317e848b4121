package shm

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A card is one rank's page in a memory file of its own: it says which segments
// the rank exposes, behind which of its descriptors, to whom. Its owner alone
// writes it; peers of the same host map it and read.
//
//	| head: magic, version, ranks, ids, lanes, closed | entry 0 | entry 1 | ... | entry ids-1 |
//
// lanes is one more than the descriptor of the lane file, 0 while there is none
// because no bound segment was exposed yet; once set it stays. closed is 1 when the
// owner has closed its transport, before it withdraws its segments. An entry is
// entryHead words of 64 bits and then a bit per rank:
//
//	| generation | kind | descriptor | notifications | size | grants: 1 bit per rank |
//
// kind says whether the descriptor's file holds array and data, or the array
// alone because the owner bound other memory. generation is 0 while the entry is
// free. The owner fills the other words and then stores a generation that it
// never used before; a reader loads it first and last, and what it read between
// is true if both are the same.
type card struct {
	words []atomic.Uint64
	ranks int
	ids   int
}

const (
	cardMagic   = 0x47415350_43415244 // "GASPCARD"
	cardVersion = 3
	cardHead    = 8 // words, one cache line
	entryHead   = 5
)

// Words of the head.
const (
	headMagic = iota
	headVersion
	headRanks
	headIDs
	headLanes
	headClosed
)

// Words of an entry.
const (
	wordGeneration = iota
	wordKind
	wordDescriptor
	wordNotifications
	wordSize
)

// Kinds of segments.
const (
	kindMapped = iota // peers map the data
	kindBound         // peers ask the owner; see owner
)

// entryWords is the length of an entry, whole cache lines so that the
// generation that writers look at shares none with another entry's.
func entryWords(ranks int) int { return (entryHead + (ranks+63)/64 + 7) / 8 * 8 }

func cardBytes(ranks, ids int) int { return 8 * (cardHead + ids*entryWords(ranks)) }

// newCard lays an own card over zeroed mem.
func newCard(mem []byte, ranks, ids int) *card {
	c := &card{words: wordsOf(mem), ranks: ranks, ids: ids}
	c.words[headVersion].Store(cardVersion)
	c.words[headRanks].Store(uint64(ranks))
	c.words[headIDs].Store(uint64(ids))
	c.words[headMagic].Store(cardMagic)
	return c
}

// readCard lays a peer's card over mem and checks its head.
func readCard(mem []byte, ranks, ids int) (*card, error) {
	c := &card{words: wordsOf(mem), ranks: ranks, ids: ids}
	if magic := c.words[headMagic].Load(); magic != cardMagic {
		return nil, fmt.Errorf("card of a peer begins with %#x, want %#x", magic, uint64(cardMagic))
	}
	if v := c.words[headVersion].Load(); v != cardVersion {
		return nil, fmt.Errorf("peer speaks version %d of the shared memory layout, this rank %d: build all ranks from one source", v, cardVersion)
	}
	if r, n := c.words[headRanks].Load(), c.words[headIDs].Load(); r != uint64(ranks) || n != uint64(ids) {
		return nil, fmt.Errorf("peer is configured for %d ranks and %d segments, this rank for %d and %d: the configuration must be the same on all ranks", r, n, ranks, ids)
	}
	return c, nil
}

func (c *card) entry(id segment.ID) []atomic.Uint64 {
	n := entryWords(c.ranks)
	at := cardHead + int(id)*n
	return c.words[at : at+n]
}

// publish fills the entry of id; the generation comes last.
func (c *card) publish(id segment.ID, generation uint64, s *segment.Segment) {
	e := c.entry(id)
	for i := entryHead; i < len(e); i++ {
		e[i].Store(0)
	}
	kind := uint64(kindMapped)
	if s.Bound() {
		kind = kindBound
	}
	e[wordKind].Store(kind)
	e[wordDescriptor].Store(uint64(s.File()))
	e[wordNotifications].Store(uint64(s.Notifications().Len()))
	e[wordSize].Store(s.Size())
	e[wordGeneration].Store(generation)
}

// grant sets the bit of rank r.
func (c *card) grant(id segment.ID, r base.Rank) {
	c.entry(id)[entryHead+int(r)/64].Or(1 << (r % 64))
}

// close says that the owner has closed its transport.
func (c *card) close() { c.words[headClosed].Store(1) }

// closed reports whether the owner has closed its transport. It is read after an entry.
func (c *card) closed() bool { return c.words[headClosed].Load() != 0 }

// withdraw frees the entry.
func (c *card) withdraw(id segment.ID) { c.entry(id)[wordGeneration].Store(0) }

// listing is what a reader found in an entry.
type listing struct {
	generation    uint64
	bound         bool
	descriptor    int
	notifications uint32
	size          uint64
	granted       bool
}

// read returns the entry of id as rank reader sees it.
func (c *card) read(id segment.ID, reader base.Rank) listing {
	e := c.entry(id)
	return listing{
		generation:    e[wordGeneration].Load(),
		bound:         e[wordKind].Load() == kindBound,
		descriptor:    int(e[wordDescriptor].Load()),
		notifications: uint32(e[wordNotifications].Load()),
		size:          e[wordSize].Load(),
		granted:       e[entryHead+int(reader)/64].Load()&(1<<(reader%64)) != 0,
	}
}

// publishLanes says that the lane file is behind fd.
func (c *card) publishLanes(fd int) { c.words[headLanes].Store(uint64(fd) + 1) }

// lanes is the descriptor of the lane file; -1 if there is none.
func (c *card) lanes() int { return int(c.words[headLanes].Load()) - 1 }

// live is the word that holds the generation of id.
func (c *card) live(id segment.ID) *atomic.Uint64 { return &c.entry(id)[wordGeneration] }

// makeCard makes the memory file of an own card.
func makeCard(ranks, ids int) (*card, int, error) {
	size := cardBytes(ranks, ids)
	fd, err := memory.Create("gaspi-card", int64(size))
	if err != nil {
		return nil, -1, err
	}
	mem, err := memory.Map(fd, size)
	if err != nil {
		sys.CloseFile(fd)
		return nil, -1, err
	}
	return newCard(mem, ranks, ids), fd, nil
}

// openCard maps the card behind descriptor fd of process pid.
func openCard(pid, fd, ranks, ids int) (*card, error) {
	own, err := memory.OpenPeer(pid, fd)
	if err != nil {
		return nil, err
	}
	defer sys.CloseFile(own)
	size, err := sys.FileSize(own)
	if err != nil {
		return nil, err
	}
	// A peer with another configuration has another size; its head still says
	// what it is, so map what there is and look.
	mem, err := memory.Map(own, int(size))
	if err != nil {
		return nil, err
	}
	c, err := readCard(mem, ranks, ids)
	if err != nil {
		return nil, errors.Join(err, memory.Unmap(mem))
	}
	return c, nil
}
