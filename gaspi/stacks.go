package gaspi

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"

	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// writeStacks begins to write the stacks of all goroutines to a file when the launcher asks for them, if
// the environment says where. It goes on until the process ends: a rank that has left may be what
// others wait for.
func (p *Proc) writeStacks() {
	dir := os.Getenv(boot.EnvStacks)
	if dir == "" || p.inside {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, boot.StacksSignal)
	go p.stacksLoop(dir, asked)
}

func (p *Proc) stacksLoop(dir string, asked <-chan os.Signal) {
	for range asked {
		if err := p.stacksTo(dir); err != nil {
			p.cfg.Log.Warn("gaspi: the stacks of this rank are not written", "err", err)
		}
	}
}

// stacksTo writes the stacks to a file of this rank, which has its name when it is complete.
func (p *Proc) stacksTo(dir string) error {
	name := filepath.Join(dir, fmt.Sprintf("%d.stacks", p.rank))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".stacks-*")
	if err != nil {
		return err
	}
	err = errors.Join(pprof.Lookup("goroutine").WriteTo(f, 2), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
