//go:build capi && cgo && linux

package main

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -Wextra
// #cgo LDFLAGS: -lpthread -ldl
import "C"
