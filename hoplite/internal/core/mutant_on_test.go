//go:build mutants

package core

import "testing"

// withAndWithout lists no mutant and m.
func withAndWithout(m Mutant) []Mutant { return []Mutant{MutantNone, m} }

// broken returns cfg with a mutant.
func broken(cfg Config, m Mutant) Config {
	cfg.Mutant = m
	return cfg
}

// TestMutantLostTooEarly sees the mutant that TestLastCopyLost is there for.
func TestMutantLostTooEarly(t *testing.T) {
	d := newDesk(t)
	d.c.cfg = broken(d.c.cfg, MutantLostTooEarly)
	d.put(1)
	d.get(2, 1)
	d.c.Down(1)
	if s := d.answers(); len(s) != 1 || s[0].Msg.drop().Code != Lost {
		t.Errorf("the mutant was not seen: %+v", s)
	}
}
