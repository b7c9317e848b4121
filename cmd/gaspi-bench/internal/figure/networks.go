package figure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/dnn"
	"github.com/gaspi-go/gaspi-go/internal/chart"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// pipelined8 is Fig. 8, with Table 2.
func pipelined8() Figure {
	return Figure{
		Name: "pipelined-8", Paper: pipelined, Place: "Fig. 8, Table 2", Title: "Messages of four networks",
		About: "The gradients of a backward pass: how many there are of each size, and how many messages are left where consecutive ones are fused up to 64 MiB.",
		Ways:  []Setting{Simulated}, Other: networkMessages,
	}
}

// networkMessages counts messages by size, in classes that end at powers of four.
func networkMessages(_ context.Context, _ *Lab, way Setting, _ time.Time) (*Part, error) {
	part := &Part{Setting: "counts, which are the same on any machine"}
	table := Table{Title: "Messages of a backward pass", Head: []string{"network", "parameters", "messages", "shortest", "median", "longest", "fused to 64 MiB"}}
	panel := chart.Panel{Title: "messages by size", XLabel: "size of a message, up to (bytes)", YLabel: "messages", XBytes: true}
	for _, net := range paperNetworks() {
		model, err := dnn.Named(net.model)
		if err != nil {
			return nil, err
		}
		var sizes []int
		for _, m := range model.Messages(0) {
			sizes = append(sizes, m.Bytes())
		}
		slices.Sort(sizes)
		curve := chart.Curve{Name: net.name}
		for from, to := 0, 64; from < sizes[len(sizes)-1]; from, to = to, 4*to {
			count := 0
			for _, n := range sizes {
				if n > from && n <= to {
					count++
				}
			}
			curve.X, curve.Y = append(curve.X, float64(to)), append(curve.Y, float64(count))
		}
		panel.Curves = append(panel.Curves, curve)
		show := func(n int) string { return showBytes(float64(n)) }
		table.Rows = append(table.Rows, []string{
			net.name, fmt.Sprint(model.Parameters()), fmt.Sprint(len(sizes)),
			show(sizes[0]), show(sizes[len(sizes)/2]), show(sizes[len(sizes)-1]), fmt.Sprint(len(model.Messages(64 * mib))),
		})
		part.add(&Claim{
			Text: "parameters of " + net.name, Kind: Count, Paper: exactly(float64(net.parameters), "Table 2"),
		}, float64(model.Parameters()))
	}
	part.Tables, part.Charts = []Table{table}, []chart.Chart{{Title: way.String(), Panels: []chart.Panel{panel}}}
	return part, nil
}

// pipelined9 is Fig. 9.
func pipelined9() Figure {
	return Figure{
		Name: "pipelined-9", Paper: pipelined, Place: "Fig. 9", Title: "Training of four networks",
		About: "A step of training: gradients come in the order of back-propagation, are fused up to 64 MiB and reduced by one thread while the rest is computed. How many times as fast is a step with the ring in four segments as with Rabenseifner's algorithm, which MPI chose?",
		Ways:  []Setting{Simulated}, Other: networks,
	}
}

// A network is one of Fig. 9 and what the paper says of it.
type network struct {
	model, name string
	parameters  int     // Table 2
	paper       Reading // of Fig. 9
}

func paperNetworks() []network {
	return []network{
		{"alexnet", "AlexNet", 62_378_344, between(1, 1.22, `Section 8: "up to 22 %"`)},
		{"resnet50", "ResNet50", 25_636_712, between(1.05, 1.22, "Sections 7.3 and 8: 5 to 22 %")},
		{"vgg11", "VGG11", 132_863_336, between(1.05, 1.15, "Sections 7.3 and 8: 5 to 15 %")},
		{"resnet110", "ResNet110", 1_747_898, between(1.5, 1.6, "Sections 7.3 and 8: 50 to 60 %")},
	}
}

// nodeRate is the floating-point operations per second of a node of the paper's cluster:
// 28 cores of 2.2 GHz with 32 single-precision operations per cycle, of which training
// uses about half.
const nodeRate = 1e12

// nodeRates returns the rates of faster nodes, which spend a larger share of a step on
// communication.
func nodeRates() []float64 {
	return []float64{1 * nodeRate, 2 * nodeRate, 5 * nodeRate, 10 * nodeRate, 20 * nodeRate, 50 * nodeRate, 100 * nodeRate}
}

// A priced step is what it takes with each way, in microseconds.
type pricedStep struct{ computing, rsa, ring, segmented float64 }

func (p pricedStep) gain() float64    { return p.rsa / p.segmented }
func (p pricedStep) exposed() float64 { return (p.rsa - p.computing) / p.rsa }

// priceStep prices a step of a network.
func priceStep(model string, batch, ranks int, rate float64, m *price.Machine) (pricedStep, error) {
	ways := []dnn.Variant{{Algorithm: "halving", Segments: 1}, {Algorithm: "ring", Segments: 1}, {Algorithm: "ring", Segments: 4}}
	results, err := dnn.Simulate(dnn.Config{
		Model: model, Batch: batch, Rate: rate, Fuse: []int{64 * mib}, Ways: ways, Modes: []dnn.Mode{dnn.Threaded},
	}, m, ranks)
	if err != nil {
		return pricedStep{}, err
	}
	if len(results) != 1+len(ways) { // of computing alone, and of each way
		return pricedStep{}, fmt.Errorf("the trace of %s has %d results, not %d", model, len(results), 1+len(ways))
	}
	return pricedStep{results[1].ComputeUS, results[1].P50US, results[2].P50US, results[3].P50US}, nil
}

// networks prices a step of each network.
func networks(ctx context.Context, lab *Lab, way Setting, _ time.Time) (*Part, error) {
	m := edr()
	part := &Part{Setting: fmt.Sprintf("%s; nodes of %.0f GFLOP/s in the table", describe(&m), nodeRate*1e-9)}
	table := Table{
		Title: fmt.Sprintf("A step on nodes of %.0f GFLOP/s", nodeRate*1e-9),
		Head:  []string{"network", "ranks", "batch", "computing (ms)", "step with RSA (ms)", "RNG (ms)", "RNG x4 (ms)", "gain", "exposed with RSA"},
	}
	drawing := chart.Chart{Title: way.String()}
	for _, ranks := range []int{8, 9} {
		drawing.Panels = append(drawing.Panels, chart.Panel{
			Title: fmt.Sprintf("%d ranks, batches of 32", ranks), XLabel: "TFLOP/s of a node", YLabel: "gain of the ring in four segments", XLog: true, Cut: true,
		})
	}
	for _, net := range paperNetworks() {
		var best pricedStep
		for i, ranks := range []int{8, 9} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, batch := range []int{32, 64} {
				x, err := priceStep(net.model, batch, ranks, nodeRate, &m)
				if err != nil {
					return nil, err
				}
				table.Rows = append(table.Rows, net.row(ranks, batch, x))
				if best.segmented == 0 || x.gain() > best.gain() {
					best = x
				}
			}
			curve, err := net.overRates(ranks, &m)
			if err != nil {
				return nil, err
			}
			drawing.Panels[i].Curves = append(drawing.Panels[i].Curves, curve)
		}
		part.add(net.claim(best), best.gain())
	}
	part.Tables, part.Charts = []Table{table}, []chart.Chart{drawing}
	return part, nil
}

func (n *network) row(ranks, batch int, x pricedStep) []string {
	return []string{
		n.name, fmt.Sprint(ranks), fmt.Sprint(batch), showNumber(x.computing / 1e3), showNumber(x.rsa / 1e3), showNumber(x.ring / 1e3),
		showNumber(x.segmented / 1e3), Gain.Show(x.gain()), Share.Show(x.exposed()),
	}
}

// overRates is the gain on faster and faster nodes.
func (n *network) overRates(ranks int, m *price.Machine) (chart.Curve, error) {
	c := chart.Curve{Name: n.name}
	for _, rate := range nodeRates() {
		x, err := priceStep(n.model, 32, ranks, rate, m)
		if err != nil {
			return c, err
		}
		c.X, c.Y = append(c.X, rate*1e-12), append(c.Y, x.gain())
	}
	return c, nil
}

// claim is what the paper says of a network. best is the step that gains most of all
// batches and numbers of ranks.
func (n *network) claim(best pricedStep) *Claim {
	return &Claim{
		Text: n.name + " is trained faster with the ring in four segments than with Rabenseifner's algorithm, at most",
		Kind: Gain, Paper: n.paper,
		Why: []Reason{{
			Outcome: anyMiss,
			Text: fmt.Sprintf("Of a step with Rabenseifner's algorithm, %s is communication that is not hidden behind computing in this model; nothing can gain more than that."+
				" The library that the paper measured was slower than its schedules (Fig. 3), and how fast its nodes computed is not stated: the chart shows the gain on faster ones.", Share.Show(best.exposed())),
		}},
	}
}
