package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A listedPackage is a package as go list shows it, with its tests if it is listed for these.
type listedPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// own reports whether it is a package of this module.
func (p *listedPackage) own() bool { return p.Module != nil && p.Module.Main }

// TestTypesForARM64 checks the types of all packages and of their tests for a processor that this machine
// may not have: no function is missing where there is no assembly of ours. Of packages that are not
// ours only the declarations are checked. The step cross compiles everything.
func TestTypesForARM64(t *testing.T) {
	const processor = "arm64"
	c := &typeCheck{
		set:   token.NewFileSet(),
		sizes: types.SizesFor("gc", processor),
		done:  map[string]*types.Package{"unsafe": types.Unsafe},
	}
	own := 0
	for _, p := range listFor(t, processor) {
		if err := c.check(p); err != nil {
			t.Errorf("%s: %v", p.ImportPath, err)
		}
		if p.own() {
			own++
		}
	}
	if own < 100 {
		t.Errorf("%d packages of this module were checked, want 100 or more", own)
	}
}

// listFor lists all packages for a processor, their tests and what they import, each after its imports.
// go list -test writes the tests' main files to the cache, which fails where another user wrote them before:
// the cache is one of this test.
func listFor(t *testing.T, processor string) (all []*listedPackage) {
	t.Helper()
	cmd := exec.CommandContext(testenv.Context(t), "go", "list", "-buildvcs=false", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	cmd.Dir = loadModule(t).root
	cmd.Env = append(os.Environ(), "GOARCH="+processor, "CGO_ENABLED=0", "GOCACHE="+t.TempDir())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, said.Bytes())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listedPackage{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") { // the programs that go test generates
			all = append(all, p)
		}
	}
}

// A typeCheck has the packages that were checked, by the paths by which go list shows them.
type typeCheck struct {
	set   *token.FileSet
	sizes types.Sizes
	done  map[string]*types.Package
}

// check checks a package, whose imports are checked. It returns all errors.
func (c *typeCheck) check(p *listedPackage) error {
	var files []*ast.File
	var errs []error
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	config := types.Config{
		Sizes:            c.sizes,
		IgnoreFuncBodies: !p.own(),
		Error:            func(err error) { errs = append(errs, err) },
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if of, there := p.ImportMap[path]; there {
				path = of
			}
			if found := c.done[path]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s is not among the packages that go list shows before", path)
		}),
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	checked, _ := config.Check(path, c.set, files, nil)
	c.done[p.ImportPath] = checked
	return errors.Join(errs...)
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
