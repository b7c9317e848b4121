package notify_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

// newArray makes an array of count notifications for goroutines of this process.
func newArray(count uint32) *notify.Array {
	return notify.NewArray(make([]byte, notify.Bytes(count)), count, notify.GoroutineWait(0, 0))
}

// One goroutine posts and another waits, takes the notification, and sees all that was written
// before the post.
func ExampleArray() {
	array := newArray(4)
	var result string
	go func() {
		result = "data"
		array.Set(2, 7)
	}()
	id, err := array.Wait(context.Background(), notify.Some(0, 4), nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	value, err := array.Reset(id)
	fmt.Println(id, value, err, result)
	// Output:
	// 2 7 <nil> data
}

// Reset gives the value to one caller, and 0 to all others.
func ExampleArray_Reset() {
	array := newArray(4)
	array.Set(2, 7)
	fmt.Println(array.Reset(2))
	fmt.Println(array.Reset(2))
	// Output:
	// 7 <nil>
	// 0 <nil>
}

// A wait for a sum: three goroutines add 1 each.
func ExampleCompare() {
	array := newArray(1)
	for range 3 {
		go array.Add(0, 1)
	}
	if _, err := array.Wait(context.Background(), notify.Until(0, notify.AtLeast, 3), nil, nil); err != nil {
		fmt.Println(err)
	}
	fmt.Println(array.Load(0))
	// Output:
	// 3
}

// A condition over many notifications is tested as a whole.
func ExampleCondition() {
	array := newArray(4)
	array.Set(0, 1)
	array.Set(1, 5)
	for _, condition := range []notify.Condition{
		notify.Some(0, 4),
		notify.Every(0, 4),
		notify.Every(0, 2),
		notify.EveryUntil(0, 2, notify.Greater, 1),
	} {
		_, holds, err := array.Try(condition)
		fmt.Println(holds, err)
	}
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
	// false <nil>
}

// Constants say which notification means which event.
func ExampleID() {
	const (
		dataReady notify.ID = iota
		roomReady
		numEvents
	)
	array := newArray(uint32(numEvents))
	array.Set(roomReady, 1)
	fmt.Println(array.Load(dataReady), array.Load(roomReady))
	// Output:
	// 0 1
}

// Values may be running numbers. Reached compares them also where they have wrapped around.
func ExampleValue() {
	array := newArray(1)
	const before notify.Value = math.MaxUint32
	array.Set(0, 2) // three steps beyond it
	_, greater, _ := array.Try(notify.Until(0, notify.Greater, before))
	_, reached, _ := array.Try(notify.Until(0, notify.Reached, before))
	fmt.Println(greater, reached)
	// Output:
	// false true
}

// The waiter makes progress itself: it takes messages between two looks at the array.
func ExampleWaitPolicy() {
	messages := make(chan notify.Value, 1)
	messages <- 9
	var array *notify.Array
	policy := notify.GoroutineWait(0, 0)
	policy.PollFirst = true
	policy.Poll = func() bool {
		select {
		case m := <-messages:
			array.Set(0, m)
			return true
		default:
			return false
		}
	}
	array = notify.NewArray(make([]byte, notify.Bytes(1)), 1, policy)
	_, err := array.Wait(context.Background(), notify.Some(0, 1), nil, nil)
	fmt.Println(array.Load(0), err)
	// Output:
	// 9 <nil>
}

// A goroutine sleeps on a word, which may also lie in memory that processes share.
func ExampleFutex() {
	var word atomic.Uint32
	var futex notify.Futex
	go func() {
		word.Store(1)
		futex.Wake(&word)
	}()
	for word.Load() == 0 { // Park may return early
		futex.Park(&word, 0, time.Minute)
	}
	fmt.Println(word.Load())
	// Output:
	// 1
}

// Sleeping goroutines of one process take no threads. One parker serves many words.
func ExampleGoroutines() {
	var words [2]atomic.Uint32
	var parker notify.Goroutines
	go func() {
		for i := range words {
			words[i].Store(uint32(i) + 1)
			parker.Wake(&words[i])
		}
	}()
	for i := range words {
		for words[i].Load() == 0 { // Park may return early
			parker.Park(&words[i], 0, time.Minute)
		}
		fmt.Println(words[i].Load())
	}
	// Output:
	// 1
	// 2
}
