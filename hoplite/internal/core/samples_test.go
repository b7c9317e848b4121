package core

// Values of fields: each differs from the others in its lowest and its highest byte.
const (
	vOp, vRank, vSlot         = 1<<24 | 1, 2<<24 | 2, 3<<24 | 3
	vSeq, vGen, vToken, vSum  = 5<<56 | 5, 6<<56 | 6, 7<<56 | 7, 8<<56 | 8
	vSize, vFrom, vOff        = 9<<56 | 9, 10<<56 | 10, 11<<56 | 11
	vRef, vCopy, vOwn, vShard = 12<<56 | 12, 13<<56 | 13, 14<<56 | 14, 15<<56 | 15
)

var (
	vStream = Stream{Owner: 16<<24 | 16, Reduce: 17<<56 | 17, Position: 18<<24 | 18, Attempt: 19<<24 | 19}
	vIns    = [2]In{{20<<24 | 20, 21<<24 | 21, 22<<24 | 22}, {NoRank, 23<<24 | 23, 24<<24 | 24}}
	vRanks  = [MaxRanks]Rank{25<<24 | 25, 26<<24 | 26, 27<<24 | 27}
	vData   = []byte{1, 2, 3}
)

// samples are all kinds of messages with all their fields set, and with each flag alone.
func samples() []sample {
	return []sample{
		{"PutReq", Message{Kind: PutReq, ID: "a", Token: vToken, Sum: vSum, Size: vSize, Flags: FlagComplete | FlagOnce, Data: vData}},
		{"PutReq complete", Message{Kind: PutReq, Flags: FlagComplete}},
		{"PutReq making", Message{Kind: PutReq, Flags: FlagOnce}},
		{"Done", Message{Kind: Done, ID: "a", Gen: vGen}},
		{"GetReq", Message{Kind: GetReq, ID: "a", Ref: vRef, Flags: FlagKeep}},
		{"Orphan", Message{Kind: Orphan, ID: "a", Gen: vGen, Rank: vRank, Copy: vCopy, From: vFrom, Ref: vRef, Flags: FlagStale}},
		{"Unwait", Message{Kind: Unwait, ID: "a"}},
		{"Forget", Message{Kind: Forget, ID: "a", Gen: vGen, Ref: vRef}},
		{"Evict", Message{Kind: Evict, ID: "a", Gen: vGen}},
		{"DelReq", Message{Kind: DelReq, ID: "a", Ref: vRef}},
		{"Withdraw", Message{Kind: Withdraw, ID: "a", Token: vToken}},
		{"DropAck", Message{Kind: DropAck, ID: "a", Gen: vGen}},
		{"Watch", Message{Kind: Watch, ID: "a", Ref: vRef, Size: vSize, Flags: FlagOnce | FlagComplete}},
		{"Watch once", Message{Kind: Watch, Flags: FlagOnce}},
		{"Watch complete", Message{Kind: Watch, Flags: FlagComplete}},
		{"Unwatch", Message{Kind: Unwatch, ID: "a", Ref: vRef}},
		{"Register", Message{
			Kind: Register, ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Rank: vRank, Copy: vCopy, Own: vOwn, Ref: vRef,
			Flags: FlagComplete | FlagOrigin | FlagPinned | FlagOnce | FlagStale,
		}},
		{"Register complete", Message{Kind: Register, Flags: FlagComplete}},
		{"Register origin", Message{Kind: Register, Flags: FlagOrigin}},
		{"Register pinned", Message{Kind: Register, Flags: FlagPinned}},
		{"Register making", Message{Kind: Register, Flags: FlagOnce}},
		{"Register orphan", Message{Kind: Register, Flags: FlagStale}},
		{"Marker", Message{Kind: Marker, Ref: vShard}},
		{"RepAck", Message{Kind: RepAck, ID: "a", Gen: vGen}},
		{"PutAck", Message{Kind: PutAck, Code: Exists, ID: "a", Gen: vGen, Token: vToken}},
		{"Assign", Message{
			Kind: Assign, ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Rank: vRank, Copy: vCopy, Ref: vRef, Flags: FlagOnce,
		}},
		{"Data", Message{Kind: Data, ID: "a", Gen: vGen, Sum: vSum, Size: vSize, Ref: vRef, Data: vData}},
		{"Fail", Message{Kind: Fail, Code: Lost, ID: "a", Gen: vGen, Ref: vRef}},
		{"EvictAck", Message{Kind: EvictAck, Code: Exists, ID: "a", Gen: vGen}},
		{"DelAck", Message{Kind: DelAck, ID: "a", Ref: vRef}},
		{"Drop", Message{Kind: Drop, Code: Restart, ID: "a", Gen: vGen}},
		{"Located", Message{
			Kind: Located, ID: "a", Gen: vGen, Token: vToken, Size: vSize, Ref: vRef, Flags: FlagLost | FlagComplete | FlagPinned,
			NumRanks: 3, NumComplete: 2, Ranks: vRanks, Data: vData,
		}},
		{"Located lost", Message{Kind: Located, Flags: FlagLost}},
		{"Located complete", Message{Kind: Located, Flags: FlagComplete}},
		{"Located inline", Message{Kind: Located, Flags: FlagPinned}},
		{"Rep", Message{Kind: Rep, ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Flags: FlagRemove | FlagComplete, Data: vData}},
		{"Rep removed", Message{Kind: Rep, Flags: FlagRemove}},
		{"Rep inline", Message{Kind: Rep, Flags: FlagComplete}},
		{"Pull", Message{
			Kind: Pull, ID: "a", Gen: vGen, Token: vToken, Stream: vStream, Slot: vSlot, Seq: vSeq, Size: vSize, From: vFrom, Off: vOff,
			Ref: vRank, Copy: vCopy,
		}},
		{"Cancel", Message{Kind: Cancel, Slot: vSlot, Seq: vSeq}},
		{"Stopped", Message{Kind: Stopped, Slot: vSlot, Seq: vSeq}},
		{"Job", Message{Kind: Job, ID: "a", Gen: vGen, Token: vToken, Size: vSize, Op: vOp, Stream: vStream, NumIns: 2, Ins: vIns}},
		{"Input", Message{Kind: Input, Stream: vStream, Slot: 1, NumIns: 1, Ins: [2]In{vIns[0]}}},
		{"JobFailed", Message{Kind: JobFailed, Code: Full, Stream: vStream}},
		{"JobEnd", Message{Kind: JobEnd, Stream: vStream}},
	}
}
