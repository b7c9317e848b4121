package synth

import (
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
	"github.com/google/go-cmp/cmp"
)

func TestParseShape(t *testing.T) {
	tests := []struct {
		text string
		want Dimensions
		err  string
	}{
		{text: "10x20x150", want: Dimensions{10, 20, 150}},
		{text: "ml-25m", want: MovieLens25M()},
		{text: "ml-25m/100", want: Dimensions{1625, 5904, 250_000}},
		{text: "10x20", err: `"10x20" is no shape; expected USERSxITEMSxRATINGS, ml-25m, or ml-25m/N`},
		{text: "10x0x5", err: `"0" in "10x0x5" is no number of items; expected a whole number of 1 or more`},
		{text: "-1x5x5", err: `"-1" in "-1x5x5" is no number of users; expected a whole number of 1 or more`},
		{text: "10x20xmany", err: `"many" in "10x20xmany" is no number of ratings; expected a whole number of 1 or more`},
		{text: "10x20x201", err: `10x20x201 has more ratings than the 200 pairs of a user and an item; expected each pair once at most`},
		{text: "10x20x9", err: `10x20x9 has fewer ratings than users; expected at least one for each`},
		{text: "9999999999x1x9999999999", err: `"9999999999x1x9999999999" is too large; expected at most 2147483647 users and items`},
		{text: "ml-25m/0", err: `"ml-25m/0" is no scale; expected ml-25m or ml-25m/N with N from 1 to 162541`},
		{text: "ml-25m2", err: `"ml-25m2" is no scale; expected ml-25m or ml-25m/N with N from 1 to 162541`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseShape(tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("error (-want +got):\n%s", cmp.Diff(tt.err, errText(err)))
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A row is one user's ratings, sorted by item.
type row struct {
	Item uint32
	Half uint8
	Held bool
}

// rows lists the ratings of every user of all ranks.
func rows(t *testing.T, shape Dimensions, ranks int, seed uint64) map[uint64][]row {
	t.Helper()
	all := make(map[uint64][]row)
	for rank := range ranks {
		s, err := Generate(shape, ratings.Part{Rank: rank, Ranks: ranks, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for u, name := range s.Users {
			items, halves := s.Train.User(u)
			for i := range items {
				all[name] = append(all[name], row{items[i], halves[i], false})
			}
			items, halves = s.Held.User(u)
			for i := range items {
				all[name] = append(all[name], row{items[i], halves[i], true})
			}
			slices.SortFunc(all[name], func(a, b row) int { return int(a.Item) - int(b.Item) })
		}
	}
	return all
}

// TestGenerateIsExact checks, over shapes from a full matrix to a sparse one,
// what every set promises: the exact number of ratings, no user without one, no
// pair twice, items and stars in range, and no influence of the rank count.
func TestGenerateIsExact(t *testing.T) {
	tests := []struct {
		name  string
		shape Dimensions
	}{
		{"one of each", Dimensions{1, 1, 1}},
		{"full matrix", Dimensions{20, 30, 600}},
		{"nearly full", Dimensions{20, 30, 599}},
		{"one rating each", Dimensions{50, 40, 50}},
		{"one item", Dimensions{9, 1, 9}},
		{"one user", Dimensions{1, 500, 77}},
		{"usual", Dimensions{400, 150, 9_000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := rows(t, tt.shape, 1, 3)
			if len(want) != tt.shape.Users {
				t.Errorf("%d users have ratings, want %d", len(want), tt.shape.Users)
			}
			var total int64
			for u, r := range want {
				total += int64(len(r))
				for i := range r {
					if int(r[i].Item) >= tt.shape.Items || r[i].Half < 1 || r[i].Half > ratings.MaxHalves {
						t.Fatalf("user %d: rating %+v is out of range", u, r[i])
					}
					if i > 0 && r[i].Item == r[i-1].Item {
						t.Fatalf("user %d rates item %d twice", u, r[i].Item)
					}
				}
			}
			if total != tt.shape.Ratings {
				t.Errorf("%d ratings, want %d", total, tt.shape.Ratings)
			}
			for _, ranks := range []int{2, 3, 8} {
				if ranks > tt.shape.Users {
					continue
				}
				if diff := cmp.Diff(want, rows(t, tt.shape, ranks, 3)); diff != "" {
					t.Errorf("%d ranks make another set than one:\n%s", ranks, diff)
				}
			}
			if tt.shape.Ratings > 100 && cmp.Equal(want, rows(t, tt.shape, 1, 4)) {
				t.Error("another seed makes the same set")
			}
		})
	}
}

// TestGenerateHasALongTail bounds the distribution over items and users from
// both sides; MovieLens 25M's users rate 2.2 times as much on average as the
// one in the middle.
func TestGenerateHasALongTail(t *testing.T) {
	shape := Dimensions{6_000, 6_000, 200_000}
	perItem := make([]int, shape.Items)
	var perUser []int
	for _, r := range rows(t, shape, 1, 1) {
		perUser = append(perUser, len(r))
		for _, x := range r {
			perItem[x.Item]++
		}
	}
	slices.Sort(perItem)
	slices.Sort(perUser)
	first, last := 0, 0
	for i, n := range perItem {
		if i < shape.Items/2 {
			last += n
		}
		if i >= shape.Items*99/100 {
			first += n
		}
	}
	if share := float64(first) / float64(shape.Ratings); share < 0.35 || share > 0.65 {
		t.Errorf("the most popular hundredth of items has %.3f of the ratings", share)
	}
	if share := float64(last) / float64(shape.Ratings); share < 0.002 || share > 0.03 {
		t.Errorf("the less popular half of items has %.4f of the ratings", share)
	}
	mean, median := float64(shape.Ratings)/float64(shape.Users), float64(perUser[len(perUser)/2])
	if mean/median < 1.7 || mean/median > 2.7 {
		t.Errorf("ratings per user: mean %.0f, median %.0f, want a ratio near 2.2", mean, median)
	}
}

// TestChooseManyAgrees compares the two ways of drawing items: over many users,
// each item is drawn about equally often by both.
func TestChooseManyAgrees(t *testing.T) {
	const items, users, count = 64, 20_000, 8 // 8 = items/8 is drawn one by one
	c := newChooser(items)
	var one, many [items]float64
	for u := range users {
		c.choose(stream(1, streamUser, u), count, func(i uint32) { one[i]++ })
		c.chooseMany(stream(2, streamUser, u), count, func(i uint32) { many[i]++ })
	}
	for i := range one {
		sd := math.Sqrt(one[i] + many[i])
		if math.Abs(one[i]-many[i]) > 5*sd {
			t.Errorf("item %d is drawn %v times one by one and %v times at once", i, one[i], many[i])
		}
	}
}

// TestNoiseFloor measures what the package comment promises: the error of
// somebody who knows every taste, and of somebody who knows only the mean.
func TestNoiseFloor(t *testing.T) {
	shape := Dimensions{3_000, 1_000, 150_000}
	for seed := range uint64(4) {
		s, err := Generate(shape, ratings.Part{Ranks: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		truth := newTruth(shape, seed)
		var floor, sum, square float64
		for u, name := range s.Users {
			who := newTaste(stream(seed, streamUser, int(name)), userSD)
			items, halves := s.Train.User(u)
			for i, item := range items {
				stars := float64(halves[i]) / 2
				e := stars - min(max(truth.expect(who, item), 0.5), 5)
				floor += e * e
				sum += stars
				square += stars * stars
			}
		}
		n := float64(s.Train.Len())
		rmse, sd := math.Sqrt(floor/n), math.Sqrt(square/n-sum/n*sum/n)
		t.Logf("seed %d: knowing everything %.4f, knowing the mean %.4f", seed, rmse, sd)
		if rmse < 0.665 || rmse > 0.685 {
			t.Errorf("seed %d: noise floor %.4f, want 0.67 to 0.68", seed, rmse)
		}
		if sd < 0.98 || sd > 1.05 {
			t.Errorf("seed %d: standard deviation %.4f, want about 1.01", seed, sd)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	shape, err := ParseShape("ml-25m/100")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Generate(shape, ratings.Part{Ranks: 1, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
