package collectives

import "time"

// PretendHosts makes a team take its members for ranks of several hosts: member i is
// on host nodes[i].
func PretendHosts(t *Team, nodes []int) { t.nodes, t.one = nodes, false }

// WaitPatiently makes a team not look for the reason of a wait, however long that takes:
// on a busy machine some take long, and the look allocates.
func WaitPatiently(t *Team) { t.stall = time.Hour }
