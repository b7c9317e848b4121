package core

// A Kind is what a message asks or says.
type Kind uint8

// Messages to the directory, from it, between stores, and of reductions. The
// fields that each uses are listed in docs/HOPLITE.md.
const (
	KindNone Kind = iota

	// To the shard of an object.
	PutReq   // an object of Size bytes starts to exist here; Data if it is carried inline
	Done     // my copy is complete
	GetReq   // tell me where it is, now or once it exists
	Orphan   // my source Rank has failed me at From bytes
	Unwait   // I do not want it any more
	Forget   // I gave up my copy, which others may depend on
	Evict    // may I give up my complete copy?
	DelReq   // delete it everywhere
	Withdraw // the object that I was making will not be, or will be made anew
	DropAck  // it is not here any more
	Watch    // tell me as soon as it exists, or as soon as it is complete
	Unwatch  // no longer
	Register // a new owner of the shard learns what I hold
	Marker   // that was all that I hold
	RepAck   // the replica has recorded a Rep

	// From the shard of an object.
	PutAck   // it has Gen now, or Code says why not
	Assign   // fetch it from Rank
	Data     // here are its bytes
	Fail     // it will not come: Code
	EvictAck // you may (OK), or keep it: it is the last copy (Exists)
	DelAck   // it is deleted everywhere
	Drop     // give up your copy, Code says why
	Located  // it exists, at Ranks
	Rep      // record this about an entry; you are my replica

	// Between stores.
	Pull    // send me it from From on, into Slot at Off
	Cancel  // stop sending into Slot
	Stopped // nothing is sent into Slot any more

	// Of reductions: caller to the ranks of its sources, and back.
	Job       // fold your copy of ID with Ins
	Input     // here is an input that was missing
	JobFailed // I cannot: Code
	JobEnd    // forget it

	kinds // their number
)

// Flags of a message.
const (
	FlagComplete uint8 = 1 << iota // the copy has all its bytes
	FlagOrigin                     // the copy is being made here, and does not come from another rank
	FlagPinned                     // the copy stays until Delete
	FlagRemove                     // a Rep: the entry is gone
	FlagLost                       // a Rep or Located: no copy is left
	FlagOnce                       // a Watch: one answer is enough; else: a Reduce is making the object
	FlagStale                      // a Register: the source is gone
	FlagKeep                       // a GetReq: room is kept for the object
)

// MaxRanks is how many locations a Located carries.
const MaxRanks = 8

// An In is one input of a job: a stream of another position.
type In struct {
	// Rank makes it; NoRank while that is not known.
	Rank Rank
	// Position and Attempt name it within the reduction.
	Position, Attempt uint32
}

// A Message is what one core says to another. It is bounded: all fields but ID
// and Data are of fixed size, and Data has at most Config.Inline bytes.
type Message struct {
	Kind  Kind
	Code  Code
	Flags uint8
	// Op is the runner's number of a reduction's operation.
	Op uint32
	// Rank is a source, or a rank that failed.
	Rank Rank
	// Copy names the copy that Rank has, and Own that of the message's sender: the Ref of
	// the question that brought it there, 0 if it was put or made there. A rank that gave
	// its copy up and asked again has another.
	Copy, Own uint64
	// Slot and Seq name a transfer at its receiver.
	Slot uint32
	Seq  uint64
	// Gen is the generation of the object, given by its directory; 0 is none.
	Gen uint64
	// Token names the put that made the object, whoever repeats it.
	Token uint64
	// Sum is a checksum of the content, 0 if none was made.
	Sum uint64
	// Size, From and Off are bytes: of the object, where to start, and where in the
	// receiver's store.
	Size, From, Off int64
	// Ref is given back in the answer as it came.
	Ref uint64
	// Stream names a stream, or a job.
	Stream Stream
	// Ins are the inputs of a job, NumIns their number.
	NumIns uint8
	Ins    [2]In
	// Ranks are locations, the first NumRanks of them; complete ones first.
	NumRanks, NumComplete uint8
	Ranks                 [MaxRanks]Rank
	ID                    string
	// Data is an object's bytes. The receiver owns it.
	Data []byte
}
