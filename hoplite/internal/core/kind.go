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
