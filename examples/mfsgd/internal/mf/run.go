package mf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Sum is what one call of the exchange gives.
type Sum struct {
	Values []float32     // sum of the ranks' vectors, valid until the next call
	Oldest int64         // the call of its rank that the oldest contribution comes from; 0 or less if some rank has not been heard yet
	Waited time.Duration // time spent waiting for contributions that were too old
}

// A VectorSum sums vectors over all ranks. Contributions of other ranks may be up to slack
// calls old; that of the rank itself is the one just passed. It borrows mine until it returns.
type VectorSum func(ctx context.Context, mine []float32) (Sum, error)

// RunOptions say how a run goes. Every rank passes the same values but Leader, Pause and
// Observe.
type RunOptions struct {
	Iterations int     // how many at most, at least 1
	UntilRMSE  float64 // stop early once the held-out RMSE is at most this; 0 means never
	Slack      int     // of the exchange
	Leader     bool    // this is rank 0, which decides when to stop

	Pause   func(ctx context.Context) error // called before each iteration; nil for nothing
	Observe func(iteration int, s Sample)   // called after each iteration; nil for nothing
}

// A Sample is what a rank knows after one iteration.
type Sample struct {
	Elapsed   time.Duration // since the run began
	RMSE      float64       // on held-out ratings, see the package comment
	Waited    time.Duration // in this iteration's exchange
	Staleness int           // age in calls of the oldest contribution used
}

// An Outcome is what a rank knows after a run.
type Outcome struct {
	Samples []Sample // one per iteration that this rank computed
	Reached int      // rank 0: the iteration that reached UntilRMSE; else 0
}

// ErrDiverged says that the factors grew without bound.
var ErrDiverged = errors.New("the factorization diverged: its error grew beyond all bounds; use a smaller slack")

// divergedRMSE is an error that no model has that is any good: guessing at
// random on a scale of 0.5 to 5 is off by less than half of it.
const divergedRMSE = 4.5

// Run factorizes until the plan is fulfilled. All ranks of the exchange must
// call it; they make the same number of calls to the exchange and end with the
// same items. It returns the first error of the exchange or the pause as it is,
// and ErrDiverged on all ranks if the error grows beyond all bounds.
func Run(ctx context.Context, m *Model, exchange VectorSum, plan RunOptions) (Outcome, error) {
	r := runner{model: m, exchange: exchange, plan: plan, last: plan.Iterations, enough: plan.Iterations, start: time.Now()}
	for r.call < r.last {
		if err := r.iterate(ctx); err != nil {
			return r.out, err
		}
	}
	if err := r.settle(ctx); err != nil {
		return r.out, err
	}
	if r.diverged {
		return r.out, ErrDiverged
	}
	return r.out, nil
}

// A runner is the state of one run on one rank.
type runner struct {
	model    *Model
	exchange VectorSum
	plan     RunOptions
	start    time.Time
	out      Outcome

	call     int     // calls made to the exchange
	last     int     // the last call before all settle
	enough   int     // the last call worth computing for
	stop     int     // what the leader announces: 0, or enough, negative if diverged
	squared  float64 // the rank's squared error, as last measured
	diverged bool
}

// iterate makes one call of the exchange, and computes before it unless that is
// known to be in vain.
func (r *runner) iterate(ctx context.Context) error {
	computing := r.call < r.enough
	if computing {
		r.squared = r.model.SquaredError()
		if r.plan.Pause != nil {
			if err := r.plan.Pause(ctx); err != nil {
				return err
			}
		}
		r.model.Pass()
	}
	sum, rmse, err := r.exchangeOnce(ctx)
	if err != nil || !computing {
		return err
	}
	s := Sample{
		Elapsed:   time.Since(r.start),
		RMSE:      rmse,
		Waited:    sum.Waited,
		Staleness: r.call - int(sum.Oldest),
	}
	r.out.Samples = append(r.out.Samples, s)
	if r.plan.Observe != nil {
		r.plan.Observe(r.call, s)
	}
	// Before every rank has been heard, the error is only that of some.
	if r.plan.Leader && sum.Oldest > 0 {
		r.decide(rmse)
	}
	return nil
}

// decide ends the run, on rank 0, if the error is low enough or hopeless.
func (r *runner) decide(rmse float64) {
	r.diverged = math.IsNaN(rmse) || rmse > divergedRMSE
	reached := rmse <= r.plan.UntilRMSE
	if !r.diverged && !reached {
		return
	}
	r.end(r.call)
	r.stop = r.call
	if r.diverged {
		r.stop = -r.call
	} else {
		r.out.Reached = r.call
	}
}

// end sets the end of the run, given the call that the leader found to be enough.
func (r *runner) end(enough int) {
	r.enough = enough
	if r.diverged {
		r.enough = 0 // nothing more is worth computing
	}
	r.last = min(r.plan.Iterations, enough+1+r.plan.Slack)
}

// exchangeOnce puts the rank's contribution into the sum and takes over what
// comes back. It returns the held-out RMSE over all ranks.
func (r *runner) exchangeOnce(ctx context.Context) (sum Sum, rmse float64, err error) {
	sum, err = r.exchange(ctx, r.model.contribution(r.squared, r.stop))
	if err != nil {
		return sum, 0, err
	}
	r.call++
	rmse, stop := r.model.adopt(sum.Values)
	if stop != 0 && !r.plan.Leader {
		r.diverged = stop < 0
		r.end(max(stop, -stop))
	}
	return sum, rmse, nil
}

// settle makes slack+1 more calls, after which every contribution is final and
// every rank has heard what the leader decided, were it in the last iteration.
func (r *runner) settle(ctx context.Context) error {
	for i := range r.plan.Slack + 1 {
		sum, _, err := r.exchangeOnce(ctx)
		if err != nil {
			return err
		}
		if i == r.plan.Slack && sum.Oldest <= int64(r.last) {
			return fmt.Errorf("call %d used a contribution of call %d, older than the slack of %d allows", r.call, sum.Oldest, r.plan.Slack)
		}
	}
	return nil
}
