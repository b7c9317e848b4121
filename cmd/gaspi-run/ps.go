package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// psWord is the first argument by which this program says what the ranks of a running job do.
const psWord = "ps"

// psPatience is how long the launcher of the job may take, which asks its other hosts.
const psPatience = 10 * time.Second

// ps says what the ranks of the job do whose name, or its beginning, is the argument.
func ps(args []string, stdout io.Writer) error {
	job := ""
	if len(args) > 0 {
		job = args[0]
	}
	if len(args) > 1 {
		return surplus(psWord, args[1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), psPatience)
	defer cancel()
	text, err := launcher.Look(ctx, job)
	if err != nil {
		return unseen{fmt.Errorf("ps: %w", err)}
	}
	fmt.Fprint(stdout, text)
	return nil
}

// An unseen is why a job cannot be seen that a command line asks for which makes sense.
type unseen struct{ error }
