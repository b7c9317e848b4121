// Package memory makes memory files, opens those of other processes, and maps them.
package memory
