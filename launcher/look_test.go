package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/near"
)

// Goal: sockets of strangers are no jobs, and what they are called does not come to a terminal.
// Method: sockets with the names of a job's, of which the last part could or could not be that of a job.
func TestSocketsThatAreNoJobs(t *testing.T) {
	id := boot.NewJobID()
	for name, isJob := range map[string]bool{
		id: true, id + "-x": true, id + "\x1b[31m": false, id + " x": false, id + "\ny": false, id + "/../z": false, id + strings.Repeat("l", 60): false, id + "\xff": false,
	} {
		l, err := near.Listen(socketName(os.Geteuid(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		jobs, err := jobSockets()
		if err != nil {
			t.Fatal(err)
		}
		// The system ends a line behind a name with a line feed, so what is before that may be a job.
		if _, listed := jobs[name]; listed != isJob {
			t.Errorf("%q is listed: %t, want %t", name, listed, isJob)
		}
		for job := range jobs {
			if boot.CheckJob(job) != nil {
				t.Errorf("%q is listed", job)
			}
		}
	}
}

// Goal: whoever asks a launcher that does not answer learns which job that is of, and what to do.
// Method: a socket that nobody serves, and a context that has ended.
func TestLauncherThatDoesNotAnswer(t *testing.T) {
	id := boot.NewJobID()
	want := "job " + id + ": gaspi-run does not answer; it may be stopped, and goes on after kill -CONT with its pid"
	for kind, ask := range map[string]func(context.Context) error{
		"ps": func(ctx context.Context) error {
			_, err := Look(ctx, id)
			return err
		},
		"top": func(ctx context.Context) error {
			_, err := Observe(ctx, id)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var sockets []net.Listener
		for _, name := range []string{socketName(os.Geteuid(), id), topName(os.Geteuid(), id)} {
			l, err := near.Listen(name)
			if err != nil {
				t.Fatal(err)
			}
			sockets = append(sockets, l)
			go func() {
				if conn, err := l.Accept(); err == nil { // the question is there, and has no answer
					cancel()
					<-t.Context().Done()
					conn.Close()
				}
			}()
		}
		if err := ask(ctx); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
		cancel()
		var errs []error
		for _, l := range sockets {
			errs = append(errs, l.Close())
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(fmt.Errorf("%s: %w", kind, err))
		}
	}
}
