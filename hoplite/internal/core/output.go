package core

// A Send is a message on its way out.
type Send struct {
	// To may be the rank itself: the runner hands such a message straight back.
	To  Rank
	Msg Message
	// Attach says that the runner is to fill Msg.Data with Len bytes of the store at
	// Off, before it does anything else.
	Attach   bool
	Off, Len int64
	// After is how many commands of the same Drain are to be done before. The message may report what they did.
	After int
}

// A CommandKind is what a Command asks of the runner.
type CommandKind uint8

const (
	// OpFill asks for the bytes of a Put: copy them to [Off, Off+Len) and report
	// with Filled, in as many parts as is useful.
	OpFill CommandKind = iota
	// OpPut asks to write [Src, Src+Len) of the store to [Off, Off+Len) of Peer's store
	// and then to set the word of Slot there to Watermark. Report with Sent once the
	// bytes have landed.
	OpPut
	// OpFold asks to combine: [Off, Off+Len) of Peer's store becomes the combination of Len bytes at each of From,
	// two or more, of which only the first may be those at Off of this rank. If Twice is set, Len bytes at Also
	// become the same.
	OpFold
	// OpCopy asks to copy [Src, Src+Len) of Peer's store to [Off, Off+Len). Whole is the size of the
	// object that is copied, 0 if it is an input.
	OpCopy
	// OpStore asks to copy Data to Off.
	OpStore
	// OpFoldData asks to combine: [Off, Off+Len) becomes itself op Data.
	OpFoldData
	// OpTell asks to set the word of Slot at Peer to Watermark, which was Off before.
	OpTell
	// OpReport asks to report Transfer with Sent. If a command since the last one could not read
	// the store of a rank, that is not reported: the rank is about to be known as dead.
	OpReport
)

// An Operand is bytes from Off on of the store of Rank.
type Operand struct {
	Rank Rank
	Off  int64
}

// A Command is work on bytes. Commands are done in the order in which they are
// given; OpFold, OpCopy, OpStore and OpFoldData are done at once, as the next command
// may build on them.
type Command struct {
	Op   CommandKind
	Call CallID // OpFill: the Put
	// Src, Off and Len are bytes of stores.
	Src, Off, Len int64
	Whole         int64
	// From are the operands of an OpFold.
	From  []Operand
	Twice bool
	Also  Operand
	// Slot, Seq and Watermark belong to OpPut and OpTell. Transfer is what Sent is told. Peer is
	// the rank that is written to, or whose store Src is in.
	Peer      Rank
	Slot      uint32
	Seq       uint64
	Watermark int64
	Transfer  uint64
	// Fold is the runner's number of the operation.
	Fold uint32
	Data []byte
}

// A CallResult ends a call, or is one of several answers of Locate.
type CallResult struct {
	Call CallID
	Code Code
	// Final says that no other result of this call follows.
	Final bool
	// ID is the object that a Wait or Locate is about, or the one that failed a Reduce.
	ID string
	// Size is the size of the object in bytes. If Held is set, Off is its offset in the store of At,
	// where it stays until Release(Ref). Otherwise Data has its bytes.
	Size, Off int64
	Held      bool
	At        Rank
	Ref       uint64
	Data      []byte
	// Used are the sources of a Reduce, as indices, in increasing order.
	Used []int
	// Ranks hold the object, the first Complete of them all of it.
	Ranks    []Rank
	Complete int
}

// Output is what a Core wants to be done, each list in order.
type Output struct {
	Commands []Command
	Sends    []Send
	Results  []CallResult
}

// Drain moves what the core wants into out, and takes the slices that were there to fill
// them next: what an earlier Drain returned is not valid any more. Call it after each call
// or event, or after several.
func (c *Core) Drain(out *Output) {
	clear(out.Commands)
	clear(out.Sends)
	clear(out.Results)
	*out, c.out = c.out, Output{Commands: out.Commands[:0], Sends: out.Sends[:0], Results: out.Results[:0]}
}

func (c *Core) send(to Rank, m Message) {
	if to == NoRank || c.dead[to] {
		return
	}
	c.post(Send{To: to, Msg: m})
}

func (c *Core) post(s Send) {
	s.After = len(c.out.Commands)
	c.out.Sends = append(c.out.Sends, s)
}

func (c *Core) command(cmd Command) { c.out.Commands = append(c.out.Commands, cmd) }

// result ends a call. It drops the result of a call that was canceled.
func (c *Core) result(r CallResult) {
	if c.calls[r.Call] == nil {
		return
	}
	r.Final = true
	delete(c.calls, r.Call)
	c.out.Results = append(c.out.Results, r)
}
