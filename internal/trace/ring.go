package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
)

// A region of the file is the ring of one rank, in little endian words of 8 bytes:
//
//	| 0 magic | 1 records that fit | 2 clock | 3 ticks, 4 nanoseconds when it was made |
//	| 5 ticks, 6 nanoseconds when it was read | 7 bytes of names | 8 records begun |
//	| 9 records left out |
//
// At namesAt are names, each a length of 2 bytes and text; at recordsAt the records.
const (
	magic     = 0x31524347 // "GCR1"
	namesAt   = 4 << 10
	recordsAt = 64 << 10

	wordMagic = iota - 3
	wordSlots
	wordClock
	wordTicks
	wordNanos
	wordTicksEnd
	wordNanosEnd
	wordNames
	wordBegun
	wordSkipped
)

// Clocks of records.
const (
	clockNanos = iota // of the system
	clockTicks        // of the processor
)

// recordWords is the size of a record: a cache line.
//
//	| 0 number from 1, 4, written last; records left out before, 4 | 1 begin | 2 end | 3 lane | 4 kind, 2; name, 2; peer, 4 |
//	| 5 segment, 4; notification, 4 | 6 value, 4; count, 31 bits; adds, 1 bit | 7 bytes |
const recordWords = 8

// Slots returns how many records a rank of a job of so many keeps, its last ones: 65,536, which take
// 4 MiB, and fewer in a job of more than 64 ranks, so that all of them have room for 256 MiB where
// they are gathered.
func Slots(ranks int) int {
	slots := mostSlots
	for slots > leastSlots && slots*ranks > mostRecords {
		slots /= 2
	}
	return slots
}

const (
	mostSlots   = 1 << 16
	leastSlots  = 1 << 10
	mostRecords = 1 << 22
)

// regionSize is the bytes of a region with room for so many records.
func regionSize(slots int) int64 { return recordsAt + int64(slots)*8*recordWords }

// NewFile makes the file for ranks of this host, each with room for so many records. The caller
// closes it.
func NewFile(ranks, slots int) (*os.File, error) {
	size := regionSize(slots)
	fd, err := memory.Create("gaspi-trace", int64(ranks)*size)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "trace")
	clock := uint64(clockNanos)
	if cpu.HasTicks() {
		clock = clockTicks
	}
	for i := range int64(ranks) {
		ticks, nanos, err := now()
		words := []uint64{magic, uint64(slots), clock, uint64(ticks), uint64(nanos)}
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		if err == nil {
			_, err = file.WriteAt(b, i*size)
		}
		if err != nil {
			_ = file.Close()
			return nil, err
		}
	}
	return file, nil
}

// looksAtClocks is how often now reads both clocks, to take the two that were closest to each other.
const looksAtClocks = 5

// now returns both clocks at a time.
func now() (ticks, nanos int64, err error) {
	least := int64(1 << 62)
	for range looksAtClocks {
		before := cpu.Ticks()
		n, err := sys.Monotonic()
		after := cpu.Ticks()
		if err != nil {
			return 0, 0, err
		}
		if after-before < least {
			least, ticks, nanos = after-before, before+(after-before)/2, n
		}
	}
	return ticks, nanos, nil
}

// Image returns the region of a rank of the file, which Parse reads, as far as it was written. It is
// for ranks that have ended.
func Image(file io.ReaderAt, rank int) ([]byte, error) {
	header := make([]byte, namesAt)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, err
	}
	slots := word(header, wordSlots)
	if slots == 0 || slots > mostSlots {
		return nil, fmt.Errorf("a ring of %d records; expected 1 to %d", slots, mostSlots)
	}
	size := regionSize(int(slots))
	if _, err := file.ReadAt(header, int64(rank)*size); err != nil {
		return nil, err
	}
	used := min(word(header, wordBegun), slots)
	b := make([]byte, recordsAt+used*8*recordWords)
	if _, err := file.ReadAt(b, int64(rank)*size); err != nil {
		return nil, err
	}
	ticks, nanos, err := now()
	binary.LittleEndian.PutUint64(b[8*wordTicksEnd:], uint64(ticks))
	binary.LittleEndian.PutUint64(b[8*wordNanosEnd:], uint64(nanos))
	return b, err
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// A Log is what a rank has recorded.
type Log struct {
	Records []Record // as they were begun to be written
	Names   []string // by number
	Dropped uint64   // records that were overwritten, or not finished
	Skipped uint64   // records of short things that Recorder.Keep has refused
}

// Parse reads an image.
func Parse(b []byte) (Log, error) {
	if len(b) < recordsAt || word(b, wordMagic) != magic {
		return Log{}, errors.New("no records of this version")
	}
	slots, begun, rest := word(b, wordSlots), word(b, wordBegun), b[recordsAt:]
	used := min(begun, slots)
	if slots == 0 || slots > mostSlots || uint64(len(rest)) != used*8*recordWords {
		return Log{}, fmt.Errorf("%d bytes of records; %d are expected", len(rest), used*8*recordWords)
	}
	log := Log{Names: parseNames(b), Skipped: word(b, wordSkipped)}
	convert, err := converter(b)
	if err != nil {
		return Log{}, err
	}
	var skipped uint32
	for number := begun - used; number < begun; number++ {
		r := rest[number%slots*8*recordWords:]
		if uint32(word(r, 0)) != uint32(number+1) {
			continue
		}
		rec := decode(r)
		left := uint32(word(r, 0) >> 32)
		if n := int32(left - skipped); n > 0 && (number > 0 && len(log.Records) > 0 || number == 0) {
			rec.Skipped = uint32(n)
		}
		skipped = left
		rec.Begin, rec.End = convert(rec.Begin), convert(rec.End)
		rec.End = max(rec.End, rec.Begin) // counters of two cores may differ by some nanoseconds
		if rec.Kind == None || rec.Kind >= kinds || int(rec.Name) >= len(log.Names) {
			continue // the program has written over it
		}
		log.Records = append(log.Records, rec)
	}
	log.Dropped = begun - uint64(len(log.Records))
	return log, nil
}

// parseNames returns the names of an image; the first is none.
func parseNames(b []byte) []string {
	names := []string{""}
	all := b[namesAt:recordsAt]
	all = all[:min(word(b, wordNames), uint64(len(all)))]
	for len(all) >= 2 {
		n := int(binary.LittleEndian.Uint16(all))
		if all = all[2:]; n > len(all) {
			break
		}
		names = append(names, string(all[:n]))
		all = all[n:]
	}
	return names
}

// converter returns how times of an image become nanoseconds.
func converter(b []byte) (func(int64) int64, error) {
	if word(b, wordClock) == clockNanos {
		return func(t int64) int64 { return t }, nil
	}
	t0, n0 := int64(word(b, wordTicks)), int64(word(b, wordNanos))
	t1, n1 := int64(word(b, wordTicksEnd)), int64(word(b, wordNanosEnd))
	if t1 <= t0 || n1 <= n0 {
		return nil, fmt.Errorf("clocks that went from %d to %d ticks and from %d to %d ns", t0, t1, n0, n1)
	}
	rate := float64(n1-n0) / float64(t1-t0)
	return func(t int64) int64 { return n0 + int64(float64(t-t0)*rate) }, nil
}

func decode(b []byte) Record {
	what, where, value := word(b, 4), word(b, 5), word(b, 6)
	return Record{
		Begin: int64(word(b, 1)), End: int64(word(b, 2)), Lane: uintptr(word(b, 3)),
		Kind: Action(what), Name: Name(what >> 16), Peer: rankOf(uint32(what >> 32)),
		Segment: uint32(where), Note: uint32(where >> 32),
		Value: uint32(value), Count: uint32(value >> 32 & mostCount), Adds: value>>63 != 0,
		Bytes: word(b, 7),
	}
}

// mostCount bounds Record.Count.
const mostCount = 1<<31 - 1
