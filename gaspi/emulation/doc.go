// Package emulation describes networks that package gaspi emulates between ranks of one host
// (Config.Emulate), and how well the host kept their times. It is for measuring protocols and
// algorithms on networks that are not there; docs/EMULATION.md says what is delayed.
package emulation
