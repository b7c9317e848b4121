//go:build !mutants

package core

// withAndWithout lists no mutant: this build has none.
func withAndWithout(Mutant) []Mutant { return []Mutant{MutantNone} }

// broken returns cfg: this build has no mutants.
func broken(cfg Config, _ Mutant) Config { return cfg }
