package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// apiDir is the folder with one text per public package: its interface.
const apiDir = "api"

// apiOf returns the interface of each public package as text, by the path of its file in
// apiDir: all that is exported, without comments and bodies, in the order of go doc. It is the
// interface on linux/amd64 in a build without tags.
func apiOf(root string, files []*goFile) (map[string]string, error) {
	texts := map[string]string{}
	for _, dir := range publicDirs(files) {
		text, err := packageAPI(root, dir, files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		texts[path.Join(apiDir, strings.ReplaceAll(dir, "/", "-")+".txt")] = text
	}
	return texts, nil
}

// publicDirs returns the folders of packages that programs outside the module may import.
// Packages below examples are not for them.
func publicDirs(files []*goFile) []string {
	var dirs []string
	for _, f := range files {
		parts := strings.Split(f.dir, "/")
		public := !f.test && f.ast.Name.Name != "main" && !slices.Contains(parts, "internal") && parts[0] != "examples"
		if public && !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// packageAPI returns the interface of the package in dir as text.
func packageAPI(root, dir string, files []*goFile) (string, error) {
	target := build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc", ReleaseTags: build.Default.ReleaseTags}
	fset := token.NewFileSet()
	var sources []*ast.File
	for _, f := range files {
		if f.dir != dir || f.test {
			continue
		}
		if in, err := target.MatchFile(filepath.Join(root, dir), path.Base(f.path)); err != nil || !in {
			if err != nil {
				return "", err
			}
			continue
		}
		source, err := parser.ParseFile(fset, filepath.Join(root, f.path), nil, 0) // again: go/doc changes it
		if err != nil {
			return "", err
		}
		sources = append(sources, source)
	}
	p, err := doc.NewFromFiles(fset, sources, dir)
	if err != nil {
		return "", err
	}
	w := &apiWriter{fset: fset}
	fmt.Fprintf(&w.text, "package %s\n", p.Name)
	w.values(p.Consts)
	w.values(p.Vars)
	w.funcs(p.Funcs)
	for _, t := range p.Types {
		w.node(t.Decl)
		w.values(t.Consts)
		w.values(t.Vars)
		w.funcs(t.Funcs)
		w.funcs(t.Methods)
	}
	return w.text.String(), w.err
}

// An apiWriter writes declarations, and keeps the first error.
type apiWriter struct {
	fset *token.FileSet
	text bytes.Buffer
	err  error
}

func (w *apiWriter) values(all []*doc.Value) {
	for _, v := range all {
		w.node(v.Decl)
	}
}

func (w *apiWriter) funcs(all []*doc.Func) {
	for _, f := range all {
		f.Decl.Body = nil
		w.node(f.Decl)
	}
}

func (w *apiWriter) node(n ast.Node) {
	w.text.WriteString("\n")
	tabs := printer.Config{Mode: printer.TabIndent | printer.UseSpaces, Tabwidth: 8}
	if err := tabs.Fprint(&w.text, w.fset, n); err != nil && w.err == nil {
		w.err = err
	}
	w.text.WriteString("\n")
}
