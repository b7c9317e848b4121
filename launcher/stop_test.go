package launcher

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestARankThatIsStoppedIsReportedAndKilled(t *testing.T) {
	cfg := shell(2, `test $GASPI_RANK = 1 && kill -STOP $$; test $GASPI_RANK = 1 || exec sleep 1000`)
	cfg.Heartbeat = 300 * time.Millisecond
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 137 {
		t.Errorf("exit code %d, %v; want 137", o.ExitCode, err)
	}
	want := regexp.MustCompile(`^rank 1 \(pid \d+\) is stopped by signal 19 \(stopped \(signal\)\); it is killed if it does not go on within 300 ms
rank 1 \(pid \d+\) was killed by signal 9 \(killed\) because it was stopped by signal 19 for 300 ms after .* m?s; ended the other rank
$`)
	if !want.MatchString(o.notice) {
		t.Errorf("notice %q, want %v", o.notice, want)
	}
	if why := o.Ranks[1].Why; why != "stopped by signal 19 for 300 ms" {
		t.Errorf("rank 1 was killed for %q", why)
	}
}

// patient is a limit of silence that those keep who are not stopped: on a busy machine a process may
// get no processor for half a second.
const patient = 2 * time.Second

func TestPeersLearnOfARankThatWasStopped(t *testing.T) {
	t.Parallel()
	cfg := role("stops", 2)
	cfg.Heartbeat, cfg.OnFailure = patient, Continue
	o, err := runJob(t, cfg)
	want := "[0] {Rank:1 Left:false Reason:stopped by signal 19 for 2 s}\n"
	if err != nil || o.ExitCode != 137 || o.stdout != want {
		t.Errorf("exit code %d, %q, %v; want 137 and %q", o.ExitCode, o.stdout, err, want)
	}
}

func TestARankThatIsStoppedMayGoOn(t *testing.T) {
	cfg := shell(1, `kill -STOP $$; echo on`)
	cfg.Heartbeat = time.Hour
	var pid = regexp.MustCompile(`\(pid (\d+)\)`)
	var out capture
	var notices []string
	cfg.Stdout = &out
	cfg.Notice = func(s string) {
		if testenv.Complaints(s+"\n") == "" {
			return
		}
		notices = append(notices, s)
		syscall.Kill(number(t, pid.FindStringSubmatch(s)[1]), syscall.SIGCONT)
	}
	result, err := Run(testenv.Context(t), cfg)
	if err != nil || result.ExitCode != 0 || out.String() != "[0] on\n" {
		t.Errorf("%+v, %v, %q", result, err, &out)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "within 1h0m0s") {
		t.Errorf("notices %q", notices)
	}
}
