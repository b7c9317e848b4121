// Package model compares the model that package collectives chooses algorithms by with
// what calls take: tune measures the parameters of the model, predict every algorithm.
//
// It starts no ranks; tune runs in several jobs, which the command line starts.
package model
