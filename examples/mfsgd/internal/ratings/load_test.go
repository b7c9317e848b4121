package ratings

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

const top = "userId,movieId,rating,timestamp\n"

// fixture is a small file in MovieLens's format, sorted by user as published.
const fixture = "../../testdata/ratings.csv"

// write stores text in a new file and returns its path.
func write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstded(t testing.TB, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll([]byte(text), nil)
}

// zipped is an archive of pairs of a name and a text. Members whose name begins with
// "stored:" are not compressed.
func zipped(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		h := &zip.FileHeader{Name: pairs[i], Method: zip.Deflate}
		if name, stored := strings.CutPrefix(pairs[i], "stored:"); stored {
			h.Name, h.Method = name, zip.Store
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpackable is an archive whose member is compressed in a way that nobody knows.
func unpackable(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "u.data", Method: 99, CompressedSize64: 1, UncompressedSize64: 1})
	if err == nil {
		_, err = w.Write([]byte("x"))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestLoadRejects states the sentence that a user gets for each way in which a
// file can be wrong. PATH stands for the path of the file.
func TestLoadRejects(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	big := gzipped(t, top+strings.Repeat("1,2,3.5,4\n", 100_000))
	tests := []struct {
		name, file, text string
		ranks            int
		want             string
	}{
		{name: "empty file", text: "", want: `PATH is empty; expected the header "userId,movieId,rating,timestamp" of a ratings.csv, or a rating with "::" (ratings.dat) or tabs (u.data) between its fields`},
		{name: "empty inside gzip", file: "r.csv.gz", text: string(gzipped(t, "")), want: `PATH is empty; expected the header "userId,movieId,rating,timestamp" of a ratings.csv, or a rating with "::" (ratings.dat) or tabs (u.data) between its fields`},
		{name: "header only", text: top, want: `PATH holds a header and no ratings`},
		{name: "no header", text: "1,2,3.0,4\n", want: `PATH:1: expected the header "userId,movieId,rating,timestamp" of a ratings.csv, or a rating with "::" (ratings.dat) or tabs (u.data) between its fields; the line is "1,2,3.0,4"`},
		{name: "another file of the same set", text: "movieId,title,genres\n", want: `PATH:1: expected the header "userId,movieId,rating,timestamp" of a ratings.csv, or a rating with "::" (ratings.dat) or tabs (u.data) between its fields; the line is "movieId,title,genres"`},
		{name: "second header", text: top + "1,2,3.0,4\n" + top, want: `PATH:3: a second header; expected one at the top of the file only; the line is "userId,movieId,rating,timestamp"`},
		{name: "three fields", text: top + "1,2,3.0\n", want: `PATH:2: expected 4 fields (userId,movieId,rating,timestamp), found 3; the line is "1,2,3.0"`},
		{name: "five fields", text: top + "1,2,3.0,4,5\n", want: `PATH:2: expected 4 fields (userId,movieId,rating,timestamp), found 5; the line is "1,2,3.0,4,5"`},
		{name: "blank line", text: top + "1,2,3.0,4\n\n1,3,3.0,4\n", want: `PATH:3: expected 4 fields (userId,movieId,rating,timestamp), found 1; the line is ""`},
		{name: "cut in the middle of a line", text: top + "1,2,3.0,4\n17,3", want: `PATH:3: expected 4 fields (userId,movieId,rating,timestamp), found 2; the line is "17,3"`},
		{name: "user is a word", text: top + "bob,2,3.0,4\n", want: `PATH:2: userId "bob" is not a whole number of 0 or more; the line is "bob,2,3.0,4"`},
		{name: "negative item", text: top + "1,-2,3.0,4\n", want: `PATH:2: movieId "-2" is not a whole number of 0 or more; the line is "1,-2,3.0,4"`},
		{name: "no user", text: top + ",2,3.0,4\n", want: `PATH:2: userId "" is not a whole number of 0 or more; the line is ",2,3.0,4"`},
		{name: "user too large", text: top + "18446744073709551616,2,3.0,4\n", want: `PATH:2: userId "18446744073709551616" does not fit into 64 bits; the line is "18446744073709551616,2,3.0,4"`},
		{name: "rating 0", text: top + "1,2,0.0,4\n", want: `PATH:2: rating "0.0" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,0.0,4"`},
		{name: "rating 5.5", text: top + "1,2,5.5,4\n", want: `PATH:2: rating "5.5" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,5.5,4"`},
		{name: "rating between steps", text: top + "1,2,3.7,4\n", want: `PATH:2: rating "3.7" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,3.7,4"`},
		{name: "rating 10", text: top + "1,2,10,4\n", want: `PATH:2: rating "10" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,10,4"`},
		{name: "rating NaN", text: top + "1,2,NaN,4\n", want: `PATH:2: rating "NaN" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,NaN,4"`},
		{name: "timestamp is a date", text: top + "1,2,3.0,2019-11-21\n", want: `PATH:2: timestamp "2019-11-21" is not a whole number of seconds; the line is "1,2,3.0,2019-11-21"`},
		{name: "long bad line is cut", text: top + strings.Repeat("y", 500) + "\n", want: `PATH:2: expected 4 fields (userId,movieId,rating,timestamp), found 1; the line is "` + strings.Repeat("y", 120) + `..."`},
		{name: "endless line", text: top + long, want: `PATH:2: line longer than 262144 bytes; this is no ratings file; the line is "` + strings.Repeat("x", 120) + `..."`},
		{name: "named gz", file: "r.csv.gz", text: top, want: `PATH is named .gz but holds something else; fetch it again or rename it`},
		{name: "named zst", file: "r.csv.zst", text: top, want: `PATH is named .zst but holds something else; fetch it again or rename it`},
		{name: "gzip cut in its header", file: "r.csv.gz", text: string(big[:6]), want: `PATH is no complete gzip file (unexpected EOF); fetch it again`},
		{name: "named zip", file: "r.zip", text: top, want: `PATH is named .zip but holds something else; fetch it again or rename it`},
		{name: "zip cut off", file: "r.zip", text: string(zipped(t, "ml/u.data", "1\t2\t3\t4\n")[:60]), want: `PATH is no complete zip archive (zip: not a valid zip file); fetch it again`},
		{name: "zip of nothing", file: "r.zip", text: string(zipped(t)), want: `PATH holds no ratings.csv, ratings.dat or u.data; fetch a data set of ratings (https://grouplens.org/datasets/movielens/)`},
		{name: "zip of other things", file: "r.zip", text: string(zipped(t, "ml/tags.csv", "x", "my-ratings.csv", "y")), want: `PATH holds no ratings.csv, ratings.dat or u.data; fetch a data set of ratings (https://grouplens.org/datasets/movielens/)`},
		{name: "zip of two sets", file: "r.zip", text: string(zipped(t, "a/ratings.csv", "x", "b/u.data", "y")), want: `PATH holds both a/ratings.csv and b/u.data; take one of them out of it and give its path`},
		{name: "bad line in a zip", file: "r.zip", text: string(zipped(t, "ml/ratings.csv", top+"1,2,9,4\n")), want: `PATH/ml/ratings.csv:2: rating "9" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1,2,9,4"`},
		{name: "damaged zip", file: "r.zip", text: strings.Replace(string(zipped(t, "stored:u.data", "1\t2\t3\t4\n")), "1\t2\t3\t4", "1\t2\t3\t5", 1), want: `PATH/u.data:2: the archive is damaged; fetch it again; the line is ""`},
		{name: "zip of an unknown kind", file: "r.zip", text: string(unpackable(t)), want: `PATH/u.data cannot be unpacked (zip: unsupported compression algorithm); unpack it and give its path`},
		{name: "dat with three fields", file: "ratings.dat", text: "1::2::3\n", want: `PATH:1: expected 4 fields (userId::movieId::rating::timestamp), found 3; the line is "1::2::3"`},
		{name: "dat with a single colon", file: "ratings.dat", text: "1::2::3::4\n1::2:3::4\n", want: `PATH:2: expected 4 fields (userId::movieId::rating::timestamp), found 3; the line is "1::2:3::4"`},
		{name: "dat with a word", file: "ratings.dat", text: "1::two::3::4\n", want: `PATH:1: movieId "two" is not a whole number of 0 or more; the line is "1::two::3::4"`},
		{name: "tabs, off the scale", file: "u.data", text: "1\t2\t3\t4\n1\t2\t0\t4\n", want: `PATH:2: rating "0" is not on the scale; expected 0.5 to 5.0 in steps of 0.5; the line is "1\t2\t0\t4"`},
		{name: "tabs, five fields", file: "u.data", text: "1\t2\t3\t4\t5\n", want: `PATH:1: expected 4 fields (userId tab movieId tab rating tab timestamp), found 5; the line is "1\t2\t3\t4\t5"`},
		{name: "forms mixed", file: "u.data", text: "1\t2\t3\t4\n1::2::3::4\n", want: `PATH:2: expected 4 fields (userId tab movieId tab rating tab timestamp), found 1; the line is "1::2::3::4"`},
		{name: "too few users", text: top + "7,1,1,1\n8,1,1,1\n", ranks: 3, want: `PATH has 2 users, too few for 3 ranks: every rank needs at least one, so start at most 2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file
			if file == "" {
				file = "ratings.csv"
			}
			path := write(t, file, []byte(tt.text))
			_, err := Load(path, Part{Ranks: max(tt.ranks, 1)})
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), path, "PATH")); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadCutCompressed cuts compressed files in the middle: the message must
// say so and name the last line reached, which depends on the block size.
func TestLoadCutCompressed(t *testing.T) {
	var text strings.Builder
	text.WriteString(top)
	for i := range 50_000 {
		fmt.Fprintf(&text, "%d,%d,%d.5,%d\n", i/20, i*7919%3001, i%5, i*104729)
	}
	for name, data := range map[string][]byte{"r.csv.gz": gzipped(t, text.String()), "r.csv.zst": zstded(t, text.String())} {
		t.Run(name, func(t *testing.T) {
			path := write(t, name, data[:len(data)/2])
			_, err := Load(path, Part{Ranks: 1})
			bad, ok := errors.AsType[*LineError](err)
			if !ok {
				t.Fatalf("error is %v, want a LineError", err)
			}
			if want := "the compressed data ends early; the file is cut off, fetch it again"; bad.Problem != want || bad.Line < 2 {
				t.Errorf("line %d: %q, want a line of the text and %q", bad.Line, bad.Problem, want)
			}
		})
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"missing", "nowhere/ratings.csv", "no such file or directory"},
		{"directory", dir, "it is no regular file but a directory"},
		{"named pipe", fifo, "it is no regular file but a named pipe"},
		{"device", "/dev/zero", "it is no regular file but a device"},
		{"name with a zero byte", "a\x00b", "invalid argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(tt.path, Part{Ranks: 1})
			if err == nil {
				t.Fatal("no error")
			}
			want := fmt.Sprintf("--ratings %q: %s; expected the ratings of a MovieLens data set (https://grouplens.org/datasets/movielens/)", tt.path, tt.want)
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadForms reads the same ratings in every form that MovieLens has, in every
// accepted spelling, packed in every way.
func TestLoadForms(t *testing.T) {
	const plain = top + "1,296,5.0,1147880044\n1,306,3.5,1147868817\n9000000000,296,0.5,1\n"
	want, err := Load(write(t, "ratings.csv", []byte(plain)), Part{Ranks: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want.Items != 2 || want.TotalUsers != 2 || want.TotalRatings != 3 {
		t.Fatalf("read %d items, %d users, %d ratings; want 2, 2, 3", want.Items, want.TotalUsers, want.TotalRatings)
	}
	rows := func(text, separator string) string { // without the header
		return strings.ReplaceAll(strings.TrimPrefix(text, top), ",", separator)
	}
	for name, text := range map[string]string{
		"ratings.csv":                          plain,
		"ratings.csv, CR LF":                   strings.ReplaceAll(plain, "\n", "\r\n"),
		"ratings.csv, no newline at the end":   strings.TrimSuffix(plain, "\n"),
		"ratings.csv, short spelling":          strings.ReplaceAll(plain, "5.0", "5"),
		"ratings.csv, long spelling":           strings.ReplaceAll(plain, "0.5", "0.500"),
		"ratings.dat, 10M":                     rows(plain, "::"),
		"ratings.dat, CR LF":                   strings.ReplaceAll(rows(plain, "::"), "\n", "\r\n"),
		"u.data, 100K":                         rows(plain, "\t"),
		"u.data, no newline at the end, CR LF": strings.TrimSuffix(strings.ReplaceAll(rows(plain, "\t"), "\n", "\r\n"), "\r\n"),
	} {
		name, about, _ := strings.Cut(name, ", ")
		data := map[string][]byte{
			name:                   []byte(text),
			name + ".gz":           gzipped(t, text),
			name + ".zst":          zstded(t, text),
			"gzip under/" + name:   gzipped(t, text),
			"set.zip":              zipped(t, "ml/README.txt", "x", "ml/", "", "ml/"+name, text, "__MACOSX/ml/._"+name, "y"),
			"stored.zip":           zipped(t, "stored:"+name, text),
			"an archive named.csv": zipped(t, `ml\`+strings.ToUpper(name), text),
		}
		for file, bytes := range data {
			t.Run(file+" "+about, func(t *testing.T) {
				got, err := Load(write(t, filepath.Base(file), bytes), Part{Ranks: 1, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("shard (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A triple is a rating with the names it has in the file.
type triple struct {
	User uint64
	Item uint32
	Half uint8
	Held bool
}

// triples lists a shard's ratings as a set.
func triples(s *Shard) map[triple]int {
	set := make(map[triple]int)
	for u, name := range s.Users {
		for _, held := range []bool{false, true} {
			rows := &s.Train
			if held {
				rows = &s.Held
			}
			items, halves := rows.User(u)
			for i := range items {
				set[triple{name, items[i], halves[i], held}]++
			}
		}
	}
	return set
}

// TestLoadPartitions splits the fixture over several numbers of ranks: together
// they hold every rating once, with the same item numbers and the same split,
// and no rank is empty or much heavier than another.
func TestLoadPartitions(t *testing.T) {
	all, err := Load(fixture, Part{Ranks: 1, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := triples(all)
	if all.TotalRatings < 300 || all.Held.Len() == 0 {
		t.Fatalf("the fixture has %d ratings, %d held out: too small for this test", all.TotalRatings, all.Held.Len())
	}
	for _, ranks := range []int{2, 3, 7, all.TotalUsers} {
		got := make(map[triple]int)
		least, most := all.Train.Len()+all.Held.Len(), 0
		for rank := range ranks {
			s, err := Load(fixture, Part{Rank: rank, Ranks: ranks, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Users) == 0 {
				t.Errorf("%d ranks: rank %d owns no user", ranks, rank)
			}
			for k, n := range triples(s) {
				got[k] += n
			}
			least, most = min(least, s.Train.Len()+s.Held.Len()), max(most, s.Train.Len()+s.Held.Len())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d ranks hold other ratings than one (-one +%d):\n%s", ranks, ranks, diff)
		}
		if ranks < 7 && most > 2*least {
			t.Errorf("%d ranks: loads from %d to %d ratings", ranks, least, most)
		}
	}
}

// TestOwnersLeaveNobodyIdle sees users in the worst order, one rating each in
// turn, and must still use every rank.
func TestOwnersLeaveNobodyIdle(t *testing.T) {
	for ranks := 1; ranks <= 20; ranks++ {
		o, used := NewOwners(ranks), make(map[int]bool)
		for range ranks {
			used[o.Next()] = true
		}
		if len(used) != ranks {
			t.Errorf("%d users leave %d of %d ranks idle", ranks, ranks-len(used), ranks)
		}
	}
}

func TestHeldOutShare(t *testing.T) {
	const n = 200_000
	held, other := 0, 0
	for i := range uint64(n) {
		if HeldOut(i/50, i%50, 1) {
			held++
			if HeldOut(i/50, i%50, 2) {
				other++
			}
		}
	}
	if held < n/HeldOutOneIn*97/100 || held > n/HeldOutOneIn*103/100 {
		t.Errorf("%d of %d ratings held out, want one in %d", held, n, HeldOutOneIn)
	}
	if other < held/20 || other > held/5 {
		t.Errorf("another seed holds out %d of the same %d ratings, want about a tenth", other, held)
	}
}
