package core

// Messages from the shard of an object.

// A PutAck says that the object exists with generation Gen, or by Code why it does not.
type PutAck struct {
	Code       Code
	ID         string
	Gen, Token uint64
}

// An Assign says from which rank to fetch an object.
type Assign struct {
	ID              string
	Gen, Token, Sum uint64
	Size            int64
	// Rank is the source, and Copy names the copy that it has.
	Rank Rank
	Copy uint64
	Ref  uint64
	// Making says that a Reduce is making the object.
	Making bool
}

// A Data has the bytes of an object.
type Data struct {
	ID       string
	Gen, Sum uint64
	Size     int64
	Ref      uint64
	Data     []byte
}

// A Fail says that the object will not come.
type Fail struct {
	Code     Code
	ID       string
	Gen, Ref uint64
}

// An EvictAck says OK to an Evict, or Exists if the copy is the last one and is to be kept.
type EvictAck struct {
	Code Code
	ID   string
	Gen  uint64
}

// A DelAck says that the object is deleted everywhere.
type DelAck struct {
	ID  string
	Ref uint64
}

// A Drop tells a rank to give up its copy.
type Drop struct {
	Code Code
	ID   string
	Gen  uint64
}

// A Located says that an object exists, and where.
type Located struct {
	ID         string
	Gen, Token uint64
	Size       int64
	Ref        uint64
	// Lost says that no copy is left, Complete that there is a complete one.
	Lost, Complete bool
	// Inline says that Data has the bytes, even if there are none.
	Inline bool
	Data   []byte
	// Ranks are locations, the first NumRanks of them; the first NumComplete are complete.
	NumRanks, NumComplete uint8
	Ranks                 [MaxRanks]Rank
}

// A Rep asks the replica of the shard to record an entry.
type Rep struct {
	ID              string
	Gen, Token, Sum uint64
	Size            int64
	// Removed says that the entry is gone, Inline that Data is the object.
	Removed, Inline bool
	Data            []byte
}

func (m PutAck) message() (w Message) { m.fields(w.begin(KindPutAck)); return w }
func (m *Message) putAck() (r PutAck) { r.fields(m.reader()); return r }

func (m *PutAck) fields(f fields) {
	f.code(&m.Code)
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
}

func (m Assign) message() (w Message) { m.fields(w.begin(KindAssign)); return w }
func (m *Message) assign() (r Assign) { r.fields(m.reader()); return r }

func (m *Assign) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.u64(atSum, &m.Sum)
	f.i64(atSize, &m.Size)
	f.rank(atRank, &m.Rank)
	f.u64(atCopy, &m.Copy)
	f.u64(atRef, &m.Ref)
	f.flag(flagOnce, &m.Making)
}

func (m Data) message() (w Message) { m.fields(w.begin(KindData)); return w }
func (m *Message) data() (r Data)   { r.fields(m.reader()); return r }

func (m *Data) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atSum, &m.Sum)
	f.i64(atSize, &m.Size)
	f.u64(atRef, &m.Ref)
	f.payload(&m.Data)
}

func (m Fail) message() (w Message) { m.fields(w.begin(KindFail)); return w }
func (m *Message) fail() (r Fail)   { r.fields(m.reader()); return r }

func (m *Fail) fields(f fields) {
	f.code(&m.Code)
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atRef, &m.Ref)
}

func (m EvictAck) message() (w Message)   { m.fields(w.begin(KindEvictAck)); return w }
func (m *Message) evictAck() (r EvictAck) { r.fields(m.reader()); return r }

func (m *EvictAck) fields(f fields) {
	f.code(&m.Code)
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}

func (m DelAck) message() (w Message) { m.fields(w.begin(KindDelAck)); return w }
func (m *Message) delAck() (r DelAck) { r.fields(m.reader()); return r }

func (m *DelAck) fields(f fields) {
	f.id(&m.ID)
	f.u64(atRef, &m.Ref)
}

func (m Drop) message() (w Message) { m.fields(w.begin(KindDrop)); return w }
func (m *Message) drop() (r Drop)   { r.fields(m.reader()); return r }

func (m *Drop) fields(f fields) {
	f.code(&m.Code)
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
}

func (m Located) message() (w Message)  { m.fields(w.begin(KindLocated)); return w }
func (m *Message) located() (r Located) { r.fields(m.reader()); return r }

func (m *Located) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.i64(atSize, &m.Size)
	f.u64(atRef, &m.Ref)
	f.flag(flagLost, &m.Lost)
	f.flag(flagComplete, &m.Complete)
	f.flag(flagPinned, &m.Inline)
	f.payload(&m.Data)
	f.u8(atNumRanks, &m.NumRanks)
	f.u8(atNumComplete, &m.NumComplete)
	for i := range m.Ranks {
		f.rank(atRanks+4*i, &m.Ranks[i])
	}
}

func (m Rep) message() (w Message) { m.fields(w.begin(KindRep)); return w }
func (m *Message) rep() (r Rep)    { r.fields(m.reader()); return r }

func (m *Rep) fields(f fields) {
	f.id(&m.ID)
	f.u64(atGen, &m.Gen)
	f.u64(atToken, &m.Token)
	f.u64(atSum, &m.Sum)
	f.i64(atSize, &m.Size)
	f.flag(flagRemove, &m.Removed)
	f.flag(flagComplete, &m.Inline)
	f.payload(&m.Data)
}
