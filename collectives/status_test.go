package collectives

import (
	"reflect"
	"testing"
)

// Goal: calls return a Status in registers. The compiler keeps a struct of at most four words and four fields there; one
// that it builds in memory costs a broadcast of 8 B a tenth.
func TestStatusFitsRegisters(t *testing.T) {
	status, word := reflect.TypeFor[Status](), reflect.TypeFor[uintptr]()
	if status.Size() > 4*word.Size() || status.NumField() > 4 {
		t.Errorf("a Status has %d bytes in %d fields, want at most 4 words in 4", status.Size(), status.NumField())
	}
}
