package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

var screenshots = flag.String("screenshots", "", "a `FOLDER` for pictures of the page, if there is a browser")

// A browser is a Chromium without a window, spoken to by the DevTools protocol over two pipes: JSON objects,
// each with a zero byte behind it.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	last    int
	session string // of the page
}

// findBrowser returns the program of a browser, or skips the test, which takes minutes with 64 ranks.
func findBrowser(t *testing.T) string {
	t.Helper()
	if os.Getenv("GASPI_TEST_PAGE") != "1" {
		t.Skip("GASPI_TEST_PAGE is not 1: it needs Chromium and is run by make page")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no browser: neither chromium, chromium-browser nor google-chrome is in PATH")
	return ""
}

// newBrowser starts a browser with a page of a width at an address.
func newBrowser(t *testing.T, program, address string, width int, dark bool) *browser {
	t.Helper()
	toRead, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "--no-first-run", "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, toWrite}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toRead.Close()
	toWrite.Close()
	t.Cleanup(func() {
		in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		out.Close()
	})
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})["sessionId"].(string)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	b.call("Page.navigate", map[string]any{"url": address})
	return b
}

// call calls a method and returns its result.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": b.last, "method": method, "params": params})
	}
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	for err == nil {
		var line []byte
		if line, err = b.out.ReadBytes(0); err != nil {
			break
		}
		var m struct {
			ID     int
			Result map[string]any
			Error  *struct{ Message string }
		}
		if err = json.Unmarshal(line[:len(line)-1], &m); err != nil || m.ID != b.last { // others are events
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		return m.Result
	}
	b.t.Fatalf("%s: %v", method, err)
	return nil
}

// value returns what an expression of the page is.
func (b *browser) value(expression string) any {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true})
	if result["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, result["exceptionDetails"])
	}
	return result["result"].(map[string]any)["value"]
}

// until waits until an expression of the page is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	testenv.EventuallySucceeds(b.t, func() error {
		if b.value(expression) != true {
			return fmt.Errorf("%s is not true of %.3000s", expression, b.value("document.body.innerText"))
		}
		return nil
	})
}

// fits checks that the page is no wider than the screen, in pixels, and dark or light as it is to be.
func (b *browser) fits(width int, dark bool) {
	b.t.Helper()
	if wide := b.value("document.documentElement.scrollWidth").(float64); int(wide) > width {
		b.t.Errorf("the page is %v pixels wide on a screen of %d", wide, width)
	}
	if got := b.value("getComputedStyle(document.body).backgroundColor") == "rgb(16, 18, 21)"; got != dark {
		b.t.Errorf("the page is dark: %v", got)
	}
}

// picture keeps what the page looks like, if somebody wants to see it.
func (b *browser) picture(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	data := b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})["data"].(string)
	png, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// toil says its process, and then writes to the two next ranks and takes part in reductions until it is ended.
func toil(ctx context.Context, p *gaspi.Proc, _ []string) error {
	fmt.Println(p.Rank(), os.Getpid())
	seg, err := p.CreateSegment(ctx, 0, 1<<16)
	if err != nil {
		return err
	}
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	x := make([]float64, 1000)
	for q := p.MustQueue(0); ; {
		for i := range 2 {
			part, err := seg.Span(0, 1<<(16-4*i))
			if err != nil {
				return err
			}
			to := gaspi.Rank((int(p.Rank()) + 1 + i) % p.Size())
			if err := q.Post(ctx, func() error { return q.Write(seg.At(to, 0), part) }); err != nil {
				return err
			}
		}
		if err := q.Wait(ctx); err != nil {
			return err
		}
		if err := collectives.AllReduce(ctx, team, x, collectives.Sum); err != nil {
			return err
		}
	}
}

// TestPageInABrowser opens the page of a job, stops one rank in mid-run, and sees it marked, without reloading:
// with few and many ranks, on a wide screen and a phone, light and dark.
func TestPageInABrowser(t *testing.T) {
	program := findBrowser(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		ranks, width int
		dark         bool
	}{
		{"4 ranks light", 4, 1280, false},
		{"4 ranks dark phone", 4, 390, true},
		{"64 ranks dark", 64, 1280, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.ranks > 4 {
				t.Skip("many processes")
			}
			l := start(t, "-n", fmt.Sprint(c.ranks), "--http", ":0", "--heartbeat", "0", "--env", testenv.AsRole("toil"), self)
			stopped := 0
			for range c.ranks {
				var rank, pid int
				_, said, _ := strings.Cut(l.line(), "] ")
				if _, err := fmt.Sscan(said, &rank, &pid); err != nil {
					t.Fatal(err)
				}
				if rank == 2 {
					stopped = pid
				}
			}
			b := newBrowser(t, program, l.page(), c.width, c.dark)
			b.until(fmt.Sprintf("document.querySelectorAll('#rows tr').length === %d", c.ranks))
			b.until("seen.traffic.length >= 6 && seen.traffic.at(-1) > 0 && document.querySelector('#calls tr') !== null")
			if b.value("document.getElementById('stall').hidden") != true {
				t.Errorf("a job that runs is stalled: %v", b.value("document.body.innerText"))
			}
			b.picture(c.name + " running")
			if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			b.until("document.querySelector('#rows tr.bad')?.dataset.rank === '2'")
			b.until("document.title === 'stalled: gaspi-run' && /^rank 2 /.test(document.getElementById('cause').innerText)")
			b.fits(c.width, c.dark)
			b.picture(c.name + " stopped")
			l.signal(syscall.SIGINT)
			l.signal(syscall.SIGINT)
			l.wait()
			b.until("!document.getElementById('lost').hidden")
		})
	}
}
