package schedule

import "testing"

// fetch reads a peer's In and stores it in the own Out, as much of it as there is.
func fetch(b *Builder, c *Call) {
	me, peer := b.Rank(), (b.Rank()+1)%c.Size
	n := min(c.OutLen(me), c.InLen(peer))
	b.Copy(b.Out(me, 0, n), b.In(peer, 0, n))
}

func TestStage(t *testing.T) {
	for _, c := range []struct {
		name string
		call Call
		rank int
		emit Emitter
		want string
	}{
		{"in and out are copies", Call{Op: AllReduce, Count: 5}, 0, Stage(1, fetch),
			"copy scratch[0:5] = in[0:5]; copy scratch[8:13] = 1:scratch[0:5]; copy out[0:5] = scratch[8:13]"},
		{"in place they are two copies", Call{Op: AllReduce, Count: 5, InPlace: true}, 0, Stage(1, fetch),
			"copy scratch[0:5] = out[0:5]; copy scratch[8:13] = 1:scratch[0:5]; copy out[0:5] = scratch[8:13]"},
		{"a broadcast is one copy, the root's", Call{Op: Broadcast, Count: 5, Root: 1}, 1, Stage(1, fetch),
			"copy scratch[0:5] = out[0:5]"},
		{"a broadcast is one copy, another's", Call{Op: Broadcast, Count: 5, Root: 1}, 0, Stage(1, fetch),
			"copy scratch[0:5] = 1:scratch[0:5]; copy out[0:5] = scratch[0:5]"},
		{"who gets nothing copies nothing back", Call{Op: Reduce, Count: 5, Root: 1}, 0, Stage(1, fetch), "copy scratch[0:5] = in[0:5]"},
		{"the first of an exclusive scan gets nothing", Call{Op: ExScan, Count: 5}, 0, Stage(1, func(*Builder, *Call) {}), "copy scratch[0:5] = in[0:5]"},
		{"what no partner sends is left alone", Call{Op: Exchange, Size: 3, Count: 5, Rounds: 2}, 1, Stage(1, func(*Builder, *Call) {}),
			"copy scratch[0:5] = in[0:5]; copy out[0:3] = scratch[8:11]"},
		{"blocks", Call{Op: AllGather, Counts: []int{3, 2}, InPlace: true}, 1, Stage(1, fetch),
			"copy scratch[0:2] = out[3:5]; copy scratch[4:7] = 0:scratch[0:3]; copy out[0:5] = scratch[4:9]"},
		{"in alone", Call{Op: AllReduce, Count: 5}, 0, StageIn(1, fetch),
			"copy scratch[0:5] = in[0:5]; copy out[0:5] = 1:scratch[0:5]"},
		{"in alone, in place", Call{Op: AllReduce, Count: 5, InPlace: true}, 0, StageIn(1, fetch),
			"copy scratch[0:5] = out[0:5]; copy out[0:5] = 1:scratch[0:5]"},
		{"in alone of three", Call{Op: ReduceScatter, Count: 2}, 0, StageIn(3, fetch),
			"combine scratch[0:4] = in[0:4] + extra0[0:4] + extra1[0:4]; copy out[0:2] = 1:scratch[0:2]"},
		{"in alone of two, in place", Call{Op: ReduceScatter, Count: 2, InPlace: true}, 1, StageIn(2, fetch),
			"combine scratch[0:4] = in[0:4] + extra0[0:4]; copy in[2:4] = 0:scratch[0:2]"},
		{"two in segments", Call{Op: ReduceScatter, Count: 2}, 1, Pipeline(Segmentation{Size: 1}, Stage(2, fetch)),
			"combine scratch[0:1] = in[0:1] + extra0[0:1]; combine scratch[1:2] = in[2:3] + extra0[2:3]; " +
				"copy scratch[4:5] = 0:scratch[0:1]; copy out[0:1] = scratch[4:5]; flush; " +
				"combine scratch[0:1] = in[1:2] + extra0[1:2]; combine scratch[1:2] = in[3:4] + extra0[3:4]; " +
				"copy scratch[4:5] = 0:scratch[0:1]; copy out[1:2] = scratch[4:5]"},
		{"in segments", Call{Op: AllReduce, Count: 5}, 0, Pipeline(Segmentation{Size: 3}, Stage(1, fetch)),
			"copy scratch[0:3] = in[0:3]; copy scratch[4:7] = 1:scratch[0:3]; copy out[0:3] = scratch[4:7]; flush; " +
				"copy scratch[0:2] = in[3:5]; copy scratch[4:6] = 1:scratch[0:2]; copy out[3:5] = scratch[4:6]"},
		{"fan", Call{Op: AllReduce, Count: 5, InPlace: true}, 0, Fan(3, fetch),
			"combine out[0:5] = out[0:5] + extra0[0:5] + extra1[0:5]; copy out[0:5] = 1:out[0:5]; copy extra0[0:5], extra1[0:5] = out[0:5]"},
		{"fan of one", Call{Op: AllReduce, Count: 5, InPlace: true}, 0, Fan(1, fetch), "copy out[0:5] = 1:out[0:5]"},
		{"fan in segments", Call{Op: AllReduce, Count: 5, InPlace: true}, 0, Pipeline(Segmentation{Size: 3}, Fan(2, fetch)),
			"combine out[0:3] = out[0:3] + extra0[0:3]; copy out[0:3] = 1:out[0:3]; copy extra0[0:3] = out[0:3]; flush; " +
				"combine out[3:5] = out[3:5] + extra0[3:5]; copy out[3:5] = 1:out[3:5]; copy extra0[3:5] = out[3:5]"},
	} {
		c.call.Size, c.call.Line = max(c.call.Size, 2), 4
		want := "lane 0\n"
		for _, line := range splitSteps(c.want) {
			want += "  " + line + "\n"
		}
		if got := built(&c.call, c.rank, c.emit); got != want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, want)
		}
	}
}

func TestStagesHideTheCallersVectors(t *testing.T) {
	call := &Call{Op: AllReduce, Size: 3, Count: 5, Line: 4}
	for _, c := range []struct {
		name    string
		emit    Emitter
		exposes bool
	}{
		{"plain", fetch, true}, {"stage", Stage(1, fetch), false}, {"stage in", StageIn(1, fetch), false},
		{"pipeline", Pipeline(Segmentation{Size: 2}, fetch), true}, {"pipeline of stages", Pipeline(Segmentation{Size: 2}, Stage(1, fetch)), false},
	} {
		if s := Build(call, 1, c.emit); s.Exposes() != c.exposes || !s.Shares() {
			t.Errorf("%s: exposes %v, shares %v; want %v, true", c.name, s.Exposes(), s.Shares(), c.exposes)
		}
	}
}
