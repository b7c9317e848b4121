package dnn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModels compares with Table 2 of the paper, and the gradients with what the
// architectures say.
func TestModels(t *testing.T) {
	type figures struct {
		Parameters int
		Flops      float64
		Gradients  int
		Trained    int
	}
	want := map[string]figures{
		"alexnet":   {62_378_344, 2_270_512_192, 16, 62_378_344},
		"vgg11":     {132_863_336, 15_218_180_096, 22, 132_863_336},
		"resnet50":  {25_636_712, 8_178_368_512, 214, 25_583_592},
		"resnet110": {1_747_898, 506_832_128, 454, 1_739_450},
	}
	got := make(map[string]figures)
	for _, name := range Names() {
		m, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		all := m.Messages(0)
		got[name] = figures{m.Parameters(), m.Flops(), len(all), elements(all)}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
