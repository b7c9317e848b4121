// Package report shows what was measured: rows as a table, as lines of JSON, in the text
// format of the OSU micro-benchmarks and as a chart, and the rows of rounds beside peers,
// combined and compared. Package chart of the module draws; Draw is what writes its
// drawings into files.
//
// It measures nothing and starts nothing.
package report
