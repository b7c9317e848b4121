// Package lint holds the tests about the code itself: who may import whom,
// which package owns which outside dependency, documented exports, the shape of
// functions and files, locks that methods take, examples of exported types, and documentation
// that still points at real code.
//
// Each rule is a checker: a function from parsed sources to problems, with a
// test that feeds it a made-up source that breaks the rule. The tables of the
// rules (the import order, the known build tags) stand in the _test files,
// which run every checker over this module. Nothing may import this package.
//
// The rules need nothing but the standard library and no installed tool, so
// they hold wherever `go test ./...` runs.
package lint
