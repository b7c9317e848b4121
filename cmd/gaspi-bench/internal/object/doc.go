// Package object measures what is done with objects in the store of package hoplite,
// beside collective operations on whole vectors and bare writes through a line of ranks.
package object
