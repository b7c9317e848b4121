// Sick is programs with one mistake each, to see what gaspi-run says of them: docs/DEBUGGING.md reads
// the output. The argument names the mistake.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A mistake is a program. rank is its number in the job.
type mistake struct {
	name string
	run  func(ctx context.Context, p *gaspi.Proc) error
}

var mistakes = []mistake{
	{"mismatch", mismatch},
	{"missing", missing},
	{"slow", slow},
	{"dead", dead},
	{"offset", offset},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("sick: ")
	i := -1
	if len(os.Args) == 2 {
		i = slices.IndexFunc(mistakes, func(m mistake) bool { return m.name == os.Args[1] })
	}
	if i < 0 {
		var names []string
		for _, m := range mistakes {
			names = append(names, m.name)
		}
		log.Print("expected one argument of ", strings.Join(names, ", "))
		os.Exit(2)
	}
	ctx := context.Background()
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err == nil {
		err = mistakes[i].run(ctx, p)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("nothing went wrong")
	_ = p.Close()
}
