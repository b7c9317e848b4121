// Package line transforms many lines of one length at a time: the local part of
// a distributed Fourier transform.
//
// A transform works on w lines at a time, called lanes. The numbers that have the same
// index on all lanes are a row: w neighbours, as pairs of real and imaginary part. That
// is how lines lie in memory that are columns of something. So the first step of a
// transform reads rows from where they are and the last one writes them to where they
// belong, without a copy before or behind; every step walks through contiguous
// memory, and fetches each of its factors once for all lanes.
//
// Steps of radix 2 to 5, 8 and 16 are codelets in AVX2 or AVX-512, written by the program in
// the folder asm; rows that are shorter than a vector, and other processors, take steps in Go.
//
// The package knows neither ranks nor grids, and does no I/O. It is here because
// the Fourier packages for Go that are kept and can be had are several times
// slower and know no float32: see the README of the example for the figures.
package line
