// Package timeline makes one timeline of what the ranks of a job have recorded: it corrects clocks,
// finds the post that ended each wait and the critical path, and writes the format of Chrome's trace
// viewer.
//
// It is pure: it knows neither processes nor connections.
package timeline
