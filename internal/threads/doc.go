// Package threads has no code, only tests that belong to no package: many goroutines
// of each rank that make and use teams, reductions, stores, groups and segments at a
// time, over the same groups and over others.
package threads
