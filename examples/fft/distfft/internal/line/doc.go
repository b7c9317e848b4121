// Package line transforms many lines of one length at a time: the local part of
// a distributed Fourier transform.
//
// It works on tiles. A tile holds w lines of n complex numbers side by side: the
// numbers with the same index on all lines are neighbours, as pairs of real and
// imaginary part. So number i of lane l is at tile[2*(i*w+l)] and behind it. That
// is how lines lie in memory that are no rows: columns are loaded by copying a
// few neighbours of each row, every step of a transform walks through contiguous
// memory, and each of its factors is fetched once for all lanes.
//
// The package knows neither ranks nor grids, and does no I/O. It is here because
// the Fourier packages for Go that are kept and can be had are several times
// slower and know no float32: see the README of the example for the figures.
package line
