package core

// A Kind is what a message asks or says.
type Kind uint8

// Messages to the directory, from it, between stores, and of reductions. Each has a struct of
// the same name, without Kind, which says what the message means, and two functions: its method
// message returns a struct as a message, and the method of Message by the kind's name returns the
// struct of a message that is known to be of the kind. A function that package hoplite calls is
// exported.
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
	KindShare
	KindShared

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
	KindShare:     func(m *Message) any { return m.share() },
	KindShared:    func(m *Message) any { return m.shared() },
}
