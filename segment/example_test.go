package segment_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A segment is memory with notifications: a peer writes the one, then sets the other.
func ExampleSegment() {
	seg, err := segment.New(16, 4, notify.GoroutineWait(0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seg.Close()
	go func() {
		copy(seg.All().Bytes(), "written")
		seg.Notifications().Set(3, 7) // the number of bytes
	}()
	ready := notify.Some(3, 1)
	if _, err := seg.Notifications().Wait(context.Background(), ready, nil, nil); err != nil {
		fmt.Println(err)
		return
	}
	n, err := seg.Notifications().Reset(3)
	fmt.Printf("%s %v\n", seg.All().Bytes()[:n], err)
	// Output:
	// written <nil>
}

// A part of a span has its bounds checked against the span, not against the segment.
func ExampleSpan() {
	seg, err := segment.New(64, 1, notify.GoroutineWait(0, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer seg.Close()
	record, err := seg.Span(32, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := record.Sub(8, 8)
	fmt.Println(second, err)
	_, err = record.Sub(8, 16)
	fmt.Println(err != nil)
	// Output:
	// [40:+8] <nil>
	// true
}
