// Package system has no code, only tests that belong to no package: whole jobs
// across the hosts of a cluster, started as a user starts them, with faults.
//
// They take some minutes, so they run only with GASPI_TEST_CLUSTER=1 in the
// environment, as .ci/run cluster does.
package system
