package core

// Messages between stores, and of reductions.

// A Pull asks to be sent a copy from From on, into Slot at Off. It names the copy by Gen,
// Token and Copy, or what a position of a reduction makes by Stream.
type Pull struct {
	ID         string
	Gen, Token uint64
	Copy       uint64
	Stream     Stream
	// Slot and Seq name the transfer at its receiver.
	Slot uint32
	Seq  uint64
	// Size, From and Off are bytes: of the object, where to start, and where the object begins
	// in the receiver's store.
	Size, From, Off int64
	// Directory is the rank that the sender takes for the owner of the object's shard.
	Directory Rank
	// Lend asks to be told where the copy is, in place of being sent it. Borrow says that the receiver will
	// have no copy, and reads there until it gives back.
	Lend, Borrow bool
}

// A Cancel asks to stop sending into a slot, or gives back what was lent.
type Cancel struct {
	Slot uint32
	Seq  uint64
}

// A Stopped says that nothing is sent into a slot any more.
type Stopped struct {
	Slot uint32
	Seq  uint64
}

// A Lent says where the sender of a transfer has what it lends.
type Lent struct {
	Slot uint32
	Seq  uint64
	// Off is where the object begins in the sender's store, in bytes.
	Off int64
	// Written is how many bytes at the end of the object the receiver finds in its own store when it is told of
	// them: whoever folds them writes them there, too.
	Written int64
}

// A Share asks to fold a chunk of a target in the sender's store.
type Share struct {
	// Ref is the sender's name for it.
	Ref uint64
	// Op is the runner's number of the operation.
	Op uint32
	// Off and Size are bytes of the sender's store.
	Off, Size int64
	// From are the operands, for each a rank in 4 bytes and an offset in its store in 8.
	From []byte
	// Twice says that the result belongs at Also of the receiver's store, too, to what slot Slot receives as Seq.
	Twice bool
	Also  int64
	Slot  uint32
	Seq   uint64
}

// A Shared says that the chunk of a Share is folded, or that it cannot be.
type Shared struct {
	Ref  uint64
	Code Code
}

// An In is one input of a job: a stream of another position.
type In struct {
	// Rank makes it; NoRank while that is not known.
	Rank Rank
	// Position and Attempt name it within the reduction.
	Position, Attempt uint32
}

// A JobReq asks to fold the copy of an object with inputs.
type JobReq struct {
	ID         string
	Gen, Token uint64
	Size       int64
	// Op is the runner's number of the operation.
	Op uint32
	// Stream names the job and what it makes.
	Stream Stream
	// Ins are the inputs, the first NumIns of them.
	NumIns uint8
	Ins    [maxIns]In
}

// An Input tells of an input that a JobReq did not know.
type Input struct {
	Stream Stream
	// Index is the input's place in JobReq.Ins.
	Index uint32
	In    In
}

// A JobFailed says why a job cannot be done.
type JobFailed struct {
	Code   Code
	Stream Stream
}

// A JobEnd tells a rank to forget a job.
type JobEnd struct{ Stream Stream }

func (m Pull) message() (w Message) { m.fields(w.begin(KindPull)); return w }

// Pull returns what m says as a Pull.
func (m *Message) Pull() (r Pull) { r.fields(m.reader()); return r }

func (m *Pull) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.u64(atCopy, &m.Copy)
	f.stream(&m.Stream)
	f.u32(atSlot, &m.Slot)
	f.u64(atSeq, &m.Seq)
	f.i64(atSize, &m.Size)
	f.i64(atFrom, &m.From)
	f.i64(atOff, &m.Off)
	directory := uint64(m.Directory)
	f.u64(atRef, &directory)
	m.Directory = Rank(directory)
	f.flag(flagLend, &m.Lend)
	f.flag(flagBorrow, &m.Borrow)
}

func (m Cancel) message() (w Message) { m.fields(w.begin(KindCancel)); return w }
func (m *Message) cancel() (r Cancel) { r.fields(m.reader()); return r }

func (m *Cancel) fields(f fields) {
	f.u32(atSlot, &m.Slot)
	f.u64(atSeq, &m.Seq)
}

func (m Stopped) message() (w Message) { m.fields(w.begin(KindStopped)); return w }

// Stopped returns what m says as a Stopped.
func (m *Message) Stopped() (r Stopped) { r.fields(m.reader()); return r }

func (m *Stopped) fields(f fields) {
	f.u32(atSlot, &m.Slot)
	f.u64(atSeq, &m.Seq)
}

func (m Lent) message() (w Message) { m.fields(w.begin(KindLent)); return w }
func (m *Message) lent() (r Lent)   { r.fields(m.reader()); return r }

func (m *Lent) fields(f fields) {
	f.u32(atSlot, &m.Slot)
	f.u64(atSeq, &m.Seq)
	f.i64(atOff, &m.Off)
	f.i64(atFrom, &m.Written)
}

func (m Share) message() (w Message)  { m.fields(w.begin(KindShare)); return w }
func (m *Message) share() (r Share)   { r.fields(m.reader()); return r }
func (m Shared) message() (w Message) { m.fields(w.begin(KindShared)); return w }
func (m *Message) shared() (r Shared) { r.fields(m.reader()); return r }

func (m *Share) fields(f fields) {
	f.u64(atRef, &m.Ref)
	f.u32(atOp, &m.Op)
	f.i64(atOff, &m.Off)
	f.i64(atSize, &m.Size)
	f.payload(&m.From)
	f.flag(flagTwice, &m.Twice)
	f.i64(atFrom, &m.Also)
	f.u32(atSlot, &m.Slot)
	f.u64(atSeq, &m.Seq)
}

func (m *Shared) fields(f fields) {
	f.u64(atRef, &m.Ref)
	f.code(&m.Code)
}

func (m JobReq) message() (w Message) { m.fields(w.begin(KindJobReq)); return w }
func (m *Message) jobReq() (r JobReq) { r.fields(m.reader()); return r }

func (m *JobReq) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.i64(atSize, &m.Size)
	f.u32(atOp, &m.Op)
	f.stream(&m.Stream)
	f.u8(atNumIns, &m.NumIns)
	for i := range m.Ins {
		f.in(i, &m.Ins[i])
	}
}

func (m Input) message() (w Message) { m.fields(w.begin(KindInput)); return w }
func (m *Message) input() (r Input)  { r.fields(m.reader()); return r }

func (m *Input) fields(f fields) {
	f.stream(&m.Stream)
	f.u32(atSlot, &m.Index)
	one := uint8(1)
	f.u8(atNumIns, &one)
	f.in(0, &m.In)
}

func (m JobFailed) message() (w Message)    { m.fields(w.begin(KindJobFailed)); return w }
func (m *Message) jobFailed() (r JobFailed) { r.fields(m.reader()); return r }

func (m *JobFailed) fields(f fields) {
	f.code(&m.Code)
	f.stream(&m.Stream)
}

func (m JobEnd) message() (w Message) { m.fields(w.begin(KindJobEnd)); return w }
func (m *Message) jobEnd() (r JobEnd) { r.fields(m.reader()); return r }

func (m *JobEnd) fields(f fields) { f.stream(&m.Stream) }
