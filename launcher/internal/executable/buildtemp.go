package executable

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// removeScript removes a directory once no process has the other end of its input any more.
const removeScript = `trap '' HUP INT QUIT TERM TSTP; read -r line; exec rm -rf -- "$1"`

// A buildTemp is the temporary directory of one go command. An interrupted go command can leave
// files there.
type buildTemp struct {
	dir     string
	remover *exec.Cmd // removes dir if this process is killed by signal 9; nil without a shell
	held    *os.File  // the other end of the remover's input; nil without a remover
}

// newBuildTemp makes the directory where the go command would make its own.
func newBuildTemp(log func(string)) (*buildTemp, error) {
	dir, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "gaspi-run-build-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; set TMPDIR or GOTMPDIR to a directory in which files can be made", err)
	}
	b := &buildTemp{dir: dir}
	if err := b.startRemover(); err != nil {
		log(fmt.Sprintf("%s will remain if this launcher is killed by signal 9 during the build: %v", dir, err))
	}
	return b, nil
}

func (b *buildTemp) startRemover() error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	remover := exec.Command("/bin/sh", "-c", removeScript, "gaspi-remover", b.dir)
	remover.Dir, remover.Stdin = "/", theirs
	remover.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := remover.Start(); err != nil {
		ours.Close()
		return err
	}
	b.remover, b.held = remover, ours
	return nil
}

// use has a go command make its files in the directory, which remains until the go command
// and the processes that it has started have ended.
func (b *buildTemp) use(cmd *exec.Cmd) {
	cmd.Env = append(cmd.Environ(), "GOTMPDIR="+b.dir)
	if b.held != nil {
		cmd.ExtraFiles = []*os.File{b.held}
	}
}

// remove removes the directory and waits for the remover to end.
func (b *buildTemp) remove() {
	if b.held != nil {
		b.held.Close()
		b.remover.Wait()
	}
	os.RemoveAll(b.dir) // where there is no rm
}
