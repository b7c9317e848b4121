package core

// A Kind is what a message asks or says.
type Kind uint8

// Messages to the directory, from it, between stores, and of reductions. Each has a struct of
// the same name, without Kind, which says what the message means.
const (
	KindNone Kind = iota

	// To the shard of an object.
	KindPutReq
	KindDone
	KindGetReq
	KindOrphan
	KindUnwait
	KindForget
	KindEvict
	KindDelReq
	KindWithdraw
	KindDropAck
	KindWatch
	KindUnwatch
	KindRegister
	KindMarker
	KindRepAck

	// From the shard of an object.
	KindPutAck
	KindAssign
	KindData
	KindFail
	KindEvictAck
	KindDelAck
	KindDrop
	KindLocated
	KindRep

	// Between stores.
	KindPull
	KindCancel
	KindStopped

	// Of reductions: caller to the ranks of its sources, and back.
	KindJobReq
	KindInput
	KindJobFailed
	KindJobEnd

	// Between stores of ranks that share memory.
	KindLent

	kinds // their number
)

// Unpack returns the struct of the message's kind, to be printed.
func (m *Message) Unpack() any {
	if k := m.Kind(); int(k) < len(unpacked) && unpacked[k] != nil {
		return unpacked[k](m)
	}
	return nil
}

// unpacked reads each kind of message.
var unpacked = [...]func(m *Message) any{
	KindPutReq:    func(m *Message) any { return m.putReq() },
	KindDone:      func(m *Message) any { return m.done() },
	KindGetReq:    func(m *Message) any { return m.getReq() },
	KindOrphan:    func(m *Message) any { return m.orphan() },
	KindUnwait:    func(m *Message) any { return m.unwait() },
	KindForget:    func(m *Message) any { return m.forget() },
	KindEvict:     func(m *Message) any { return m.evict() },
	KindDelReq:    func(m *Message) any { return m.delReq() },
	KindWithdraw:  func(m *Message) any { return m.withdraw() },
	KindDropAck:   func(m *Message) any { return m.dropAck() },
	KindWatch:     func(m *Message) any { return m.watch() },
	KindUnwatch:   func(m *Message) any { return m.unwatch() },
	KindRegister:  func(m *Message) any { return m.register() },
	KindMarker:    func(m *Message) any { return m.marker() },
	KindRepAck:    func(m *Message) any { return m.repAck() },
	KindPutAck:    func(m *Message) any { return m.putAck() },
	KindAssign:    func(m *Message) any { return m.assign() },
	KindData:      func(m *Message) any { return m.data() },
	KindFail:      func(m *Message) any { return m.fail() },
	KindEvictAck:  func(m *Message) any { return m.evictAck() },
	KindDelAck:    func(m *Message) any { return m.delAck() },
	KindDrop:      func(m *Message) any { return m.drop() },
	KindLocated:   func(m *Message) any { return m.located() },
	KindRep:       func(m *Message) any { return m.rep() },
	KindPull:      func(m *Message) any { return m.Pull() },
	KindCancel:    func(m *Message) any { return m.cancel() },
	KindStopped:   func(m *Message) any { return m.Stopped() },
	KindJobReq:    func(m *Message) any { return m.jobReq() },
	KindInput:     func(m *Message) any { return m.input() },
	KindJobFailed: func(m *Message) any { return m.jobFailed() },
	KindJobEnd:    func(m *Message) any { return m.jobEnd() },
	KindLent:      func(m *Message) any { return m.lent() },
}

// Each kind has two functions: its method message returns a struct as a message, and the method of
// Message by the kind's name returns the struct of a message that is known to be of the kind. A
// function that package hoplite calls is exported.

// Pull returns what m says as a Pull.
func (m *Message) Pull() (r Pull) { r.fields(m.reader()); return r }

// Stopped returns what m says as a Stopped.
func (m *Message) Stopped() (r Stopped) { r.fields(m.reader()); return r }

func (m PutReq) message() (w Message)    { m.fields(w.begin(KindPutReq)); return w }
func (m Done) message() (w Message)      { m.fields(w.begin(KindDone)); return w }
func (m GetReq) message() (w Message)    { m.fields(w.begin(KindGetReq)); return w }
func (m Orphan) message() (w Message)    { m.fields(w.begin(KindOrphan)); return w }
func (m Unwait) message() (w Message)    { m.fields(w.begin(KindUnwait)); return w }
func (m Forget) message() (w Message)    { m.fields(w.begin(KindForget)); return w }
func (m Evict) message() (w Message)     { m.fields(w.begin(KindEvict)); return w }
func (m DelReq) message() (w Message)    { m.fields(w.begin(KindDelReq)); return w }
func (m Withdraw) message() (w Message)  { m.fields(w.begin(KindWithdraw)); return w }
func (m DropAck) message() (w Message)   { m.fields(w.begin(KindDropAck)); return w }
func (m Watch) message() (w Message)     { m.fields(w.begin(KindWatch)); return w }
func (m Unwatch) message() (w Message)   { m.fields(w.begin(KindUnwatch)); return w }
func (m Register) message() (w Message)  { m.fields(w.begin(KindRegister)); return w }
func (m Marker) message() (w Message)    { m.fields(w.begin(KindMarker)); return w }
func (m RepAck) message() (w Message)    { m.fields(w.begin(KindRepAck)); return w }
func (m PutAck) message() (w Message)    { m.fields(w.begin(KindPutAck)); return w }
func (m Assign) message() (w Message)    { m.fields(w.begin(KindAssign)); return w }
func (m Data) message() (w Message)      { m.fields(w.begin(KindData)); return w }
func (m Fail) message() (w Message)      { m.fields(w.begin(KindFail)); return w }
func (m EvictAck) message() (w Message)  { m.fields(w.begin(KindEvictAck)); return w }
func (m DelAck) message() (w Message)    { m.fields(w.begin(KindDelAck)); return w }
func (m Drop) message() (w Message)      { m.fields(w.begin(KindDrop)); return w }
func (m Located) message() (w Message)   { m.fields(w.begin(KindLocated)); return w }
func (m Rep) message() (w Message)       { m.fields(w.begin(KindRep)); return w }
func (m Pull) message() (w Message)      { m.fields(w.begin(KindPull)); return w }
func (m Cancel) message() (w Message)    { m.fields(w.begin(KindCancel)); return w }
func (m Stopped) message() (w Message)   { m.fields(w.begin(KindStopped)); return w }
func (m JobReq) message() (w Message)    { m.fields(w.begin(KindJobReq)); return w }
func (m Input) message() (w Message)     { m.fields(w.begin(KindInput)); return w }
func (m JobFailed) message() (w Message) { m.fields(w.begin(KindJobFailed)); return w }
func (m JobEnd) message() (w Message)    { m.fields(w.begin(KindJobEnd)); return w }
func (m Lent) message() (w Message)      { m.fields(w.begin(KindLent)); return w }

func (m *Message) putReq() (r PutReq)       { r.fields(m.reader()); return r }
func (m *Message) done() (r Done)           { r.fields(m.reader()); return r }
func (m *Message) getReq() (r GetReq)       { r.fields(m.reader()); return r }
func (m *Message) orphan() (r Orphan)       { r.fields(m.reader()); return r }
func (m *Message) unwait() (r Unwait)       { r.fields(m.reader()); return r }
func (m *Message) forget() (r Forget)       { r.fields(m.reader()); return r }
func (m *Message) evict() (r Evict)         { r.fields(m.reader()); return r }
func (m *Message) delReq() (r DelReq)       { r.fields(m.reader()); return r }
func (m *Message) withdraw() (r Withdraw)   { r.fields(m.reader()); return r }
func (m *Message) dropAck() (r DropAck)     { r.fields(m.reader()); return r }
func (m *Message) watch() (r Watch)         { r.fields(m.reader()); return r }
func (m *Message) unwatch() (r Unwatch)     { r.fields(m.reader()); return r }
func (m *Message) register() (r Register)   { r.fields(m.reader()); return r }
func (m *Message) marker() (r Marker)       { r.fields(m.reader()); return r }
func (m *Message) repAck() (r RepAck)       { r.fields(m.reader()); return r }
func (m *Message) putAck() (r PutAck)       { r.fields(m.reader()); return r }
func (m *Message) assign() (r Assign)       { r.fields(m.reader()); return r }
func (m *Message) data() (r Data)           { r.fields(m.reader()); return r }
func (m *Message) fail() (r Fail)           { r.fields(m.reader()); return r }
func (m *Message) evictAck() (r EvictAck)   { r.fields(m.reader()); return r }
func (m *Message) delAck() (r DelAck)       { r.fields(m.reader()); return r }
func (m *Message) drop() (r Drop)           { r.fields(m.reader()); return r }
func (m *Message) located() (r Located)     { r.fields(m.reader()); return r }
func (m *Message) rep() (r Rep)             { r.fields(m.reader()); return r }
func (m *Message) cancel() (r Cancel)       { r.fields(m.reader()); return r }
func (m *Message) jobReq() (r JobReq)       { r.fields(m.reader()); return r }
func (m *Message) input() (r Input)         { r.fields(m.reader()); return r }
func (m *Message) jobFailed() (r JobFailed) { r.fields(m.reader()); return r }
func (m *Message) jobEnd() (r JobEnd)       { r.fields(m.reader()); return r }
func (m *Message) lent() (r Lent)           { r.fields(m.reader()); return r }
