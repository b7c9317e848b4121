package figure

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

func TestObjectArguments(t *testing.T) {
	emulated := emulatedObjects()
	for _, c := range []struct {
		name string
		f    *objectFigure
		run  objectRun
		at   join
		want string
	}{
		{"raw, with bare writes", &objectFigure{}, objectRun{op: "roundtrip", limit: true}, join{8, -1},
			"object-roundtrip -n 4 --sizes 8 --transport shm"},
		{"emulated", emulated, objectRun{op: "reduce", static: "binomial,ring-gather"}, join{64_000_000, -1},
			"object-reduce -n 4 --sizes 64000000 --static binomial,ring-gather --side gaspi --chunk 65536 --inline 4196 --emulate latency=1ms,bandwidth=10MB/s"},
		{"joining", emulated, objectRun{op: "broadcast"}, join{400_000, 3 * time.Millisecond},
			"object-broadcast -n 4 --sizes 400000 --side gaspi --interval 3ms --chunk 12480 --inline 4196 --emulate latency=1ms,bandwidth=10MB/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(c.f.arguments(&c.run, 4, c.at), " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Goal: an emulated object takes as many latencies to be moved as the paper's.
func TestScaled(t *testing.T) {
	for _, paper := range []float64{paperKB, paperMB, paperGB} {
		ours := float64(scaled(paper)) / objectRate / objectLatency
		theirs := paper / 1.25e9 / 125e-6
		if math.Abs(ours-theirs)/theirs > 0.04 { // 1 KB is 65.5 bytes, of which 64 are whole elements
			t.Errorf("%v bytes are %.3f latencies long, the paper's %.3f", paper, ours, theirs)
		}
	}
}

// store is a gaspi-bench whose store takes 10 ms, whose static schedules take 19, whose
// bare writes take 9, and whose links take 8 alone.
func store(t *testing.T) Bench {
	t.Helper()
	return fakeBench(t, `cat >$file <<END
{"op":"x","impl":"gaspi","bytes":8,"p50_us":10000,"links_us":8000}
{"op":"x","impl":"static","algorithm":"scatter-allgather","bytes":8,"p50_us":19000,"links_us":8000}
{"op":"x","impl":"static","algorithm":"ring-gather","bytes":8,"p50_us":19000,"links_us":8000}
{"op":"x","impl":"static","algorithm":"binomial","bytes":8,"p50_us":6000,"links_us":8000,"invalid":true,"late_share":0.5}
{"op":"x","impl":"static","algorithm":"flat","bytes":8,"p50_us":20000,"links_us":8000}
{"op":"x","impl":"static","algorithm":"ring","bytes":8,"p50_us":10000,"links_us":8000}
{"op":"x","impl":"static","algorithm":"doubling","bytes":8,"p50_us":10000,"links_us":8000}
{"op":"x","impl":"limit","bytes":8,"p50_us":9000,"links_us":8000}
END`)
}

// Goal: every claim of Figs. 5 to 8 is judged by the times that it is about.
func TestHopliteClaims(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string // of the verdicts on emulated links, the outcome and the number
	}{
		{"hoplite-directory", []string{"holds 1.00x"}},
		{"hoplite-5", []string{"weaker 1.11x", "weaker 1.11x", "absent 1.11x"}},
		{"hoplite-6", []string{"holds 1.90x", "stronger 1.90x", "absent 1.25x", "not measured 1.67x", "absent 2.00x", "holds 1.90x", "absent 1.25x", "holds 1.00x"}},
		{"hoplite-7", []string{"holds 1.90x", "absent 1.25x", "holds 1.90x", "absent 1.25x", "holds 1.90x"}},
		{"hoplite-8", []string{"weaker 4.00x", "weaker 4.00x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Lookup(c.name)
			if err != nil {
				t.Fatal(err)
			}
			lab := &Lab{Bench: store(t), Ways: []Setting{Emulated}, Budget: time.Minute}
			r, err := lab.Run(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			p := r.Parts[0]
			if p.Missing != "" || p.Setting == "" || len(p.Tables) == 0 {
				t.Fatalf("missing %q, setting %q, %d tables", p.Missing, p.Setting, len(p.Tables))
			}
			var got []string
			for _, v := range p.Verdicts {
				got = append(got, fmt.Sprintf("%v %s", v.Outcome, v.Claim.Kind.Show(v.Number)))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			sameLegend(t, p.Charts[0])
			for _, panel := range p.Charts[0].Panels {
				for _, curve := range panel.Curves {
					if len(curve.X) == 0 {
						t.Errorf("curve %s of %s is empty", curve.Name, panel.Title)
					}
				}
			}
			if c.name == "hoplite-6" && (p.Doubt == "" || p.Verdicts[3].Doubt == "" || p.Verdicts[0].Doubt != "") {
				t.Errorf("lateness is told as %q, of the verdict that it is about as %q, of another as %q", p.Doubt, p.Verdicts[3].Doubt, p.Verdicts[0].Doubt)
			}
		})
	}
}

// sameLegend finds panels whose legend would name a curve that they do not have, or that looks
// different from the curve of that name elsewhere: panels of Figs. 6 and 8 have other static
// schedules each.
func sameLegend(t *testing.T, c chart.Chart) {
	t.Helper()
	var svg strings.Builder
	if err := c.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	panels := make(map[string]int)
	for _, panel := range c.Panels {
		for _, curve := range panel.Curves {
			panels[curve.Name]++
			if curve.Limit != (curve.Name == lineLinks || curve.Name == lineBare) {
				t.Errorf("%s of %s is a limit: %v", curve.Name, panel.Title, curve.Limit)
			}
		}
	}
	for name, count := range panels {
		if got := strings.Count(svg.String(), ">"+name+"</text>"); got != count {
			t.Errorf("%q is in %d legends, and a curve of %d panels", name, got, count)
		}
	}
}

// Goal: raw figures say what they can, and what cannot be measured is a part that says why.
func TestHopliteRaw(t *testing.T) {
	f, err := Lookup("hoplite-6")
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Lab{Bench: store(t), Ways: []Setting{Raw}, Budget: time.Minute}).Run(t.Context(), f)
	if err != nil || len(r.Parts) != 1 || len(r.Parts[0].Verdicts) != 1 || r.Parts[0].Verdicts[0].Number != 1.9 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = (&Lab{Bench: fakeBench(t, "echo oh >&2; exit 1"), Ways: []Setting{Raw}, Budget: time.Minute}).Run(t.Context(), f)
	if err != nil || !strings.Contains(r.Parts[0].Missing, "oh") {
		t.Errorf("%+v, %v", r, err)
	}
}
