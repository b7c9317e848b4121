// Package progress says who may use the state of a team, and so makes progress with its operations:
// one caller at a time or, while operations go on that callers have only begun and no caller is there,
// a goroutine.
//
// It knows neither operations nor members. Package collectives calls it, and does what the goroutine
// asks for.
package progress
