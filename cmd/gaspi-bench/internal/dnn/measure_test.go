package dnn

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// TestMeasure replays a network among three goroutines in every mode, fused and not,
// whose sums Measure checks, and looks at what ranks are told.
func TestMeasure(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	const ranks = 3
	cfg := Config{
		Model: "resnet110", Batch: 1, Rate: 1e12, Scale: 0.5, Fuse: []int{0, 100_000, 64 << 20},
		Ways: []Variant{{}, {Algorithm: "ring", Segments: 4}}, Repetitions: 1,
	}
	all := make([][]ContenderResult, ranks)
	told := 0
	err := gaspi.Local(ctx, ranks, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		var progress func(done, of int)
		if p.Rank() == 0 {
			progress = func(done, of int) {
				if told++; done != told || of != 2*(1+3*2*3) {
					t.Errorf("told that %d of %d is done, want %d of %d", done, of, told, 2*(1+3*2*3))
				}
			}
		}
		var err error
		all[p.Rank()], err = Measure(ctx, p, cfg, progress)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range all[1:] {
		if d := cmp.Diff(all[0], other); d != "" {
			t.Errorf("ranks differ: %s", d)
		}
	}
	type named struct {
		Mode           Mode
		Fuse, Messages int
		Algorithm      string
	}
	want := []named{{Mode: Silent}}
	for _, f := range []named{{Fuse: 0, Messages: 454}, {Fuse: 100_000, Messages: 0}, {Fuse: 64 << 20, Messages: 1}} {
		for _, algorithm := range []string{"auto", "ringx4"} {
			for _, mode := range Modes() {
				want = append(want, named{mode, f.Fuse, f.Messages, algorithm})
			}
		}
	}
	var got []named
	for _, r := range all[0] {
		n := named{r.Mode, r.Fuse, r.Messages, r.Algorithm}
		if r.Fuse == 100_000 { // somewhere between
			if n.Messages < 2 || n.Messages > 453 {
				t.Errorf("%d messages of up to %d bytes", n.Messages, r.Fuse)
			}
			n.Messages = 0
		}
		got = append(got, n)
		if r.N != ranks || r.Iters != 1 || r.P50US <= 0 || r.ComputeUS != all[0][0].P50US || r.ExposedUS < 0 || r.Hidden < 0 || r.Hidden > 1 {
			t.Errorf("figures that cannot be: %+v", r)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestComputeIsTheSilentStep: the time of computing is that of the silent step to the nanosecond. Microseconds that are
// multiplied by 1,000 lack one in some cases.
func TestComputeIsTheSilentStep(t *testing.T) {
	for ns := range time.Duration(20_000) {
		steps := []Times{{Step: 2_051_000 + ns}}
		silent, other := ContenderResult{Mode: Silent}, ContenderResult{}
		other.fill(steps, silent.fillSilent(steps))
		if other.ComputeUS != silent.P50US || other.ExposedUS != 0 {
			t.Fatalf("%d ns: a silent step takes %v us, and computing %v us", steps[0].Step, silent.P50US, other.ComputeUS)
		}
	}
}

// TestMeasureEmulated replays a network on an emulated one. Two ranks pass a vector of
// 6,957,800 bytes in two halves, each of which takes 1 ms for a million bytes.
func TestMeasureEmulated(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	const network = "latency=1ms,bandwidth=1GB/s"
	cfg := Config{Model: "resnet110", Batch: 1, Fuse: []int{64 << 20}, Modes: []Mode{Blocking}, Ways: []Variant{{Algorithm: "ring"}}, Repetitions: 1}
	err := gaspi.Local(ctx, 2, gaspi.Config{Emulate: network}, func(ctx context.Context, p *gaspi.Proc) error {
		got, err := Measure(ctx, p, cfg, nil)
		if err != nil {
			return err
		}
		want, ok := p.Emulation().Network()
		if r := got[1]; !ok || r.Emulated != want.String() || r.CommUS < 6957.8 {
			t.Errorf("an emulated network: %+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCheckGradients finds a wrong sum.
func TestCheckGradients(t *testing.T) {
	grads := make([]float32, 1000)
	sum := make([]float32, 1000)
	for rank := range 4 {
		fillGradients(grads, rank)
		for i := range sum {
			sum[i] += grads[i]
		}
	}
	if err := checkGradients(sum, 4); err != nil {
		t.Error(err)
	}
	sum[777]++
	if err := checkGradients(sum, 4); err == nil || !strings.Contains(err.Error(), "element 777") {
		t.Errorf("got %v, want an error about element 777", err)
	}
}

// TestFill works out the figures of five steps.
func TestFill(t *testing.T) {
	ms := time.Millisecond
	r := ContenderResult{N: 4, Batch: 8, Mode: Threaded}
	r.fill([]Times{{50 * ms, 30 * ms}, {30 * ms, 20 * ms}, {40 * ms, 25 * ms}, {90 * ms, 80 * ms}, {35 * ms, 22 * ms}}, 30*ms)
	want := ContenderResult{
		N: 4, Batch: 8, Mode: Threaded, Iters: 5, MinUS: 30e3, P50US: 40e3, P99US: 90e3,
		ComputeUS: 30e3, CommUS: 25e3, ExposedUS: 10e3, Hidden: 0.6, SamplesPerS: 800,
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
}

// TestSimulate compares with the sum of what the model says of each message.
func TestSimulate(t *testing.T) {
	m := &price.Machine{Network: price.Link{Latency: 1e-6}, Bandwidth: 1e9}
	cfg := Config{Model: "alexnet", Fuse: []int{64 << 20}, Ways: []Variant{{Algorithm: "ring"}}, Rate: 1e15}
	got, err := Simulate(cfg, m, 8)
	if err != nil {
		t.Fatal(err)
	}
	// A ring sends 2(p-1)/p of the vector through each port.
	comm := 62_378_344 * 4 * 2 * 7. / 8 / 1e9 * 1e6
	compute := 2_270_512_192 * 32 * 3 / 1e15 * 1e6
	near := cmpopts.EquateApprox(0.01, 0)
	want := []ContenderResult{
		{Op: "dnn", Impl: "model", N: 8, Iters: 1, Model: "alexnet", Batch: 32, Compute: "sleep", Mode: Silent},
		{Op: "dnn", Impl: "model", N: 8, Iters: 1, Model: "alexnet", Batch: 32, Compute: "sleep", Mode: Blocking},
		{Op: "dnn", Impl: "model", N: 8, Iters: 1, Model: "alexnet", Batch: 32, Compute: "sleep", Mode: Threaded},
	}
	for i := range want {
		w := &want[i]
		w.ComputeUS, w.P50US = compute, compute
		if i > 0 {
			w.Algorithm, w.Fuse, w.Messages, w.Bytes = "ring", 64<<20, 5, 62_378_344*4
			w.CommUS, w.P50US, w.ExposedUS, w.Gain = comm, compute+comm, comm, 1
		}
		if i == 2 { // all that is hidden is a part of the computing
			w.ExposedUS, w.P50US = got[2].ExposedUS, comm+compute/3
			w.Hidden, w.Gain = got[2].Hidden, want[1].P50US/w.P50US
			if !(got[2].ExposedUS > comm-compute && got[2].ExposedUS < comm) {
				t.Errorf("exposed are %v us of %v, with %v of computing", got[2].ExposedUS, comm, compute)
			}
		}
		w.MinUS, w.P99US, w.SamplesPerS = w.P50US, w.P50US, 8*32/w.P50US*1e6
	}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
}

// TestSimulateChooses finds that what is chosen is as quick as the best that is
// forced.
func TestSimulateChooses(t *testing.T) {
	m := collectives.DefaultMachine()
	m.RanksPerNode = 1
	ways := []Variant{{}, {Algorithm: "ring"}, {Algorithm: "ring", Segments: 4}, {Algorithm: "halving"}, {Algorithm: "doubling"}, {Segments: 4}}
	all, err := Simulate(Config{Model: "resnet50", Ways: ways, Fuse: []int{0}, Modes: []Mode{Blocking}}, &m, 9)
	if err != nil {
		t.Fatal(err)
	}
	auto := all[1]
	if auto.Chosen == "" {
		t.Error("it does not say what it chose")
	}
	for _, r := range all[2:] {
		if r.P50US < auto.P50US {
			t.Errorf("%s takes %v us, less than the choice with %v", r.Algorithm, r.P50US, auto.P50US)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"model", Config{Model: "bert"}, "alexnet, vgg11"},
		{"batch", Config{Model: "vgg11", Batch: -1}, "batch"},
		{"rate", Config{Model: "vgg11", Rate: math.NaN()}, "operations per second"},
		{"scale", Config{Model: "vgg11", Scale: -2}, "multiplied"},
		{"repetitions", Config{Model: "vgg11", Repetitions: -2}, "repetitions"},
		{"fuse", Config{Model: "vgg11", Fuse: []int{-5}}, "-5 bytes"},
		{"mode", Config{Model: "vgg11", Modes: []Mode{"sometimes"}}, `"sometimes"`},
		{"silent", Config{Model: "vgg11", Modes: []Mode{Silent}}, "blocking, threaded, nonblocking"},
		{"simulated", Config{Model: "vgg11", Modes: []Mode{Nonblocking}}, "cannot be simulated"},
		{"algorithm", Config{Model: "vgg11", Ways: []Variant{{Algorithm: "telepathy"}}}, "telepathy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Simulate(c.cfg, &price.Machine{Bandwidth: 1}, 2)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something about %s", err, c.want)
			}
		})
	}
}

func TestParseWay(t *testing.T) {
	for _, c := range []struct {
		text string
		want Variant
		bad  bool
	}{
		{text: "auto"}, {text: "autox4", want: Variant{Segments: 4}}, {text: "ring", want: Variant{Algorithm: "ring"}},
		{text: "ringx12", want: Variant{"ring", 12}}, {text: "double-tree", want: Variant{Algorithm: "double-tree"}},
		{text: "ringx0", bad: true}, {text: "ringx", bad: true}, {text: "x4", bad: true}, {text: "", bad: true},
	} {
		got, err := ParseWay(c.text)
		if (err != nil) != c.bad || !c.bad && got != c.want {
			t.Errorf("%q: got %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if !c.bad && got.String() != c.text {
			t.Errorf("%q is written as %q", c.text, got)
		}
	}
}

// TestSVG draws, and reads what was drawn.
func TestSVG(t *testing.T) {
	results, err := Simulate(Config{Model: "vgg11"}, &price.Machine{Bandwidth: 1e9}, 4)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Chart(results).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	for _, want := range []string{"vgg11, 4 ranks, batch 32 per rank", "exposed communication", "compute only", "threaded, auto, not fused", "blocking, auto, fused to 64MiB"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q among %q", want, texts)
		}
	}
	if err := Chart(nil).WriteSVG(io.Discard); err == nil {
		t.Error("nothing was drawn without an error")
	}
}

// TestTable aligns rows of both sorts.
func TestTable(t *testing.T) {
	got := Table([]ContenderResult{
		{Model: "alexnet", Mode: Silent, P50US: 1500, ComputeUS: 1500, SamplesPerS: 42.7},
		{Model: "alexnet", Mode: Threaded, Fuse: 64 << 20, Messages: 5, Algorithm: "auto", Chosen: "ring", P50US: 2500, ComputeUS: 1500, CommUS: 4000, ExposedUS: 1000, Hidden: 0.75, SamplesPerS: 25.62, Gain: 1.5, Invalid: true},
	})
	want := []string{
		"model     mode              fuse messages  algorithm                  step ms  compute ms     comm ms  exposed ms  hidden  samples/s   gain",
		"alexnet   compute only                                                  1.500       1.500                                       42.7",
		"alexnet   threaded         64MiB        5  auto (ring)                  2.500       1.500       4.000       1.000     75%       25.6  1.50x  INVALID: the host could not carry the emulated network",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSleeper checks that layers take the time that they are told, with what was overslept taken off the next.
func TestSleeper(t *testing.T) {
	const layers, each = 50, 200 * time.Microsecond
	s := new(sleeper)
	begin := time.Now()
	for range layers {
		s.compute(each)
	}
	if took := time.Since(begin); took < layers*each || s.late < 0 || took-s.late < (layers-1)*each {
		t.Errorf("%d layers of %v took %v, of which %v too much", layers, each, took, s.late)
	}
}
