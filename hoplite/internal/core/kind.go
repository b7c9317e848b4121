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
	KindPutReq:    func(m *Message) any { return m.PutReq() },
	KindDone:      func(m *Message) any { return m.Done() },
	KindGetReq:    func(m *Message) any { return m.GetReq() },
	KindOrphan:    func(m *Message) any { return m.Orphan() },
	KindUnwait:    func(m *Message) any { return m.Unwait() },
	KindForget:    func(m *Message) any { return m.Forget() },
	KindEvict:     func(m *Message) any { return m.Evict() },
	KindDelReq:    func(m *Message) any { return m.DelReq() },
	KindWithdraw:  func(m *Message) any { return m.Withdraw() },
	KindDropAck:   func(m *Message) any { return m.DropAck() },
	KindWatch:     func(m *Message) any { return m.Watch() },
	KindUnwatch:   func(m *Message) any { return m.Unwatch() },
	KindRegister:  func(m *Message) any { return m.Register() },
	KindMarker:    func(m *Message) any { return m.Marker() },
	KindRepAck:    func(m *Message) any { return m.RepAck() },
	KindPutAck:    func(m *Message) any { return m.PutAck() },
	KindAssign:    func(m *Message) any { return m.Assign() },
	KindData:      func(m *Message) any { return m.Data() },
	KindFail:      func(m *Message) any { return m.Fail() },
	KindEvictAck:  func(m *Message) any { return m.EvictAck() },
	KindDelAck:    func(m *Message) any { return m.DelAck() },
	KindDrop:      func(m *Message) any { return m.Drop() },
	KindLocated:   func(m *Message) any { return m.Located() },
	KindRep:       func(m *Message) any { return m.Rep() },
	KindPull:      func(m *Message) any { return m.Pull() },
	KindCancel:    func(m *Message) any { return m.Cancel() },
	KindStopped:   func(m *Message) any { return m.Stopped() },
	KindJobReq:    func(m *Message) any { return m.JobReq() },
	KindInput:     func(m *Message) any { return m.Input() },
	KindJobFailed: func(m *Message) any { return m.JobFailed() },
	KindJobEnd:    func(m *Message) any { return m.JobEnd() },
}

// Each kind has two functions: its method Message returns a struct as a message, and the method of
// Message by the kind's name returns the struct of a message that is known to be of the kind.

// Message returns m as a message.
func (m PutReq) Message() (w Message) { m.fields(w.begin(KindPutReq)); return w }

// PutReq returns what m says as a PutReq.
func (m *Message) PutReq() (r PutReq) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Done) Message() (w Message) { m.fields(w.begin(KindDone)); return w }

// Done returns what m says as a Done.
func (m *Message) Done() (r Done) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m GetReq) Message() (w Message) { m.fields(w.begin(KindGetReq)); return w }

// GetReq returns what m says as a GetReq.
func (m *Message) GetReq() (r GetReq) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Orphan) Message() (w Message) { m.fields(w.begin(KindOrphan)); return w }

// Orphan returns what m says as an Orphan.
func (m *Message) Orphan() (r Orphan) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Unwait) Message() (w Message) { m.fields(w.begin(KindUnwait)); return w }

// Unwait returns what m says as an Unwait.
func (m *Message) Unwait() (r Unwait) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Forget) Message() (w Message) { m.fields(w.begin(KindForget)); return w }

// Forget returns what m says as a Forget.
func (m *Message) Forget() (r Forget) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Evict) Message() (w Message) { m.fields(w.begin(KindEvict)); return w }

// Evict returns what m says as an Evict.
func (m *Message) Evict() (r Evict) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m DelReq) Message() (w Message) { m.fields(w.begin(KindDelReq)); return w }

// DelReq returns what m says as a DelReq.
func (m *Message) DelReq() (r DelReq) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Withdraw) Message() (w Message) { m.fields(w.begin(KindWithdraw)); return w }

// Withdraw returns what m says as a Withdraw.
func (m *Message) Withdraw() (r Withdraw) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m DropAck) Message() (w Message) { m.fields(w.begin(KindDropAck)); return w }

// DropAck returns what m says as a DropAck.
func (m *Message) DropAck() (r DropAck) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Watch) Message() (w Message) { m.fields(w.begin(KindWatch)); return w }

// Watch returns what m says as a Watch.
func (m *Message) Watch() (r Watch) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Unwatch) Message() (w Message) { m.fields(w.begin(KindUnwatch)); return w }

// Unwatch returns what m says as an Unwatch.
func (m *Message) Unwatch() (r Unwatch) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Register) Message() (w Message) { m.fields(w.begin(KindRegister)); return w }

// Register returns what m says as a Register.
func (m *Message) Register() (r Register) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Marker) Message() (w Message) { m.fields(w.begin(KindMarker)); return w }

// Marker returns what m says as a Marker.
func (m *Message) Marker() (r Marker) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m RepAck) Message() (w Message) { m.fields(w.begin(KindRepAck)); return w }

// RepAck returns what m says as a RepAck.
func (m *Message) RepAck() (r RepAck) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m PutAck) Message() (w Message) { m.fields(w.begin(KindPutAck)); return w }

// PutAck returns what m says as a PutAck.
func (m *Message) PutAck() (r PutAck) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Assign) Message() (w Message) { m.fields(w.begin(KindAssign)); return w }

// Assign returns what m says as an Assign.
func (m *Message) Assign() (r Assign) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Data) Message() (w Message) { m.fields(w.begin(KindData)); return w }

// Data returns what m says as a Data.
func (m *Message) Data() (r Data) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Fail) Message() (w Message) { m.fields(w.begin(KindFail)); return w }

// Fail returns what m says as a Fail.
func (m *Message) Fail() (r Fail) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m EvictAck) Message() (w Message) { m.fields(w.begin(KindEvictAck)); return w }

// EvictAck returns what m says as an EvictAck.
func (m *Message) EvictAck() (r EvictAck) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m DelAck) Message() (w Message) { m.fields(w.begin(KindDelAck)); return w }

// DelAck returns what m says as a DelAck.
func (m *Message) DelAck() (r DelAck) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Drop) Message() (w Message) { m.fields(w.begin(KindDrop)); return w }

// Drop returns what m says as a Drop.
func (m *Message) Drop() (r Drop) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Located) Message() (w Message) { m.fields(w.begin(KindLocated)); return w }

// Located returns what m says as a Located.
func (m *Message) Located() (r Located) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Rep) Message() (w Message) { m.fields(w.begin(KindRep)); return w }

// Rep returns what m says as a Rep.
func (m *Message) Rep() (r Rep) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Pull) Message() (w Message) { m.fields(w.begin(KindPull)); return w }

// Pull returns what m says as a Pull.
func (m *Message) Pull() (r Pull) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Cancel) Message() (w Message) { m.fields(w.begin(KindCancel)); return w }

// Cancel returns what m says as a Cancel.
func (m *Message) Cancel() (r Cancel) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Stopped) Message() (w Message) { m.fields(w.begin(KindStopped)); return w }

// Stopped returns what m says as a Stopped.
func (m *Message) Stopped() (r Stopped) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m JobReq) Message() (w Message) { m.fields(w.begin(KindJobReq)); return w }

// JobReq returns what m says as a JobReq.
func (m *Message) JobReq() (r JobReq) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m Input) Message() (w Message) { m.fields(w.begin(KindInput)); return w }

// Input returns what m says as an Input.
func (m *Message) Input() (r Input) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m JobFailed) Message() (w Message) { m.fields(w.begin(KindJobFailed)); return w }

// JobFailed returns what m says as a JobFailed.
func (m *Message) JobFailed() (r JobFailed) { r.fields(m.reader()); return r }

// Message returns m as a message.
func (m JobEnd) Message() (w Message) { m.fields(w.begin(KindJobEnd)); return w }

// JobEnd returns what m says as a JobEnd.
func (m *Message) JobEnd() (r JobEnd) { r.fields(m.reader()); return r }
