package rankrun

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A Verdict says what network was emulated, and whether to believe it.
type Verdict struct {
	Network string  `json:"network,omitempty"`    // empty if none was emulated
	Invalid bool    `json:"invalid,omitempty"`    // the host could not carry it
	Late    float64 `json:"late_share,omitempty"` // of messages or wake-ups, whichever is greater
	Text    string  `json:"-"`                    // for people; empty if none was emulated
}

// Judge asks all ranks how punctual the emulated network was since they began, or since
// they called it last. All ranks call it. If one has died, the verdict is that of this rank.
func Judge(ctx context.Context, p *gaspi.Proc) (Verdict, error) {
	network, emulated := p.Emulation().Network()
	if !emulated {
		return Verdict{}, nil
	}
	own := p.Emulation().Restart()
	counts := []int64{
		int64(own.Delivered.Events), int64(own.Delivered.Late), int64(own.Noticed.Events), int64(own.Noticed.Late),
	}
	all := make([]int64, len(counts))
	switch err := gaspi.AllReduce(ctx, p.World(), counts, all, gaspi.Sum); {
	case errors.Is(err, gaspi.ErrRankDead):
		all = counts
	case err != nil:
		return Verdict{}, err
	}
	own.Delivered.Events, own.Delivered.Late = uint64(all[0]), uint64(all[1])
	own.Noticed.Events, own.Noticed.Late = uint64(all[2]), uint64(all[3])
	return Verdict{
		Network: network.String(), Invalid: !own.Valid(), Late: max(own.Delivered.Share(), own.Noticed.Share()),
		Text: own.String(),
	}, nil
}

// Print says it to people, if a network was emulated.
func (v *Verdict) Print(w io.Writer) {
	if v.Network != "" {
		fmt.Fprintf(w, "emulated network: %s\n%s\n", v.Network, v.Text)
	}
}
