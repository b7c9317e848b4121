package collectives

// PretendHosts makes a team take its members for ranks of several hosts: member i is
// on host nodes[i].
func PretendHosts(t *Team, nodes []int) { t.nodes, t.one = nodes, false }
