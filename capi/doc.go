// Command capi is the library for programs in C, C++ and Fortran: the functions of the GASPI
// standard (include/GASPI.h) and calls of ours (include/gaspigo.h), over packages gaspi,
// collectives, ssp and hoplite. It is built with the tag capi and a C compiler, as README.md says;
// without the tag it is a program that says so.
//
// C checks arguments and does what needs no Go: files *.c. Functions that Go exports to C have
// names ggo_ and gaspigo_. The state of the process hangs on one variable, since a C program holds
// no value that it could hang on.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "capi is a library for C: make -C capi builds it")
	os.Exit(2)
}
