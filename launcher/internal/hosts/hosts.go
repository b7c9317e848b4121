// Package hosts says where the ranks of a job run: it reads lists of hosts on a command
// line, in a file, and in the environment of a Slurm allocation, and fills their slots.
//
// It asks no resolver whether a host exists, and starts nothing.
package hosts

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

// MaxSlots bounds the slots of one host, and of all hosts together.
const MaxSlots = 1 << 16

// An Entry is a place for ranks.
type Entry struct {
	Name  string // as ssh understands it: a name or an address, perhaps with user@ before it
	Slots int    // ranks that fit there, at least 1
}

// Parse reads a list such as "a:2,b,user@c:4,[fe80::1]:2". A host without a
// number has one slot; a host that is named again gets more of them.
func Parse(list string) ([]Entry, error) {
	var all gathered
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, fmt.Errorf("list of hosts %q: a name is missing; expected NAME:SLOTS,NAME:SLOTS", list)
		}
		name, slots, err := splitSlots(item)
		if err == nil {
			err = all.add(name, slots)
		}
		if err != nil {
			return nil, fmt.Errorf("list of hosts: %w", err)
		}
	}
	return all.hosts, nil
}

// fill gives n ranks to the slots of the hosts, in order, and returns how many
// each host has got; hosts that get none are left out. Zero means all slots.
func fill(all []Entry, n int) ([]Entry, error) {
	slots := slotsOf(all)
	if n == 0 {
		n = slots
	}
	if n > slots {
		return nil, fmt.Errorf("%d ranks do not fit into the %d %s of %d %s: name more hosts, or give them more slots (NAME:SLOTS)",
			n, slots, phrase.Plural(slots, "slot", "slots"), len(all), phrase.Plural(len(all), "host", "hosts"))
	}
	var filled []Entry
	for _, h := range all {
		if h.Slots = min(h.Slots, n); h.Slots > 0 {
			filled = append(filled, h)
		}
		n -= h.Slots
	}
	return filled, nil
}

// slotsOf is how many there are in all.
func slotsOf(all []Entry) int {
	sum := 0
	for _, h := range all {
		sum += h.Slots
	}
	return sum
}

// gathered collects hosts in the order in which they come first.
type gathered struct {
	hosts []Entry
	index map[string]int // of a name
	total int
}

// add notes slots of a host, new or known.
func (g *gathered) add(name string, slots int) error {
	if err := checkName(name); err != nil {
		return err
	}
	if slots < 1 || g.total+slots > MaxSlots {
		return fmt.Errorf("host %s with %d slots: expected 1 or more, and at most %d in all", name, slots, MaxSlots)
	}
	g.total += slots
	if i, ok := g.index[name]; ok {
		g.hosts[i].Slots += slots
		return nil
	}
	if g.index == nil {
		g.index = map[string]int{}
	}
	g.index[name] = len(g.hosts)
	g.hosts = append(g.hosts, Entry{Name: name, Slots: slots})
	return nil
}

// splitSlots takes "NAME:SLOTS" apart. An IPv6 address stands in brackets, or
// alone.
func splitSlots(item string) (name string, slots int, err error) {
	name, number, given := item, "", false
	if rest, ok := strings.CutPrefix(item, "["); ok {
		address, after, closed := strings.Cut(rest, "]")
		number, given = strings.CutPrefix(after, ":")
		if !closed || !given && after != "" {
			return "", 0, fmt.Errorf("host %.80q: expected [ADDRESS]:SLOTS", item)
		}
		name = address
	} else if strings.Count(item, ":") == 1 {
		name, number, given = strings.Cut(item, ":")
	}
	if !given {
		return name, 1, nil
	}
	slots, err = parseSlots(number)
	if err != nil {
		return "", 0, fmt.Errorf("host %.80q: %w", item, err)
	}
	return name, slots, nil
}

func parseSlots(number string) (int, error) {
	slots, err := strconv.Atoi(number)
	if err != nil || slots < 1 || slots > MaxSlots || number[0] == '+' {
		return 0, fmt.Errorf("%.80q slots: expected a number from 1 to %d", number, MaxSlots)
	}
	return slots, nil
}

// nameOf names the first character of text, which is at a byte.
func nameOf(text string, at int) string {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("0x%02x at byte %d, which is no UTF-8,", text[0], at)
	}
	return fmt.Sprintf("the character %q at byte %d", r, at)
}

// checkName refuses what cannot be the name of a host, and what ssh would take
// for something else, such as an option.
func checkName(name string) error {
	if name == "" || len(name) > 255 {
		return fmt.Errorf("host name of %d bytes: expected 1 to 255", len(name))
	}
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 && c != ':' && c != '_' || !strings.ContainsRune("-_.:@%", rune(c))) {
			return fmt.Errorf("host %.80q: %s is not allowed in the name of a host", name, nameOf(name[i:], i))
		}
	}
	return nil
}
