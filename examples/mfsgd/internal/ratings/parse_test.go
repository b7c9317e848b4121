package ratings

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// FuzzParseLine compares the byte parser with a slow one made of the standard
// library: they accept the same lines, up to spellings that the library alone
// allows, and read the same values; a rejected line has an explanation.
func FuzzParseLine(f *testing.F) {
	forms := []form{{",", true}, {"::", false}, {"\t", false}}
	for _, s := range []string{
		"1,296,5.0,1147880044", "0,0,0.5,0", "18446744073709551615,1,3,1", "18446744073709551616,1,3,1",
		"1,2,3.50,4", "1,2,3.,4", "1,2,.5,4", "1,2,6,4", "1,2,3,", ",,,", "", header, "1,2,3,4,5", "a,b,c,d",
	} {
		for i, form := range forms {
			f.Add(strings.ReplaceAll(s, ",", form.separator), uint(i))
		}
	}
	f.Fuzz(func(t *testing.T, line string, i uint) {
		form := forms[i%uint(len(forms))]
		rec, problem := form.parse([]byte(line))
		want, ok := slowParse(line, form.separator)
		if ok != (problem == "") {
			t.Fatalf("%q: problem is %q, the reference accepts it: %v", line, problem, ok)
		}
		if ok && rec != want {
			t.Fatalf("%q: got %+v, want %+v", line, rec, want)
		}
	})
}

// slowParse is the reference.
func slowParse(line, separator string) (rec record, ok bool) {
	fields := strings.Split(line, separator)
	if len(fields) != 4 {
		return rec, false
	}
	user, err1 := strconv.ParseUint(fields[0], 10, 64)
	item, err2 := strconv.ParseUint(fields[1], 10, 64)
	// Longer runs of leading zeros are refused; nobody writes them.
	if err1 != nil || err2 != nil || len(fields[0]) > 20 || len(fields[1]) > 20 {
		return rec, false
	}
	whole, fraction, point := strings.Cut(fields[2], ".")
	if len(whole) != 1 || point && fraction == "" {
		return rec, false
	}
	if strings.Trim(fields[2], "0123456789.") != "" || strings.Contains(fraction, ".") {
		return rec, false
	}
	stars, err := strconv.ParseFloat(fields[2], 64)
	rest := strings.TrimRight(fraction, "0")
	if err != nil || rest != "" && rest != "5" || stars < 0.5 || stars > 5 {
		return rec, false
	}
	if fields[3] == "" || strings.Trim(fields[3], "0123456789") != "" {
		return rec, false
	}
	return record{user: user, item: item, half: uint8(2 * stars)}, true
}

func BenchmarkLoad(b *testing.B) {
	var text strings.Builder
	text.WriteString(top)
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "%d,%d,%d.%d,%d\n", 1+i/150, 1+i*7919%60_000, 1+i%4, i%2*5, 1_000_000_000+i)
	}
	path := write(b, "ratings.csv", []byte(text.String()))
	for _, ranks := range []int{1, 8} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(path, Part{Ranks: ranks}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
