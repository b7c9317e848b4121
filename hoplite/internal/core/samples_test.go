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
		of("PutReq", PutReq{ID: "a", Token: vToken, Sum: vSum, Size: vSize, Complete: true, Making: true, Data: vData}),
		of("PutReq complete", PutReq{Complete: true}),
		of("PutReq making", PutReq{Making: true}),
		of("Done", Done{ID: "a", Gen: vGen}),
		of("GetReq", GetReq{ID: "a", Ref: vRef, Keep: true}),
		of("Orphan", Orphan{ID: "a", Gen: vGen, Rank: vRank, Copy: vCopy, Dead: true, From: vFrom, Ref: vRef}),
		of("Unwait", Unwait{ID: "a"}),
		of("Forget", Forget{ID: "a", Gen: vGen, Ref: vRef}),
		of("Evict", Evict{ID: "a", Gen: vGen}),
		of("DelReq", DelReq{ID: "a", Ref: vRef}),
		of("Withdraw", Withdraw{ID: "a", Token: vToken}),
		of("DropAck", DropAck{ID: "a", Gen: vGen}),
		of("Watch", Watch{ID: "a", Ref: vRef, Room: vSize, Once: true, Complete: true}),
		of("Watch once", Watch{Once: true}),
		of("Watch complete", Watch{Complete: true}),
		of("Unwatch", Unwatch{ID: "a", Ref: vRef}),
		of("Register", Register{
			ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Rank: vRank, Copy: vCopy, Own: vOwn, Ref: vRef,
			Complete: true, Origin: true, Making: true, Pinned: true, Orphan: true,
		}),
		of("Register complete", Register{Complete: true}),
		of("Register origin", Register{Origin: true}),
		of("Register pinned", Register{Pinned: true}),
		of("Register making", Register{Making: true}),
		of("Register orphan", Register{Orphan: true}),
		of("Marker", Marker{Shard: vShard}),
		of("RepAck", RepAck{ID: "a", Gen: vGen}),
		of("PutAck", PutAck{Code: Exists, ID: "a", Gen: vGen, Token: vToken}),
		of("Assign", Assign{
			ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Rank: vRank, Copy: vCopy, Ref: vRef, Making: true,
		}),
		of("Data", Data{ID: "a", Gen: vGen, Sum: vSum, Size: vSize, Ref: vRef, Data: vData}),
		of("Fail", Fail{Code: Lost, ID: "a", Gen: vGen, Ref: vRef}),
		of("EvictAck", EvictAck{Code: Exists, ID: "a", Gen: vGen}),
		of("DelAck", DelAck{ID: "a", Ref: vRef}),
		of("Drop", Drop{Code: Restart, ID: "a", Gen: vGen}),
		of("Located", Located{
			ID: "a", Gen: vGen, Token: vToken, Size: vSize, Ref: vRef, Lost: true, Complete: true, Inline: true,
			NumRanks: 3, NumComplete: 2, Ranks: vRanks, Data: vData,
		}),
		of("Located lost", Located{Lost: true}),
		of("Located complete", Located{Complete: true}),
		of("Located inline", Located{Inline: true}),
		of("Rep", Rep{ID: "a", Gen: vGen, Token: vToken, Sum: vSum, Size: vSize, Removed: true, Inline: true, Data: vData}),
		of("Rep removed", Rep{Removed: true}),
		of("Rep inline", Rep{Inline: true}),
		of("Pull", Pull{
			ID: "a", Gen: vGen, Token: vToken, Stream: vStream, Slot: vSlot, Seq: vSeq, Size: vSize, From: vFrom, Off: vOff,
			Directory: vRank, Copy: vCopy, Lend: true, Borrow: true,
		}),
		of("Pull lend", Pull{Lend: true}),
		of("Pull borrow", Pull{Borrow: true}),
		of("Cancel", Cancel{Slot: vSlot, Seq: vSeq}),
		of("Stopped", Stopped{Slot: vSlot, Seq: vSeq}),
		of("JobReq", JobReq{ID: "a", Gen: vGen, Token: vToken, Size: vSize, Op: vOp, Stream: vStream, NumIns: 2, Ins: vIns}),
		of("Input", Input{Stream: vStream, Index: 1, In: vIns[0]}),
		of("JobFailed", JobFailed{Code: Full, Stream: vStream}),
		of("JobEnd", JobEnd{Stream: vStream}),
		of("Lent", Lent{Slot: vSlot, Seq: vSeq, Off: vOff, Written: vFrom}),
		of("Share", Share{Ref: vRef, Op: vOp, Off: vOff, Size: vSize, From: vData, Twice: true, Also: vFrom, Slot: vSlot, Seq: vSeq}),
		of("Shared", Shared{Ref: vRef, Code: Gone}),
	}
}
