package launcher

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// roles are what ranks of these tests do.
func roles() map[string]testenv.Role {
	return map[string]testenv.Role{
		"args":      testenv.Program(func() { printLines(os.Args) }),
		"env":       testenv.Program(func() { printLines(os.Environ()) }),
		"deaf":      testenv.Program(beDeaf),
		"wait":      testenv.Program(waitReady),
		"flags":     testenv.Program(printFlags),
		"exchange":  joined(playExchange),
		"secretive": playSecretive,
		"left":      joined(playLeft),
		"dies":      joined(playDeath),
		"mourns":    joined(playMourning),
		"stops":     joined(playStop),
		"survives":  joined(playSurvival),
		"absent":    playAbsence,
		"kills":     joined(playKill),
	}
}

func printLines(texts []string) {
	for _, text := range texts {
		fmt.Printf("%q\n", text)
	}
}

// beDeaf ignores every signal that can be ignored.
func beDeaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	waitReady()
}

// waitReady waits until it is killed. A select without cases would be a deadlock without other
// goroutines.
func waitReady() {
	fmt.Println("ready")
	time.Sleep(time.Hour) // sleep: until it is killed
}

// printFlags tells whether the standard output is an ordinary, blocking file.
func printFlags() {
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_GETFL, 0)
	fmt.Println("nonblocking", flags&syscall.O_NONBLOCK != 0)
}

// roleLimit is longer than the test takes that waits for a role.
const roleLimit = time.Hour

// joined returns the role of a rank that talks to the launcher.
func joined(play func(ctx context.Context, s boot.Session) error) testenv.Role {
	return func(ctx context.Context, _ []string) error {
		s, err := boot.FromEnvironment(ctx, nil, nil)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, roleLimit)
		defer cancel()
		return play(ctx, s)
	}
}

func playExchange(ctx context.Context, s boot.Session) error {
	info := s.Info()
	err := s.Put("name", fmt.Appendf(nil, "%s of rank %d", os.Args[1], info.Rank))
	values := make([][]byte, info.Size)
	for r := range values {
		if err == nil {
			values[r], err = s.Get(ctx, base.Rank(r), "name")
		}
	}
	err = errors.Join(err, s.Fence(ctx, "end", ""))
	fmt.Printf("%q %v\n", values, err)
	s.Close()
	return nil
}

// playSecretive tells all that nobody else may know, to its launcher and its peers.
func playSecretive(ctx context.Context, args []string) error {
	credentials, _ := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", supervise.BootFD)) // before they are taken
	return joined(func(ctx context.Context, s boot.Session) error {
		err := s.Put("name", []byte(os.Getenv("WIRETAP_SECRET")))
		for r := range s.Info().Size {
			if err == nil {
				_, err = s.Get(ctx, base.Rank(r), "name")
			}
		}
		fmt.Printf("%q %v\n", credentials, err)
		bufio.NewReader(os.Stdin).ReadString('\n') // rank 0 goes on when it is told to
		fmt.Println(s.Fence(ctx, "end", ""))
		s.Close()
		return nil
	})(ctx, args)
}

// playLeft has rank 0 end; the others learn that it left normally.
func playLeft(_ context.Context, s boot.Session) error {
	if s.Info().Rank != 0 {
		fmt.Printf("%+v\n", <-s.Failures())
	}
	return nil
}

// playDeath has rank 1 fail; the others learn of it and go on.
func playDeath(ctx context.Context, s boot.Session) error {
	if s.Info().Rank == 1 {
		os.Exit(7)
	}
	fmt.Printf("%+v\n", <-s.Failures())
	var dead *base.RankError
	err := s.Fence(ctx, "late", "")
	fmt.Println(errors.As(err, &dead), err)
	return nil
}

// playMourning has rank 0 learn in which order all others are killed.
func playMourning(ctx context.Context, s boot.Session) error {
	fmt.Println("pid", os.Getpid())
	if s.Info().Rank != 0 {
		<-ctx.Done()
	}
	for range s.Info().Size - 1 {
		fmt.Println("gone", (<-s.Failures()).Rank)
	}
	return nil
}

// playStop has rank 1 stop; rank 0 learns what became of it.
func playStop(_ context.Context, s boot.Session) error {
	if s.Info().Rank == 1 {
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	fmt.Printf("%+v\n", <-s.Failures())
	return nil
}

// playSurvival is of a job whose host b, with two ranks, is lost; the others learn of it.
func playSurvival(ctx context.Context, s boot.Session) error {
	fmt.Println("rank pid", os.Getpid())
	if s.Info().Host == "1" {
		<-ctx.Done()
	}
	fmt.Printf("%+v\n", <-s.Failures())
	fmt.Printf("%+v\n", <-s.Failures())
	return nil
}

// playAbsence has rank 1 never join.
func playAbsence(ctx context.Context, args []string) error {
	if os.Getenv(boot.EnvRank) == "1" {
		time.Sleep(time.Hour) // sleep: until it is killed
	}
	return joined(func(_ context.Context, s boot.Session) error {
		return s.Fence(ctx, "all", "")
	})(ctx, args)
}

// playKill has rank 0 have rank 1 killed.
func playKill(ctx context.Context, s boot.Session) error {
	if s.Info().Rank != 0 {
		<-ctx.Done()
	}
	fmt.Println(s.Kill(ctx, 1), s.Kill(ctx, 0) != nil)
	return nil
}
