package trace

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A Record is something that a goroutine of a rank did from Begin to End; fields that Kind does
// not use are zero.
type Record struct {
	Begin, End int64   // in the unit of Recorder.Now; of a Log, nanoseconds of the host's monotonic clock
	Lane       uintptr // a number of the goroutine
	Kind       Action
	Name       Name // of a Call, a Collective, an Operation and a Program

	Peer    base.Rank // of posts, and of messages that were received
	Segment uint32    // that notifications are in; of meetings, a number of the group
	Note    uint32    // the first notification, or the only one
	Count   uint32    // of notifications; 0 where none is known
	Value   uint32    // of the notification; of meetings, their number
	Adds    bool      // the value was added
	Bytes   uint64

	Skipped uint32 // of a Log: records that were left out since the one before
}

// A Name is the number of a text in the ring of its rank; 0 is none.
type Name uint16

// An Action is what a record is of.
type Action uint16

// The kinds of records. Steps are those of a collective operation, whose waits and posts have no
// other record.
const (
	None Action = iota

	Write
	WriteNotify
	Read
	ReadNotify
	Notify
	WriteList
	ReadList
	PassiveSend

	WaitSome
	WaitAll
	WaitUntil
	WaitFunc
	PassiveReceive

	QueueWait
	Flush
	Atomic
	Barrier
	AllReduce

	StepPut
	StepSignal
	StepAwait
	StepWait // for any of several steps
	StepCombine
	StepEncode
	StepDecode
	StepFlush
	StepCredit
	StepAwaitCredit

	Call       // another call of package gaspi
	Collective // a call of a collective operation
	Operation  // one that goes on beside the program, by whichever goroutine
	Program    // what the program has named

	kinds
)

// A Class says what kinds have in common.
type Class uint8

// The classes.
const (
	Other   Class = iota
	Post          // it may end a wait of Peer
	Wait          // for the post of another rank
	Meeting       // it ends when all members of a group have begun it
)

type description struct {
	text  string
	class Class
}

// descriptions has a row for each kind, as the program writes its call.
var descriptions = [kinds]description{
	None:        {"none", Other},
	Write:       {"Queue.Write", Other},
	WriteNotify: {"Queue.WriteNotify", Post},
	Read:        {"Queue.Read", Other},
	ReadNotify:  {"Queue.ReadNotify", Other},
	Notify:      {"Queue.Notify", Post},
	WriteList:   {"Queue.WriteList", Post},
	ReadList:    {"Queue.ReadList", Other},
	PassiveSend: {"Proc.PassiveSend", Post},

	WaitSome:       {"Segment.WaitSome", Wait},
	WaitAll:        {"Segment.WaitAll", Wait},
	WaitUntil:      {"Segment.WaitUntil", Wait},
	WaitFunc:       {"Segment.WaitFunc", Wait},
	PassiveReceive: {"Proc.PassiveReceive", Wait},

	QueueWait: {"Queue.Wait", Other},
	Flush:     {"Queue.Flush", Other},
	Atomic:    {"Proc.atomic", Other},
	Barrier:   {"Proc.Barrier", Meeting},
	AllReduce: {"gaspi.AllReduce", Meeting},

	StepPut:     {"put", Post},
	StepSignal:  {"signal", Post},
	StepAwait:   {"await", Wait},
	StepWait:    {"wait", Wait},
	StepCombine: {"combine", Other},
	StepEncode:  {"encode", Other},
	StepDecode:  {"decode", Other},
	StepFlush:   {"flush", Other},
	StepCredit:  {"credit", Post}, StepAwaitCredit: {"await credit", Wait},

	Call: {"call", Other}, Collective: {"collective", Other}, Operation: {"operation", Other}, Program: {"program", Other},
}

// String returns what the program or a schedule calls it.
func (k Action) String() string {
	if k >= kinds {
		return fmt.Sprintf("Action(%d)", uint16(k))
	}
	return descriptions[k].text
}

// Class returns the class of the kind.
func (k Action) Class() Class {
	if k >= kinds {
		return Other
	}
	return descriptions[k].class
}

// Step reports whether the record is one of a collective operation.
func (k Action) Step() bool { return k >= StepPut && k <= StepAwaitCredit }
