package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// infoWord is the first argument by which this program tells what there is instead of
// starting ranks. A program of that name can be started as ./info.
const infoWord = "info"

// info tells how ranks that are started from this host reach each other. args are
// flags of gaspi-run that say where ranks run.
func info(args []string, stdout io.Writer) error {
	o, err := parse(append(args, infoWord))
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, help())
		return nil
	case err != nil:
		return err
	case len(o.config.Args) > 0: // infoWord is the last of them
		return surplus(infoWord, o.config.Program)
	}
	ways := gaspi.Ways()
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TRANSPORT\tPROVIDER\tDEVICE\tAUTO\tMISSING")
	for _, w := range ways {
		auto := ""
		switch {
		case w.Chosen && w.Transport == "shm":
			auto = "on one host"
		case w.Chosen:
			auto = "between hosts"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", w.Transport, dash(w.Provider), dash(w.Device), dash(auto), dash(w.Missing))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nlocked memory: %s\n", lockedLimit())
	for _, line := range pairs(o.config.Hosts, o.forcedTransport(), between(ways)) {
		fmt.Fprintln(stdout, line)
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// between is the transport that auto takes between hosts, if they all are like this.
func between(ways []gaspi.Way) string {
	for _, w := range ways {
		if w.Chosen && w.Transport != "shm" {
			return w.Transport
		}
	}
	return "tcp"
}

// pairs says, host by host, how ranks reach others: by the transport that is forced,
// if any, else within a host by memory and to other hosts by far.
func pairs(hosts []launcher.Host, forced, far string) []string {
	near := "shm"
	isForced := forced != "" && forced != "auto"
	if isForced {
		near, far = forced, forced
	}
	if len(hosts) == 0 {
		return []string{"ranks of this host: " + near}
	}
	var lines []string
	first := 0
	for _, h := range hosts {
		line := fmt.Sprintf("%s, ranks %d-%d: %s among themselves", h.Name, first, first+h.Slots-1, near)
		if len(hosts) > 1 {
			line += fmt.Sprintf(", %s with the others", far)
			if far == "rdma" && !isForced {
				line += ", if their hosts have it too, else tcp"
			}
		}
		lines = append(lines, line)
		first += h.Slots
	}
	return lines
}

// lockedLimit is how much memory a process may lock, which is what verbs do with all
// segments.
func lockedLimit() string {
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return "unknown"
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "Max locked memory"); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				return f[0] + " bytes at most (ulimit -l)"
			}
		}
	}
	return "unknown"
}
