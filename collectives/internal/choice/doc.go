// Package choice chooses how a collective call is done: by which algorithm, in which segments,
// and with which buffers copied to scratch.
//
// A Chooser takes the variant with the least predicted time on a model machine: by formulas, and
// for few ranks by simulations of those that formulas call the cheapest. Its answer
// depends on its configuration and the call alone, and all members of a team have both alike,
// so that all choose the same without a message. The package is pure: it has no clock, no I/O
// and no memory that peers reach. Package collectives calls it once for each new plan.
package choice
