package collectives

import (
	"context"
	"log/slog"

	"github.com/gaspi-go/gaspi-go/internal/logging"
)

// infoPlans is how many plans of a team are logged at the level of information; later ones are at that
// of debugging.
const infoPlans = 16

// logChoice says at the first member which algorithm a new plan has.
func (t *Team) logChoice(p *Plan) {
	level := slog.LevelDebug
	if t.me == 0 && len(t.plans.byKey) < infoPlans {
		level = slog.LevelInfo
	}
	log := t.proc.Config().Log.With(logging.Part, logging.Collectives, "rank", t.proc.Rank())
	if ctx := context.Background(); log.Enabled(ctx, level) {
		log.Log(ctx, level, "gaspi: chose an algorithm", "call", p.task.String(), "members", len(t.ranks), "algorithm", p.variant.String())
	}
}
