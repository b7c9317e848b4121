package pmi

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// mappingKey is the key of a value of the manager: which rank is on which host.
const mappingKey = "PMI_process_mapping"

// A Location says on which host a rank is, its number there, and how many ranks are there.
type Location struct{ Host, LocalRank, LocalSize int }

// Locate asks the manager where a rank of size is. It fails if the manager does not say it.
func (p *V1) Locate(ctx context.Context, rank, size int) (Location, error) {
	text, err := p.Get(ctx, mappingKey)
	if err != nil {
		return Location{}, err
	}
	blocks, err := parseMapping(text)
	if err != nil {
		return Location{}, err
	}
	return locate(blocks, rank, size), nil
}

// A hostBlock says that each of some hosts takes so many ranks.
type hostBlock struct{ first, hosts, ranks int }

// parseMapping reads PMI's "(vector,(0,2,4),(2,1,1))": hosts 0 and 1 take four ranks each,
// and then host 2 takes one.
func parseMapping(text string) ([]hostBlock, error) {
	wrong := fmt.Errorf("%s is %.80q; expected a vector such as (vector,(0,2,4))", mappingKey, text)
	inside, ok := strings.CutPrefix(strings.TrimSpace(text), "(vector,(")
	inside, end := strings.CutSuffix(inside, "))")
	if !ok || !end {
		return nil, wrong
	}
	var out []hostBlock
	for part := range strings.SplitSeq(inside, "),(") {
		fields := strings.Split(part, ",")
		if len(fields) != 3 {
			return nil, wrong
		}
		var n [3]int
		for i, field := range fields {
			var err error
			if n[i], err = strconv.Atoi(field); err != nil || n[i] < min(i, 1) || n[i] > manyProcesses {
				return nil, wrong
			}
		}
		out = append(out, hostBlock{n[0], n[1], n[2]})
	}
	return out, nil
}

// locate returns where a rank of size is. The blocks are filled again and again, in order, until
// all ranks have a host.
func locate(blocks []hostBlock, rank, size int) Location {
	hosts := make([]int, 0, size) // index is the rank
	for len(hosts) < size {
		for _, b := range blocks {
			for h := 0; h < b.hosts && len(hosts) < size; h++ {
				for r := 0; r < b.ranks && len(hosts) < size; r++ {
					hosts = append(hosts, b.first+h)
				}
			}
		}
	}
	at := Location{Host: hosts[rank]}
	for r, h := range hosts {
		if h == at.Host && r < rank {
			at.LocalRank++
		}
		if h == at.Host {
			at.LocalSize++
		}
	}
	return at
}
