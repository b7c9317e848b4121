package gaspi_test

import (
	"context"
	"maps"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) {
	roles := map[string]testenv.Role{
		"addresses":  bindRank(addressMatrix),
		"everything": bindRank(bindEverything),
		"death":      bindRank(bindDeath),
		"orphan":     ranktest.Rank(small, playOrphan),
		"follower":   ranktest.Rank(small, playFollower),
		"unheard":    playUnheard,
		"talk":       ranktest.Rank(small, playTalk),
		"stuck":      ranktest.Rank(small, playStuck),
	}
	maps.Copy(roles, processRoles())
	testenv.Main(testenv.Waiting{M: m}, roles)
}

// bindRank is the role of a process that does what a goroutine does, too.
func bindRank(play func(ctx context.Context, p *gaspi.Proc) error) testenv.Role {
	cfg := small
	cfg.KeepGoing = false
	return ranktest.Rank(cfg, func(ctx context.Context, p *gaspi.Proc, _ []string) error { return play(ctx, p) })
}
