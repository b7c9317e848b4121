package testenv

import "regexp"

// tookLong matches lines that gaspi-run, the programs that start jobs as it does, and ranks
// print, with and without the label of a rank, when a start or a wait takes long. They come
// where the machine is slow, and say nothing else. A line that goes on behind it is kept.
var tookLong = regexp.MustCompile(`(?m)^(\[\d+\] )?(gaspi(-run|-bench)?: )?(started \d+ of \d+ ranks|waiting for .+ for (\d+h)?(\d+m)?\d+ ?s)\n`)

// notEnded matches the end of a sentence about a job that has been told to end, of which ranks
// still ran when its user was to read why.
var notEnded = regexp.MustCompile(`(?m); waiting for (the (other )?(rank|\d+ ranks)) to end$`)

// Complaints returns a text of a standard error, or of notices of the launcher, as it is where
// nothing takes long: without the lines that say no more than how far a start has come, or for
// how long something has been waited for, and with ranks that were told to end said to have ended.
func Complaints(text string) string {
	return notEnded.ReplaceAllString(tookLong.ReplaceAllString(text, ""), "; ended $1")
}
