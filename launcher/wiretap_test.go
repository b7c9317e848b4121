package launcher

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// tappedSSH is fakeSSH that leads agents, and so their ranks, through a tap: it tells
// where the launcher is in a file, and the agent that the tap is there instead.
const tappedSSH = `#!/bin/sh
read -r line
printf '%s\n' "$line" | sed 's/.*"addresses":\["\([^"]*\)".*/\1/' >"$WIRETAP_TARGET.$$"
mv "$WIRETAP_TARGET.$$" "$WIRETAP_TARGET"
line=$(printf '%s\n' "$line" | sed "s/\"addresses\":\[[^]]*\]/\"addresses\":[\"$WIRETAP\"]/")
cd "$HOME"
{ printf '%s\n' "$line"; cat; } | HOSTNAME=$5 sh -c "$6"
`

// A wiretap is between the hosts of a job and hears everything.
type wiretap struct {
	listener net.Listener
	target   string // file with the address of the launcher

	mu    sync.Mutex
	calls []*tapped
}

// A tapped is what both sides of one connection have said.
type tapped struct{ out, back capture }

// newWiretap listens; what it hears of is passed on until the test ends.
func newWiretap(t *testing.T) *wiretap {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wiretap{listener: l, target: filepath.Join(t.TempDir(), "target")}
	var all sync.WaitGroup
	all.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			all.Go(func() { w.pass(t, conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return w
}

// launcher returns a new connection to the launcher, past the tap.
func (w *wiretap) launcher(t *testing.T) net.Conn {
	address, err := os.ReadFile(w.target)
	if err != nil {
		t.Error(err)
		return nil
	}
	conn, err := net.Dial("tcp", strings.TrimSpace(string(address)))
	if err != nil {
		t.Error(err)
		return nil
	}
	return conn
}

func (w *wiretap) pass(t *testing.T, in net.Conn) {
	defer in.Close()
	out := w.launcher(t)
	if out == nil {
		return
	}
	defer out.Close()
	call := &tapped{}
	w.mu.Lock()
	w.calls = append(w.calls, call)
	w.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(io.MultiWriter(out, &call.out), in)
		out.(*net.TCPConn).CloseWrite()
	})
	io.Copy(io.MultiWriter(in, &call.back), out)
	in.(*net.TCPConn).CloseWrite()
	both.Wait()
}

// heard returns all that was said so far, and by whom connections were made.
func (w *wiretap) heard() (all [][]byte, made [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		made = append(made, []byte(c.out.String()))
		all = append(all, []byte(c.out.String()), []byte(c.back.String()))
	}
	return all, made
}

// disguises returns what a secret looks like when somebody has only encoded it.
func disguises(secret string) map[string][]byte {
	out := map[string][]byte{
		"as it is": []byte(secret), "in hexadecimal": []byte(hex.EncodeToString([]byte(secret))),
		"in capital hexadecimal": []byte(strings.ToUpper(hex.EncodeToString([]byte(secret)))),
	}
	for skip := range 3 { // base64 looks different at each place modulo 3
		for name, e := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "URL's base64": base64.URLEncoding} {
			text := e.EncodeToString(append(make([]byte, skip), secret...))
			out[fmt.Sprintf("in %s after %d", name, skip)] = []byte(text[4 : len(text)-4])
		}
	}
	if raw, err := hex.DecodeString(secret); err == nil {
		out["as the bytes of its digits"] = raw
	}
	return out
}

// TestWiretapHearsNothing runs a job of three hosts with everything between them tapped,
// searches the capture for the key, identities, variables, arguments, input and output, and
// tries to get in with it.
func TestWiretapHearsNothing(t *testing.T) {
	testenv.Need(t, "sed")
	w := newWiretap(t)
	random := auth.NewKey().Text()
	variable, argument, line := "variable-"+random[:16], "argument-"+random[16:32], "input-"+random[32:48]
	t.Setenv("WIRETAP_SECRET", variable)
	t.Setenv("WIRETAP", w.listener.Addr().String())
	t.Setenv("WIRETAP_TARGET", w.target)
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer stdin.Close()
	ready := make(chan struct{})
	var once sync.Once
	stdout := &capture{seen: func(text string) {
		if strings.Count(text, "<nil>\n") == 3 {
			once.Do(func() { close(ready) })
		}
	}}
	cfg := onHosts(t, role("secretive", 0, argument), "a:1,b:2")
	if err := os.WriteFile(cfg.Remote.SSH[0], []byte(tappedSSH), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Env = append(cfg.Env, "WIRETAP_ADDED=added-"+variable)
	cfg.Stdin, cfg.Stdout = in, stdout
	over := make(chan error, 1)
	go func() {
		o, err := runJob(t, cfg)
		if err == nil && o.ExitCode != 0 {
			err = fmt.Errorf("%+v", o)
		}
		over <- err
	}()
	select {
	case <-ready:
	case err := <-over:
		t.Fatalf("the job ended early: %v\n%s", err, stdout)
	}
	secrets := map[string]string{}
	for r := range 3 {
		said := linesOf(stdout.String(), r)[0]
		text, err := strconv.Unquote(said[:strings.LastIndexByte(said, '"')+1])
		credentials, err2 := auth.ParseCredentials(text)
		if err != nil || err2 != nil || credentials.Identity == nil {
			t.Fatalf("rank %d has no credentials in what it said: %v, %v", r, err, err2)
		}
		secrets["the key"] = credentials.Key.Text()
		secrets[fmt.Sprintf("what makes rank %d itself", r)] = credentials.Identity.Text()[64:128]
	}
	if seen := searchProcesses(t, secrets, argument); seen < 3 {
		t.Errorf("%d processes with the argument were seen; want the ranks", seen)
	}
	replays := w.replayAll(t)
	fmt.Fprintln(stdin, line)
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(stdout.String(), "<nil>\n"); got != 6 {
		t.Errorf("%d of 6 answers are there:\n%s", got, stdout)
	}

	secrets["a variable"], secrets["an argument"], secrets["input"] = variable, argument, line
	all, made := w.heard()
	bytesHeard := 0
	for _, said := range all {
		bytesHeard += len(said)
		for what, secret := range secrets {
			for how, needle := range disguises(secret) {
				if bytes.Contains(said, needle) {
					t.Errorf("%s crossed the network, %s", what, how)
				}
			}
		}
	}
	if len(made) < 5 || bytesHeard < 5000 {
		t.Errorf("%d connections with %d bytes were heard; want at least those of 2 agents and 3 ranks", len(made), bytesHeard)
	}
	t.Logf("%d bytes on %d connections, %d replays", bytesHeard, len(made), replays)
}

// searchProcesses looks for secrets where other users, or children, could find them: in the
// arguments and the environment of every process. It returns how many have the argument.
func searchProcesses(t *testing.T, secrets map[string]string, argument string) (seen int) {
	files, err := filepath.Glob("/proc/[0-9]*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base != "cmdline" && base != "environ" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended, or is another user's
		}
		if bytes.Contains(text, []byte(argument)) {
			seen++
		}
		for what, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s is in %s", what, file)
			}
		}
	}
	return seen
}

// replayAll says again to the launcher what each side that connected has said, whole and
// up to every message of the handshake, and what agents and ranks have said after it to
// each other's connections.
func (w *wiretap) replayAll(t *testing.T) (replays int) {
	const opening, proof = 120, 32 + 160
	_, made := w.heard()
	made = slices.DeleteFunc(made, func(said []byte) bool { return len(said) <= opening+proof }) // what came to nothing
	for i, said := range made {
		other := made[(i+1)%len(made)]
		for _, again := range [][]byte{said, said[:opening+proof], append(bytes.Clone(said[:opening+proof]), other[opening+proof:]...), append(bytes.Clone(other[:opening]), said[opening:]...)} {
			replays++
			conn := w.launcher(t)
			if conn == nil {
				return replays
			}
			conn.SetDeadline(time.Now().Add(testenv.Limit(t)))
			conn.Write(again)
			answer, _ := io.ReadAll(conn)
			conn.Close()
			// A challenge, and the verdict that this is the wrong proof.
			if len(answer) != 40+36 || answer[40] != 3 {
				t.Errorf("a replay of connection %d was answered with %d bytes: %x", i, len(answer), answer)
			}
		}
	}
	return replays
}
