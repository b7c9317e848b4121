// Package loop is the loop of ranks that compute and then take part in a reduction which waits
// for no contribution younger than a slack allows, beside a ring allreduce: simulated on a model
// machine, or run by ranks that are goroutines of this process.
//
// It judges nothing and draws nothing.
package loop
