package gaspi

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/logging"
)

// logger returns that of the program, if it has one, else what the environment asks for. A file of it
// is named after the rank, or after the process where a starter says the rank in another way.
func (c Config) logger() (*slog.Logger, error) {
	if c.Log != nil {
		return c.Log, nil
	}
	s, err := logging.Read(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	l, err := s.Open(cmp.Or(os.Getenv(boot.EnvRank), fmt.Sprintf("p%d", os.Getpid())))
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return l, err
}

// log returns the logger of a part of this rank.
func (p *Proc) log(part string) *slog.Logger {
	return p.cfg.Log.With(logging.Part, part, "rank", p.rank)
}

// logJoined says on each host, and at the level of debugging on each rank, what job this is.
func (p *Proc) logJoined() {
	level := slog.LevelDebug
	if p.info.LocalRank == 0 {
		level = slog.LevelInfo
	}
	build := Version
	if info, ok := debug.ReadBuildInfo(); ok {
		build += " " + info.GoVersion
	}
	p.log(logging.Job).Log(p.attached, level, "gaspi: joined", "job", p.info.Job, "size", p.size, "host", p.info.Host,
		"ranks of this host", p.info.LocalSize, "transport", p.wire.Name(), "version", build)
}

// logRoute says how this rank reaches another one, on first use: the first of each host for each
// transport, and at the level of debugging for each pair.
func (p *Proc) logRoute(r Rank) {
	name, err := p.wire.Via(r)
	if err != nil {
		return // which the operation says
	}
	level := slog.LevelDebug
	if _, told := p.reached.LoadOrStore(name, true); !told && p.info.LocalRank == 0 {
		level = slog.LevelInfo
	}
	p.log(logging.Boot).Log(p.attached, level, "gaspi: reaches", "peer", r, "transport", name)
}
