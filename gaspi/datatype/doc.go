// Package datatype declares the types that vectors of reductions consist of and the operations
// that combine them: integers, floating-point numbers of 16, 32 and 64 bits, complex numbers, and
// values with an index. MPI calls them predefined datatypes and operations (MPI 4.1, sections 3.2.2
// and 6.9.2).
//
// Programs use the names of packages gaspi, collectives, ssp and hoplite, which are aliases of
// these. The package imports nothing of this module.
package datatype
