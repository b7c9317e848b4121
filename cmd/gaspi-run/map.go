package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// showMap prints where the ranks of a job are and how they reach each other; its error is
// that of a job that does not run.
func (o *options) showMap(w io.Writer) error {
	plan, err := launcher.MapJob(o.config)
	if err != nil {
		return err
	}
	kind := ""
	if plan.Package {
		kind = " (a Go package, which is built first)"
	}
	node := o.config.Node
	if node.Count > 1 {
		fmt.Fprintf(w, "node %d of %d: %d %s of %s%s\n\n", node.Number, node.Count, plan.Ranks, ranksWord(plan.Ranks), plan.Program, kind)
	} else {
		fmt.Fprintf(w, "%d %s of %s%s\n\n", plan.Ranks, ranksWord(plan.Ranks), plan.Program, kind)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOST\tRANKS\tSTARTED BY\tCORES")
	for _, p := range plan.Places {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Host, o.ranksOf(p), p.By, o.coresOf(p))
	}
	if node.Count > 1 {
		fmt.Fprintf(table, "the other %d\tas many as each says with -n\ttheir own gaspi-run\t-\n", node.Count-1)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range o.classes(plan, between(gaspi.Ways())) {
		fmt.Fprintln(w, line)
	}
	return nil
}

func ranksWord(n int) string {
	if n == 1 {
		return "rank"
	}
	return "ranks"
}

// ranksOf returns the numbers of the ranks on a host: a range, or, on a node after the first,
// their count, since the counts of the nodes before are not known here.
func (o *options) ranksOf(p launcher.Placement) string {
	switch {
	case o.config.Node.Count > 1 && o.config.Node.Number > 0:
		return fmt.Sprintf("%d, after those of the nodes before", p.Ranks)
	case p.Ranks == 1:
		return strconv.Itoa(int(p.First))
	}
	return fmt.Sprintf("%d-%d", p.First, int(p.First)+p.Ranks-1)
}

// mostListed is how many ranks are listed one by one with their cores.
const mostListed = 16

// coresOf says where ranks of a host may run.
func (o *options) coresOf(p launcher.Placement) string {
	core := o.config.Bind == launcher.BindCore
	switch {
	case len(p.Cores) == 0 && core:
		return "rank by rank, one of those of that host"
	case len(p.Cores) == 0:
		return "all of that host"
	case !core:
		return "all of " + intervals(p.Cores)
	case p.Ranks > mostListed || o.config.Node.Number > 0:
		return "rank by rank, one of " + intervals(p.Cores)
	}
	var each []string
	for i := range p.Ranks {
		each = append(each, fmt.Sprintf("rank %d: %d", int(p.First)+i, p.Core(i)))
	}
	return strings.Join(each, ", ")
}

// intervals writes ascending numbers as 0-3,8.
func intervals(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		} else {
			parts = append(parts, strconv.Itoa(list[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// classes says by which transport the ranks of each class of pairs reach each other; far
// is what auto takes between hosts.
func (o *options) classes(plan launcher.JobMap, far string) []string {
	near, forced := "shm", o.forcedTransport()
	if forced != "" {
		near, far = forced, forced
	}
	if o.isEmulated() {
		near += ", as an emulated network"
	}
	var lines []string
	for _, p := range plan.Places {
		if p.Ranks > 1 {
			lines = append(lines, "two ranks of one host: "+near)
			break
		}
	}
	if len(plan.Places) > 1 || o.config.Node.Count > 1 {
		if far == "rdma" && forced == "" {
			far += " where both have it, else tcp"
		}
		lines = append(lines, "two ranks of different hosts: "+far)
	}
	return append(lines, "a rank and itself: its own memory")
}

// setting is the value that ranks find in a variable of their environment.
func (o *options) setting(name string) string {
	value := os.Getenv(name)
	for _, entry := range o.config.Env {
		if own, ok := strings.CutPrefix(entry, name+"="); ok {
			value = own
		}
	}
	return value
}

// forcedTransport is the transport of all pairs, or empty where it depends on them.
func (o *options) forcedTransport() string {
	forced := o.config.Transport
	if forced == "" {
		forced = o.setting("GASPI_TRANSPORT")
	}
	if forced == "auto" {
		return ""
	}
	return forced
}

func (o *options) isEmulated() bool { return o.setting(envEmulate) != "" }
