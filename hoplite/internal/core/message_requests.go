package core

// Messages to the shard of an object.

// A PutReq says that an object of Size bytes starts to exist at the sender.
type PutReq struct {
	ID string
	// Token names the put that made the object, whoever repeats it.
	Token uint64
	// Sum is a checksum of the content, 0 if none was made.
	Sum  uint64
	Size int64
	// Complete says that the sender has all bytes, Making that a Reduce is making them.
	Complete, Making bool
	// Data is the object if it is carried inline.
	Data []byte
}

// A Done says that the sender's copy is complete.
type Done struct {
	ID  string
	Gen uint64
}

// A GetReq asks where an object is, now or once it exists.
type GetReq struct {
	ID string
	// Ref is given back in the answer as it came.
	Ref uint64
	// Keep says that room is kept for the object: it is answered when there is no such object.
	Keep bool
}

// An Orphan says that the source of the sender's copy has failed it.
type Orphan struct {
	ID  string
	Gen uint64
	// Rank is the source that failed, and Copy names the copy that it had.
	Rank Rank
	Copy uint64
	// Dead says that the sender knows the source to be dead.
	Dead bool
	// From is how many bytes the sender has.
	From int64
	Ref  uint64
}

// An Unwait says that the sender does not want the object any more.
type Unwait struct{ ID string }

// A Forget says that the sender gave up its copy, which others may depend on.
type Forget struct {
	ID       string
	Gen, Ref uint64
}

// An Evict asks whether the sender may give up its complete copy.
type Evict struct {
	ID  string
	Gen uint64
}

// A DelReq asks to delete an object everywhere.
type DelReq struct {
	ID  string
	Ref uint64
}

// A Withdraw says that the object which the sender was making will not be, or will be made anew.
type Withdraw struct {
	ID    string
	Token uint64
}

// A DropAck says that the object is not at the sender any more.
type DropAck struct {
	ID  string
	Gen uint64
}

// A Watch asks to be told as soon as an object exists, or as soon as it is complete.
type Watch struct {
	ID  string
	Ref uint64
	// Once says that one answer is enough, Complete that the object must be complete.
	Once, Complete bool
	// Room is how many bytes of an inline object the answer may carry.
	Room int64
}

// An Unwatch takes a Watch back.
type Unwatch struct {
	ID  string
	Ref uint64
}

// A Register tells a new owner of the shard what the sender holds.
type Register struct {
	ID              string
	Gen, Token, Sum uint64
	Size            int64
	// Rank is the source of the copy, NoRank if it has none, and Copy names the source's copy.
	Rank Rank
	Copy uint64
	// Own names the sender's copy: the Ref of the question that brought it there, 0 if it was
	// put or made there. A rank that gave its copy up and asked again has another.
	Own uint64
	// Ref names the last question about the copy.
	Ref uint64
	// Complete says that the copy has all its bytes; Origin, that it is made here and does not
	// come from another rank; Making, that a Reduce makes it; Pinned, that it stays until
	// Delete; Orphan, that its source is gone.
	Complete, Origin, Making, Pinned, Orphan bool
}

// A Marker says that the sender has registered all that it holds of a shard.
type Marker struct{ Shard uint64 }

// A RepAck says that the replica has recorded a removal.
type RepAck struct {
	ID  string
	Gen uint64
}

func (m PutReq) message() (w Message) { m.fields(w.begin(KindPutReq)); return w }
func (m *Message) putReq() (r PutReq) { r.fields(m.reader()); return r }

func (m *PutReq) fields(f fields) {
	f.id(&m.ID)
	f.u64(atToken, &m.Token)
	f.u64(atSum, &m.Sum)
	f.i64(atSize, &m.Size)
	f.flag(flagComplete, &m.Complete)
	f.flag(flagOnce, &m.Making)
	f.payload(&m.Data)
}

func (m Done) message() (w Message) { m.fields(w.begin(KindDone)); return w }
func (m *Message) done() (r Done)   { r.fields(m.reader()); return r }

func (m *Done) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}

func (m GetReq) message() (w Message) { m.fields(w.begin(KindGetReq)); return w }
func (m *Message) getReq() (r GetReq) { r.fields(m.reader()); return r }

func (m *GetReq) fields(f fields) {
	f.id(&m.ID)
	f.u64(atRef, &m.Ref)
	f.flag(flagKeep, &m.Keep)
}

func (m Orphan) message() (w Message) { m.fields(w.begin(KindOrphan)); return w }
func (m *Message) orphan() (r Orphan) { r.fields(m.reader()); return r }

func (m *Orphan) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.rank(atRank, &m.Rank)
	f.u64(atCopy, &m.Copy)
	f.flag(flagStale, &m.Dead)
	f.i64(atFrom, &m.From)
	f.u64(atRef, &m.Ref)
}

func (m Unwait) message() (w Message) { m.fields(w.begin(KindUnwait)); return w }
func (m *Message) unwait() (r Unwait) { r.fields(m.reader()); return r }

func (m *Unwait) fields(f fields) { f.id(&m.ID) }

func (m Forget) message() (w Message) { m.fields(w.begin(KindForget)); return w }
func (m *Message) forget() (r Forget) { r.fields(m.reader()); return r }

func (m *Forget) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atRef, &m.Ref)
}

func (m Evict) message() (w Message) { m.fields(w.begin(KindEvict)); return w }
func (m *Message) evict() (r Evict)  { r.fields(m.reader()); return r }

func (m *Evict) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}

func (m DelReq) message() (w Message) { m.fields(w.begin(KindDelReq)); return w }
func (m *Message) delReq() (r DelReq) { r.fields(m.reader()); return r }

func (m *DelReq) fields(f fields) {
	f.id(&m.ID)
	f.u64(atRef, &m.Ref)
}

func (m Withdraw) message() (w Message)   { m.fields(w.begin(KindWithdraw)); return w }
func (m *Message) withdraw() (r Withdraw) { r.fields(m.reader()); return r }

func (m *Withdraw) fields(f fields) {
	f.id(&m.ID)
	f.u64(atToken, &m.Token)
}

func (m DropAck) message() (w Message)  { m.fields(w.begin(KindDropAck)); return w }
func (m *Message) dropAck() (r DropAck) { r.fields(m.reader()); return r }

func (m *DropAck) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}

func (m Watch) message() (w Message) { m.fields(w.begin(KindWatch)); return w }
func (m *Message) watch() (r Watch)  { r.fields(m.reader()); return r }

func (m *Watch) fields(f fields) {
	f.id(&m.ID)
	f.u64(atRef, &m.Ref)
	f.flag(flagOnce, &m.Once)
	f.flag(flagComplete, &m.Complete)
	f.i64(atSize, &m.Room)
}

func (m Unwatch) message() (w Message)  { m.fields(w.begin(KindUnwatch)); return w }
func (m *Message) unwatch() (r Unwatch) { r.fields(m.reader()); return r }

func (m *Unwatch) fields(f fields) {
	f.id(&m.ID)
	f.u64(atRef, &m.Ref)
}

func (m Register) message() (w Message)   { m.fields(w.begin(KindRegister)); return w }
func (m *Message) register() (r Register) { r.fields(m.reader()); return r }

func (m *Register) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.u64(atSum, &m.Sum)
	f.i64(atSize, &m.Size)
	f.rank(atRank, &m.Rank)
	f.u64(atCopy, &m.Copy)
	f.u64(atOwn, &m.Own)
	f.u64(atRef, &m.Ref)
	f.flag(flagComplete, &m.Complete)
	f.flag(flagOrigin, &m.Origin)
	f.flag(flagOnce, &m.Making)
	f.flag(flagPinned, &m.Pinned)
	f.flag(flagStale, &m.Orphan)
}

func (m Marker) message() (w Message) { m.fields(w.begin(KindMarker)); return w }
func (m *Message) marker() (r Marker) { r.fields(m.reader()); return r }

func (m *Marker) fields(f fields) { f.u64(atRef, &m.Shard) }

func (m RepAck) message() (w Message) { m.fields(w.begin(KindRepAck)); return w }
func (m *Message) repAck() (r RepAck) { r.fields(m.reader()); return r }

func (m *RepAck) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}
