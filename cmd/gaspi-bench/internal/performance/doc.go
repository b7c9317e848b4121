// Package performance measures what docs/PERFORMANCE.md shows, keeps the rows in a file, and
// writes tables and a picture from that file.
//
// It starts gaspi-bench for each operation, and knows nothing of how that measures.
package performance
