// Package executor carries out the schedules of one member of a team.
//
// Compile binds a schedule to memory and notifications, which gives an Executable. An Execution is
// one run of it at a time: it walks through the lanes, posts by the queue of the Member, folds and
// codes. Execution.Run does all of a run of a single lane. Execution.Advance does what can be done
// without waiting for a peer, and Execution.Wait blocks until more can be.
//
// It knows neither calls nor plans, nor what the end of a member means for a team. Package
// collectives calls it.
package executor
