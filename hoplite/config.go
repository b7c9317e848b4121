package hoplite

import (
	"fmt"
	"math"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A Shape is how a reduction is laid over the ranks of its sources.
type Shape uint8

// The shapes of reductions.
const (
	// ShapeAuto takes the one that is predicted to be fastest.
	ShapeAuto Shape = iota
	// ShapeChain is one chain in order of arrival.
	ShapeChain
	// ShapeGrid is chains of about the square root of the sources, and a chain of their ends.
	ShapeGrid
	// ShapeTree is a binary tree with chains for leaves.
	ShapeTree
)

// Links is what is known of the network between two members.
type Links struct {
	// Bandwidth is in bytes per second; zero means unlimited. Too high makes trees of big objects,
	// too low makes chains of small ones.
	Bandwidth float64
	// Latency is of one message, in seconds. Too high makes trees of big objects.
	Latency float64
}

// Config holds the parameters of a store, the same at all members. The zero value of a
// field means its default.
type Config struct {
	// Capacity is how many bytes of objects one rank stores, rounded up to a multiple of 64
	// as every object is: an empty store takes one of Capacity bytes. Default 256 MiB; memory
	// costs nothing until it is used. If it is too small, calls wait for memory or end with
	// ErrFull.
	Capacity int64
	// Inline is the greatest size in bytes of objects that the directory carries itself,
	// which spares a Get one trip. Default 64 KiB, at most 1 MiB; negative means none. Too
	// great makes the directory's rank send what the object's own could.
	Inline int64
	// InlineQuota is how many such bytes one rank's part of the directory holds; what is
	// beyond is fetched from the rank that put it. Default 16 MiB.
	InlineQuota int64
	// Chunk is how many bytes are written, folded and told of at a time, a multiple of 64.
	// Default 256 KiB. Smaller lets the next rank of a chain start earlier, greater costs
	// fewer notifications.
	Chunk int64
	// Window is how many chunks of a transfer are under way. Default 2. Too few leave a
	// long link idle; more delay what comes between.
	Window int
	// Slots is how many transfers a rank receives at a time. Default 256. A call that finds no
	// free slot waits for one that a Get uses. If reductions use all slots, which may be
	// waiting for this very call, the call ends with ErrFull, as if there were no memory.
	Slots int
	// Shape forces a shape of reductions. Default ShapeAuto.
	Shape Shape
	// Tag tells Open from other calls of it over the same group that other goroutines make
	// at the same time; see gaspi.Tag. Default 0, at most 65535. Without it such calls match
	// by their order, which then has to be the same at all members.
	Tag gaspi.Tag
	// Links is what shapes are chosen by. Zero means that Open measures it between the first
	// two members, in a few milliseconds.
	Links Links
}

const (
	defaultCapacity    = 256 << 20
	defaultInline      = 64 << 10
	defaultInlineQuota = 16 << 20
	defaultChunk       = 256 << 10
	defaultWindow      = 2
	defaultSlots       = 256

	maxInline = 1 << 20
	maxSlots  = 1 << 16

	// align is where objects begin, and what all watermarks but the last are multiples of:
	// elements of every type are whole below them.
	align = 64
)

// complete is cfg with defaults filled in, or what is wrong with it.
func (cfg Config) complete(limit gaspi.Config) (Config, error) {
	set := func(field *int64, to int64) {
		if *field == 0 {
			*field = to
		}
	}
	set(&cfg.Capacity, defaultCapacity)
	set(&cfg.Inline, defaultInline)
	set(&cfg.InlineQuota, defaultInlineQuota)
	set(&cfg.Chunk, defaultChunk)
	if cfg.Window == 0 {
		cfg.Window = defaultWindow
	}
	if cfg.Slots == 0 {
		cfg.Slots = defaultSlots
	}
	cfg.Inline = max(cfg.Inline, -1)
	wrong := func(field string, got any, want string, most any) (Config, error) {
		return cfg, fmt.Errorf("%w: Config.%s is %v; want "+want, gaspi.ErrOutOfRange, field, got, most)
	}
	switch {
	case cfg.Capacity < 1:
		return wrong("Capacity", cfg.Capacity, "%d or more", 1)
	case cfg.Capacity > math.MaxInt64-align:
		return wrong("Capacity", cfg.Capacity, "at most %d", int64(math.MaxInt64-align))
	case cfg.Inline > maxInline:
		return wrong("Inline", cfg.Inline, "at most %d", maxInline)
	case cfg.InlineQuota < 0:
		return wrong("InlineQuota", cfg.InlineQuota, "%d or more", 0)
	case cfg.Chunk < align || cfg.Chunk%align != 0:
		return wrong("Chunk", cfg.Chunk, "a multiple of %d", align)
	case uint64(cfg.Chunk) > limit.TransferMax:
		return wrong("Chunk", cfg.Chunk, "at most gaspi.Config.TransferMax, %d", limit.TransferMax)
	case cfg.Window < 1:
		return wrong("Window", cfg.Window, "%d or more", 1)
	case cfg.Slots < 1 || cfg.Slots > maxSlots:
		return wrong("Slots", cfg.Slots, "1 to %d", maxSlots)
	case cfg.Shape > ShapeTree:
		return wrong("Shape", uint8(cfg.Shape), "one of the constants, at most %d", ShapeTree)
	case !(cfg.Links.Bandwidth >= 0 && cfg.Links.Latency >= 0):
		return wrong("Links", cfg.Links, "nothing below %d", 0)
	}
	cfg.Capacity = (cfg.Capacity + align - 1) / align * align
	return cfg, nil
}
