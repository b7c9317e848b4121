package segment_test

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// store copies xs into memory of a segment from a byte offset on.
func store[T segment.Element](s *segment.Segment, offset uint64, xs []T) error {
	to, err := segment.View[T](s, offset, len(xs))
	copy(to, xs)
	return err
}

// A function for all types of element, also those of the program.
func ExampleElement() {
	type celsius float32
	seg, err := segment.New(16, 1, notify.GoroutineWait(0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seg.Close()
	if err := store(seg, 8, []celsius{20.5, 21}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(segment.Of[celsius](seg.All().Bytes()))
	// Output:
	// [0 0 20.5 21]
}
