package core

// A Mutant is a defect that a test asks for, to see that the simulator finds it.
// Zero is none. Each is one that an implementation of the paper had, or could have. Only
// builds with the tag mutants contain them: Config.has is the constant false in others.
type Mutant uint8

const (
	// MutantNone is the protocol as it should be.
	MutantNone Mutant = iota
	// MutantOfferDead keeps a dead rank among the locations.
	MutantOfferDead
	// MutantTwiceRecovered puts a receiver into its chain again when it reports a second time.
	MutantTwiceRecovered
	// MutantNoAlternative answers the second report of a receiver with nothing.
	MutantNoAlternative
	// MutantNeverLost keeps waiters for ever when the last copy is gone.
	MutantNeverLost
	// MutantAnySource resumes from any copy, also from one that depends on the receiver.
	MutantAnySource
	// MutantTailOmitted takes an object for complete before its last, shorter, chunk.
	MutantTailOmitted
	// MutantEvictUnasked frees a copy without asking the directory.
	MutantEvictUnasked
	// MutantEvictInUse frees a copy while it is being sent.
	MutantEvictInUse
	// MutantReuseEarly gives the buffer of a canceled transfer back before the sender has stopped.
	MutantReuseEarly
	// MutantLostTooEarly declares an object lost before orphans have said what they hold.
	MutantLostTooEarly
	// MutantNoGeneration sends what now has a name to who asked for what had it before.
	MutantNoGeneration
	// MutantDeleteLocal deletes no other copies than the caller's.
	MutantDeleteLocal
	// MutantDeleteEarly answers a Delete before the holders have.
	MutantDeleteEarly
	// MutantKeepPrefix lets ancestors of a replaced reducer keep what they have folded.
	MutantKeepPrefix
	// MutantCountTwice uses a source again that is in the result already.
	MutantCountTwice
	// MutantUsedWrong reports the first sources instead of those used.
	MutantUsedWrong
	// MutantServeEarly lets a new owner of a shard answer before all have registered.
	MutantServeEarly
	// MutantNoReplica sends nothing to the replica.
	MutantNoReplica
	// MutantTwoChildren lets a copy serve several receivers at a time.
	MutantTwoChildren
	// MutantResumeZero counts a resumed transfer as if it had started anew.
	MutantResumeZero
	// MutantAnyCopy sends from whatever copy is there, not only from the one that was meant.
	MutantAnyCopy
	// MutantFreeLent frees memory that is lent before the receiver has given it back.
	MutantFreeLent
	// MutantFreeShared frees a target while others fold chunks of it.
	MutantFreeShared
	// MutantWrittenAll takes a chunk for written to a receiver's store that was begun before the receiver asked.
	MutantWrittenAll
	// MutantReturnEarly gives what is borrowed back when the program gets it, not when it lets go.
	MutantReturnEarly
	// Mutants is their number.
	Mutants
)

// String is the mutant's name.
func (m Mutant) String() string {
	names := [...]string{"none", "offer-dead", "twice-recovered", "no-alternative", "never-lost", "any-source", "tail-omitted",
		"evict-unasked", "evict-in-use", "reuse-early", "lost-too-early", "no-generation", "delete-local", "delete-early",
		"keep-prefix", "count-twice", "used-wrong", "serve-early", "no-replica", "two-children", "resume-zero", "any-copy",
		"free-lent", "free-shared", "written-all", "return-early"}
	if int(m) < len(names) {
		return names[m]
	}
	return "invalid"
}
