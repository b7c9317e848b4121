package main

import (
	"encoding/json"
	"math"
	"strconv"
)

// reportFormat changes whenever a reader of an older report would go wrong.
const reportFormat = "mfsgd/1"

// A Report is the document that --json writes: everything that a job measured.
// Times are in seconds, errors in stars.
type Report struct {
	Format    string  `json:"format"`     // reportFormat
	Ranks     int     `json:"ranks"`      // of the job
	Factors   int     `json:"factors"`    // per user and item
	Seed      uint64  `json:"seed"`       // of everything random
	Jitter    string  `json:"jitter"`     // as --jitter reads it, with defaults filled in
	UntilRMSE float64 `json:"until_rmse"` // target; 0 for a fixed number of iterations
	Data      Data    `json:"data"`
	Runs      []Run   `json:"runs"` // in the order of --slack
}

// Data says what was learned from.
type Data struct {
	Source  string `json:"source"` // the file, or "synthetic USERSxITEMSxRATINGS"
	Users   int    `json:"users"`
	Items   int    `json:"items"`
	Train   int64  `json:"train"`    // ratings to learn from
	HeldOut int64  `json:"held_out"` // ratings set aside to measure the error on
}

// A Run is the outcome for one slack, over all ranks.
type Run struct {
	Slack int `json:"slack"`
	// Iterations is how many each rank computed, or with a target the one in
	// which rank 0 saw it reached; Seconds is when the last rank had done them,
	// or rank 0 with a target. Iterations to bring all ranks to a common end do not count.
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"`
	Reached    bool    `json:"reached"` // there was a target and it was reached
	// RMSE is the exact error of the final model on the held-out ratings.
	RMSE float64 `json:"rmse"`
	// Waiting is the share of its time that a rank spent waiting for
	// contributions, on average over ranks.
	Waiting       float64 `json:"waiting_share"`
	StalenessMean float64 `json:"staleness_mean"` // see Series.Staleness; over all ranks and iterations
	StalenessMax  int     `json:"staleness_max"`
	Rank0         Series  `json:"rank0"` // as rank 0 saw it
	Mean          Series  `json:"mean"`  // averages over all ranks
}

// A Series has one value per iteration, in columns.
type Series struct {
	Seconds column `json:"seconds"` // since the run began, when the iteration ended
	// RMSE is the error that the iteration's sum reported: that of the models
	// with which the ranks entered the iteration that their contribution is
	// from. It is null while nobody was heard.
	RMSE   column `json:"rmse"`
	Waited column `json:"waited_seconds"` // in this iteration
	// Staleness is the rank's own iteration less that of the oldest contribution it used.
	Staleness column `json:"staleness"`
}

// A column is written with null in place of what is no number.
type column []float64

// MarshalJSON writes six digits after the point, which is microseconds.
func (c column) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, x := range c {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, math.Round(x*1e6)/1e6, 'f', -1, 64)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (c *column) UnmarshalJSON(text []byte) error {
	var values []*float64
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*c = make(column, len(values))
	for i, v := range values {
		(*c)[i] = math.NaN()
		if v != nil {
			(*c)[i] = *v
		}
	}
	return nil
}
