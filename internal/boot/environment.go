package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
)

// Environ returns the variables, as "K=V", that make a process the rank that i
// describes, with its connection inherited as descriptor fd.
func (i Info) Environ(fd int) []string {
	env := []string{
		EnvRank + "=" + strconv.Itoa(int(i.Rank)),
		EnvSize + "=" + strconv.Itoa(i.Size),
		EnvLocalRank + "=" + strconv.Itoa(i.LocalRank),
		EnvLocalSize + "=" + strconv.Itoa(i.LocalSize),
		EnvJob + "=" + i.Job,
		EnvFD + "=" + strconv.Itoa(fd),
	}
	if i.Host != "" {
		env = append(env, EnvHost+"="+i.Host)
	}
	return env
}

// RemoteEnviron returns the variables that make a process on any host the rank
// that i describes: it reaches the launcher at one of the addresses, as
// host:port, and finds the key of the job in a file, which may be a descriptor
// that it inherits.
func (i Info) RemoteEnviron(addresses []string, keyFile string) []string {
	var env []string
	for _, kv := range i.Environ(0) {
		if !strings.HasPrefix(kv, EnvFD+"=") {
			env = append(env, kv)
		}
	}
	return append(env,
		EnvRendezvous+"="+strings.Join(addresses, ","),
		EnvKeyFile+"="+keyFile,
		EnvServer+"="+serverLauncher,
	)
}

// FromEnvironment begins the session of the process it is called in, in the
// first of these ways that the environment names: by the connection inherited
// from gaspi-run (EnvFD), over a network (EnvRank and EnvSize), as a worker of
// torchrun, as a rank of Open MPI's mpirun, through PMI-1 as Hydra speaks it, as a
// task of a Slurm step, or as a rank of another starter of the tables of package starters.
// It returns nil, nil when the process was started in no such way, or as the only one
// of its job, and an error that names the variable when the environment is incomplete
// or makes no sense, or announces other ranks without a way to find them.
//
// It blocks until the rendezvous has answered, for as long as EnvJoinTimeout
// says, and less if ctx ends. log hears, in one line each, of connections that
// were refused where this rank holds the rendezvous; wait hears what has been waited
// for, after 10 s and then every minute, until all ranks have joined. Both may be nil.
//
// It takes what it finds: variables and descriptors that would let a child of
// this process take itself for the rank are removed. It can therefore be called
// once.
func FromEnvironment(ctx context.Context, log, wait func(line string)) (Session, error) {
	v := newEnvironment(os.LookupEnv)
	begin := v.way()
	if begin == nil {
		return nil, v.announced()
	}
	nameProcess()
	return begin(ctx, v, reports{log: log, wait: wait})
}

// A way begins a session.
type way func(ctx context.Context, v *environment, tell reports) (Session, error)

// way returns the first way that the environment names, or nil. A process that one starter has
// started inside of another one has the variables of both: starters.Of chooses.
func (v *environment) way() way {
	switch {
	case v.Has(EnvFD):
		return fromLauncher
	case v.Has(EnvRank) || v.Has(EnvSize) || v.Has(EnvLocalRank) || v.Has(EnvLocalSize):
		return fromNetwork
	}
	switch s := starters.Of(&v.Reader); {
	case s != nil && s.Manager == starters.PMI1:
		return fromPMI1
	case s != nil && s.Manager == starters.Slurm:
		return fromSlurm
	case s != nil:
		return started{s}.begin
	case v.Has(EnvRendezvous) || v.Has(EnvKeyFile) || v.Has(EnvKey) || v.Has(EnvJob):
		return fromNetwork
	}
	return nil
}

// announced returns an error if some variable says that this process is one of several,
// although it has no way to join them.
func (v *environment) announced() error {
	a := starters.Announced(&v.Reader)
	if a == nil {
		return nil
	}
	return fmt.Errorf("%s=%.40s says that this process is one of several, and %s: start the program with gaspi-run, or set %s, %s, %s and %s, or unset %s to run it alone (a child of a rank is no rank)",
		a.Variable, a.Value, a.Why, EnvRank, EnvSize, EnvRendezvous, EnvKeyFile, a.Variable)
}

// fromLauncher begins the session over the connection that was inherited.
func fromLauncher(_ context.Context, v *environment, _ reports) (Session, error) {
	info, fd, err := parseEnvironment(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("%s=%d is not the connection of rank %d of %d to gaspi-run: %w; %s", EnvFD, fd, info.Rank, info.Size, err, v.insideRank())
	}
	if isTaken(conn) {
		conn.Close()
		return nil, fmt.Errorf("another process is rank %d of %d already; %s", info.Rank, info.Size, v.insideRank())
	}
	if first, _, err := net.SplitHostPort(v.Addresses(EnvRendezvous)[0]); err == nil {
		info.Rendezvous, _ = netip.ParseAddr(first) // a launcher of several hosts says where it can be reached
		if own, ok := address.Own(info.Rendezvous); ok {
			info.Rendezvous = own // with its zone
		}
	}
	os.Unsetenv(EnvFD)
	os.Unsetenv(EnvRendezvous)
	c, err := dial(conn, info)
	if errors.Is(err, ErrLost) {
		return nil, fmt.Errorf("%w; %s", err, v.insideRank())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// insideRank says what to do about a process that something else than gaspi-run has started
// inside of a rank.
func (v *environment) insideRank() string {
	if name, text := starters.FirstSet(&v.Reader); name != "" {
		return fmt.Sprintf("%s=%.40s is set, as by another starter inside of the rank: start the program with gaspi-run alone, or unset all GASPI_ variables for what the other starter starts", name, text)
	}
	return "start the program once for each rank, with gaspi-run itself, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)"
}

// parseEnvironment returns who a process is that inherited a connection to its
// launcher, and the number of its descriptor.
func parseEnvironment(lookup func(string) (string, bool)) (info Info, fd int, err error) {
	v := newEnvironment(lookup)
	var missing, present []string
	for _, name := range []string{EnvRank, EnvSize, EnvLocalRank, EnvLocalSize, EnvJob, EnvFD} {
		if v.Has(name) {
			present = append(present, name)
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Info{}, -1, fmt.Errorf("%s %s not set although %s %s: start the program with gaspi-run, which sets them all, or unset all GASPI_ variables to run it alone",
			phrase.List(missing), phrase.Plural(len(missing), "is", "are"), phrase.List(present), phrase.Plural(len(present), "is", "are"))
	}
	info = v.info("")
	fd = v.Number(EnvFD, 3, variables.ManyRanks, 0)
	return info, fd, v.Err
}

// takeDescriptor makes a connection of an inherited descriptor. The descriptor
// itself is closed; the connection's own is closed on exec. One that is no
// connection is left alone, because it may be somebody else's.
func takeDescriptor(fd int) (net.Conn, error) {
	syscall.ForkLock.RLock()
	own, err := syscall.Dup(fd) // an os.File of fd itself would close it some day, whatever it is then
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	f := os.NewFile(uintptr(own), "boot")
	defer f.Close() // FileConn has a duplicate
	conn, err := net.FileConn(f)
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return nil, call // without the words of package net
	}
	if err != nil {
		return nil, err
	}
	syscall.Close(fd)
	return conn, nil
}

// isTaken reports whether another process speaks over a connection that both have inherited.
// If not, this one takes it, by a lock that belongs to the process and not to the descriptor,
// until it ends or closes conn. Where connections cannot be locked, none is taken.
func isTaken(conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = syscall.FcntlFlock(fd, syscall.F_SETLK, &lock) })
	return err == nil && (errors.Is(refused, syscall.EAGAIN) || errors.Is(refused, syscall.EACCES))
}

// nameProcess gives this process the name of its program where it has none: the
// system names a program that was executed from a descriptor, as a launcher
// does with what it has built itself, after the descriptor's number. It is for
// the eyes of who looks at ps(1) or top(1), so nothing is lost if it fails.
func nameProcess() {
	const path = "/proc/self/comm"
	name, err := os.ReadFile(path)
	if err != nil || strings.Trim(string(name), "0123456789\n") != "" {
		return
	}
	os.WriteFile(path, []byte(filepath.Base(os.Args[0])), 0)
}
