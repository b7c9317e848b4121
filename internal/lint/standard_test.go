package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsOfTheStandardHaveTests: each row of docs/GASPI.md that states behaviour has a test that
// is named after it.
func TestRowsOfTheStandardHaveTests(t *testing.T) {
	m := loadModule(t)
	i := slices.IndexFunc(m.texts, func(f textFile) bool { return f.path == standardFile })
	if i < 0 {
		t.Fatalf("there is no %s", standardFile)
	}
	report(t, checkStandard(m, m.texts[i].data))
	if n := len(statedRows(m.texts[i].data)); n < 90 {
		t.Errorf("%d rows were found in %s", n, standardFile)
	}
}

const rowsOfAPage = `# Page
## Calls
| Procedure | Go |
|---|---|
| ` + "`write_notify`, `write`" + ` | ` + "`q.WriteNotify`" + ` |
| ` + "`write`" + ` | ` + "`q.Write`" + ` |
| ` + "`GASPI_TEST`" + ` | yes |
| ` + "GPI-2: `list_max`" + ` | yes |
| (none) | ` + "`g.Dup`" + `, as in MPI |
| ` + "`connect`" + ` | none: [3] |

## Concurrency
| Calls | Goroutines |
|---|---|
| local and one-sided calls, passive ones | any |
| the same of ` + "`p.Barrier`, `g.Dup`" + ` | one |

1. **A queue entry** is held.
2. **No calls** of this kind.
13. **Flush** is more.
`

func TestStatedRows(t *testing.T) {
	var got []string
	for _, row := range statedRows(rowsOfAPage) {
		got = append(got, fmt.Sprint(row.line, " ", row.name))
	}
	want := []string{"5 WriteNotify", "6 Write", "7 Test", "8 ListMax", "9 Dup", "15 ConcurrentLocalAndOneSidedCalls", "16 ConcurrentBarrier", "18 Difference1", "20 Difference13"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCheckStandard(t *testing.T) {
	named := func(names ...string) *tree {
		var b strings.Builder
		b.WriteString("package p\n")
		for _, name := range names {
			fmt.Fprintf(&b, "func TestGASPI%s(t *testing.T) {}\n", name)
		}
		return fake(t, map[string]string{"a/a_test.go": b.String(), "a/a.go": "package p\nfunc TestGASPIDup() {}\n"})
	}
	all := []string{"WriteNotify", "WriteIsQuick", "TestX", "ListMax", "Dup", "ConcurrentLocalAndOneSidedCalls", "ConcurrentBarrier", "Difference1", "Difference13Flush"}
	expect(t, checkStandard(named(all...), rowsOfAPage))
	expect(t, checkStandard(named(append(all, "Writes")...), rowsOfAPage), "TestGASPIWrites is named after no row")
	expect(t, checkStandard(named(all[1:]...), rowsOfAPage), "GASPI.md:5: no test is called TestGASPIWriteNotify")
	expect(t, checkStandard(named(all[:8]...), rowsOfAPage), "GASPI.md:20: no test is called TestGASPIDifference13")
	expect(t, checkStandard(named(all...), rowsOfAPage+"1. **Again**\n"), "GASPI.md:21: the row has the name Difference1 of line 18")
}
