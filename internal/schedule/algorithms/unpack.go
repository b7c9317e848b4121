package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// unpacked is how many blocks are awaited in a row before they are copied. To enter and leave a wait takes a rank that
// shares its core as long as the copies of some short blocks.
const unpacked = 4

// unpack awaits what each peer has put apart, behind which it posts slot data plus its number, and copies it from where it
// arrives to its place.
func unpack(b *schedule.Builder, p, data int, places func(r int) (to, from schedule.Region)) {
	me := b.Rank()
	for first := 1; first < p; first += unpacked {
		end := min(first+unpacked, p)
		for d := first; d < end; d++ {
			r := mod(me+d, p)
			_, from := places(r)
			b.AwaitApart(r, data+r, from)
		}
		for d := first; d < end; d++ {
			b.Copy(places(mod(me+d, p)))
		}
	}
}
