package torture

// Mutants returns the names of all mutants, each with its family in front. With one of
// them as Options.Mutant a job must fail, in that family.
func Mutants() []string {
	return []string{
		"memory/flag before data",             // a notification without its data
		"memory/byte not read",                // a byte of a read is wrong
		"anew/wrong word",                     // what a member wrote to a segment is another word
		"recreate/straggler",                  // what was sent to a deleted segment is in the next
		"recreate/addition lost",              // an addition returned nil and was not applied, as seen from the sum
		"atomics/stale answer",                // an answer older than what was seen
		"atomics/done twice",                  // an atomic is done twice
		"atomics/error although done",         // an error says that it was not done
		"passive/torn",                        // a message with a wrong byte
		"passive/lost",                        // a message that was sent does not come
		"passive/received although withdrawn", // a send returns an error, and the message comes
		"notifications/handed out twice",      // two goroutines get one value
		"notifications/added twice",           // an addition counts twice
		"groups/wrong sum",                    // a small reduction with a wrong element
		"groups/counted too late",             // a barrier ends before all have come
		"collectives/wrong element",           // one element of a result is wrong
		"vforms/wrong element",                // likewise
		"forced/wrong element",                // likewise
		"teams/wrong sum",                     // one element of a sum over a team is wrong
		"stale/wrong sum",                     // a result is not the sum of its contributions
		"stale/too old",                       // a contribution is older than the slack allows
		"stale/wrong clock",                   // Oldest is not that of the oldest contribution
		"objects/other bytes",                 // a get returns other bytes
		"objects/not deleted",                 // an object is there after its delete
		"refusals/accepted",                   // a call that makes no sense returns nil
		"edges/accepted",                      // likewise
		"groups/" + mutantHang,                // a rank does not come to the end of a round
		"groups/" + mutantSegment,             // a segment is left behind
	}
}

// Mutants of the harness, for any family.
const (
	mutantHang    = "hang"
	mutantSegment = "segment left"
)
