package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// stacksPatience is how long ranks may take to answer what their goroutines do: one that is stopped gives
// no answer.
const stacksPatience = 2 * time.Second

// gatherStacks asks each rank for the stacks of its goroutines, writes them to files of Config.Stacks, and
// returns a sentence that says how many there are. It blocks for stacksPatience where a rank does not answer.
func (j *job) gatherStacks() string {
	ctx, cancel := context.WithTimeout(context.Background(), stacksPatience)
	defer cancel()
	var all sync.WaitGroup
	var written atomic.Int32
	for r := range Rank(j.cfg.Ranks) {
		all.Go(func() {
			text, err := j.server.Ask(ctx, r, "goroutine?debug=2")
			if err == nil {
				err = writeWhole(j.cfg.Stacks, fmt.Sprintf("%d.stacks", r), text)
			}
			if err != nil {
				j.cfg.Log(fmt.Sprintf("the stacks of rank %d are not written: %v", r, err))
				return
			}
			written.Add(1)
		})
	}
	all.Wait()
	return fmt.Sprintf("wrote the stacks of %d of %d ranks to %s", written.Load(), j.cfg.Ranks, j.cfg.Stacks)
}

// writeWhole writes a file that has its name when it is complete.
func writeWhole(dir, name string, text []byte) error {
	f, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return err
	}
	return complete(f, filepath.Join(dir, name), func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// complete writes a file, closes it and gives it its name, or leaves nothing.
func complete(f *os.File, name string, write func(*os.File) error) error {
	err := errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// answerStacks is what processes that ask what ranks do are told of stacks: nothing without Config.Stacks.
func (j *job) answerStacks() string {
	if j.cfg.Stacks == "" {
		return ""
	}
	return j.gatherStacks() + "\n"
}
