// Package dnn replays the communication of data-parallel training: the gradients
// of a network, in the order and of the sizes in which its backward pass makes
// them, each reduced over all ranks while the rest is still being computed. The
// computing is emulated, layer by layer, from its floating-point operations; the
// reductions are real. It is the workload of Section 7 of "Pipelined allreduce"
// (Table 2 and Figure 9).
//
// Measure runs it on the ranks of a job, Simulate prices it on a model machine.
// Both return the same Results. The package knows no flags and starts no ranks.
package dnn
