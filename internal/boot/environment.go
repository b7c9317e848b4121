package boot

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/internal/base"
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

// FromEnvironment begins the session of the process it is called in. It returns
// nil, nil when the process was not started by a launcher, and an error that
// names the variable when the environment is incomplete or makes no sense.
//
// It takes the connection: the descriptor is closed when this process executes
// another program, and EnvFD is removed from the environment, so that children
// of a rank do not take themselves for it. It can therefore be called once.
func FromEnvironment() (Session, error) {
	info, fd, err := parseEnvironment(os.LookupEnv)
	if err != nil || fd < 0 {
		return nil, err
	}
	conn, err := takeDescriptor(fd)
	if err != nil {
		return nil, fmt.Errorf("%s=%d is not the connection to a launcher: %w", EnvFD, fd, err)
	}
	os.Unsetenv(EnvFD)
	nameProcess()
	c, err := dial(conn, info)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// parseEnvironment returns who this process is; fd is negative when it is
// nobody in particular.
func parseEnvironment(lookup func(string) (string, bool)) (info Info, fd int, err error) {
	values := map[string]string{}
	var missing, present []string
	for _, name := range []string{EnvRank, EnvSize, EnvLocalRank, EnvLocalSize, EnvJob, EnvFD} {
		if v, ok := lookup(name); ok {
			values[name] = v
			present = append(present, name)
		} else {
			missing = append(missing, name)
		}
	}
	if len(present) == 0 {
		return Info{}, -1, nil
	}
	if len(missing) > 0 {
		return Info{}, -1, fmt.Errorf("%s is not set although %s is: start the program with gaspi-run, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)",
			missing[0], strings.Join(present, ", "))
	}
	number := func(name string, from, below int) int {
		n, convErr := strconv.Atoi(values[name])
		if err == nil && (convErr != nil || n < from || n >= below) {
			err = fmt.Errorf("%s=%q: expected a number from %d to %d", name, values[name], from, below-1)
		}
		return n
	}
	const many = 1 << 24 // more ranks than any job has
	info.Job = values[EnvJob]
	info.Host = localHost
	if v, ok := lookup(EnvHost); ok {
		info.Host = v
	}
	info.Size = number(EnvSize, 1, many)
	info.Rank = base.Rank(number(EnvRank, 0, max(info.Size, 1)))
	info.LocalSize = number(EnvLocalSize, 1, max(info.Size, 1)+1)
	info.LocalRank = number(EnvLocalRank, 0, max(info.LocalSize, 1))
	fd = number(EnvFD, 3, many)
	if err == nil {
		err = info.checkNames()
	}
	if err != nil {
		return Info{}, -1, err
	}
	return info, fd, nil
}

// checkNames refuses a job or a host that are no names.
func (i Info) checkNames() error {
	if err := checkJob(i.Job); err != nil {
		return fmt.Errorf("%s: %w", EnvJob, err)
	}
	if i.Host == "" || len(i.Host) > maxHost || !utf8.ValidString(i.Host) {
		return fmt.Errorf("%s=%.80q: expected the number or name of this host, 1 to %d bytes of UTF-8", EnvHost, i.Host, maxHost)
	}
	return nil
}

// maxHost bounds the name of a host, in bytes.
const maxHost = 255

// takeDescriptor makes a connection of an inherited descriptor. The descriptor
// itself is closed; the connection's own is closed on exec.
func takeDescriptor(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "boot")
	if f == nil {
		return nil, os.ErrInvalid
	}
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	f.Close()
	return conn, nil
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
