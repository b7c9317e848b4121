// Package page writes figures that were made: as text for a terminal, and as a report, which
// is one page of HTML that says on which host it was made.
//
// It makes no figure and judges none.
package page
