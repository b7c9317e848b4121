package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// chunks is where chunks from to to-1 of n elements lie that are cut into so many
// parts as schedule.Chunk cuts them. The first of as many chunks are the longest.
func chunks(n, parts, from, to int) schedule.Range {
	first, end := schedule.Chunk(n, parts, from).Off, schedule.Chunk(n, parts, to).Off
	return schedule.Range{Off: first, Len: end - first}
}

// eachScratch is count times n elements of scratch. In a pipeline each stays where it
// is although segments differ in length, unlike parts of one piece: so what a peer
// wrote only that peer overwrites.
func eachScratch(b *schedule.Builder, count, n int) []schedule.Memory {
	all := make([]schedule.Memory, count)
	for i := range all {
		all[i] = b.Scratch(n)
	}
	return all
}
