package dnn

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFusion compares the messages of 64 MiB with those worked out by hand from the
// architectures, in elements.
func TestFusion(t *testing.T) {
	for _, c := range []struct {
		model string
		fuse  int
		want  []int // elements
	}{
		// The last product and the bias before it; a matrix of exactly 64 MiB; a bias
		// that has no room; a matrix longer than that; all convolutions.
		{"alexnet", 64 << 20, []int{4_101_096, 16_777_216, 4096, 37_748_736, 3_747_200}},
		{"vgg11", 64 << 20, []int{4_101_096, 16_777_216, 4096, 102_760_448, 9_220_480}},
		{"resnet50", 64 << 20, []int{14_927_848, 10_655_744}},
		{"resnet110", 64 << 20, []int{1_739_450}},
	} {
		m, err := Named(c.model)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, msg := range m.Messages(c.fuse) {
			got = append(got, msg.Count)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s, fused up to %d bytes: %s", c.model, c.fuse, d)
		}
	}
}

// small is a network whose messages one can see.
func small() *NeuralNetwork {
	return &NeuralNetwork{Name: "small", Layers: []Layer{
		{Tensors: []Tensor{{Count: 10}, {Count: 1}}, Flops: 1},
		{Tensors: []Tensor{{Count: 20}, {Count: 2}, {Count: 9, Fixed: true}}, Flops: 2},
		{Tensors: []Tensor{{Count: 30}}, Flops: 4},
	}}
}

// TestOrder fuses a small network: gradients come from its end.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		fuse int
		want []Message
	}{
		{"each alone", 0, []Message{{1, 0, 30, 2}, {1, 30, 2, 1}, {1, 32, 20, 1}, {1, 52, 1, 0}, {1, 53, 10, 0}}},
		{"smaller than any", 3, []Message{{1, 0, 30, 2}, {1, 30, 2, 1}, {1, 32, 20, 1}, {1, 52, 1, 0}, {1, 53, 10, 0}}},
		{"exactly two", 32 * 4, []Message{{2, 0, 32, 2 - 1}, {3, 32, 31, 0}}},
		{"one byte less", 32*4 - 1, []Message{{1, 0, 30, 2}, {3, 30, 23, 0}, {1, 53, 10, 0}}},
		{"all", 1 << 20, []Message{{5, 0, 63, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, small().Messages(c.fuse)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestMessagesCoverGradients checks, for every model and many lengths, that messages
// lie one behind the other, that none could have taken in the next gradient,
// and that layers become ready in backward order.
func TestMessagesCoverGradients(t *testing.T) {
	for _, name := range Names() {
		m, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		alone := m.Messages(0)
		for _, fuse := range []int{0, 1, 1000, 4096, 1 << 20, 5_000_001, 64 << 20, 1 << 30} {
			at, gradients := 0, 0
			all := m.Messages(fuse)
			for i, msg := range all {
				if msg.Offset != at || msg.Count < 1 {
					t.Fatalf("%s, %d bytes: message %d is %+v, want it at %d", name, fuse, i, msg, at)
				}
				at += msg.Count
				gradients += msg.Gradients
				if msg.Bytes() > max(fuse, alone[gradients-1].Bytes()) {
					t.Errorf("%s, %d bytes: message %d has %d", name, fuse, i, msg.Bytes())
				}
				if i+1 < len(all) && fuse > 0 && msg.Bytes()+alone[gradients].Bytes() <= fuse {
					t.Errorf("%s, %d bytes: message %d has room for the next gradient", name, fuse, i)
				}
				if msg.Layer != alone[gradients-1].Layer {
					t.Errorf("%s, %d bytes: message %d is ready after layer %d, want %d", name, fuse, i, msg.Layer, alone[gradients-1].Layer)
				}
			}
			if at != elements(alone) || gradients != len(alone) {
				t.Errorf("%s, %d bytes: %d elements of %d gradients, want %d of %d", name, fuse, at, gradients, elements(alone), len(alone))
			}
		}
		if !slices.IsSortedFunc(alone, func(a, b Message) int { return b.Layer - a.Layer }) {
			t.Errorf("%s: gradients are not in backward order", name)
		}
	}
}
