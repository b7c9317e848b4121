package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// chunks is where chunks from to to-1 of n elements lie that are cut into so many
// parts as schedule.Chunk cuts them. The first of as many chunks are the longest.
func chunks(n, parts, from, to int) schedule.Range {
	first, end := schedule.Chunk(n, parts, from).Off, schedule.Chunk(n, parts, to).Off
	return schedule.Range{Off: first, Len: end - first}
}
