// Package transfer measures what ranks 0 and 1 send each other: latency, bandwidth and the
// rate of notifications, each beside a bare limit.
package transfer
