// Package measure times workloads on the ranks of a job: contenders take turns, block by
// block, so that they meet the machine in the same mood, and a row for each says what came
// out. It also says whether the host carried an emulated network.
//
// It knows neither what contenders do nor how ranks were started.
package measure
