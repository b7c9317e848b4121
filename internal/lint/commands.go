package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ciRun is the script that installs what tests want.
const ciRun = ".ci/run"

var (
	wantedList = regexp.MustCompile(`(?ms)^wanted\(\) \{\n\tcat <<-END\n(.*?)\n\tEND\n`)
	noRace     = regexp.MustCompile(`(?m)^no_race='(.*)'$`)
	ciSteps    = regexp.MustCompile(`(?m)^(?:steps|long)=\((.*)\)$`)
)

// checkCommands compares the commands that tests look for with those that ciRun installs
// for the steps that run these tests. A command that it does not install is skipped on a
// machine that has it not, or fails there.
func checkCommands(t *tree) []string {
	i := slices.IndexFunc(t.texts, func(f textFile) bool { return f.path == ciRun })
	if i < 0 {
		return []string{ciRun + ": missing"}
	}
	script := t.texts[i].data
	list, without, all := wantedList.FindStringSubmatch(script), noRace.FindStringSubmatch(script), ciSteps.FindAllStringSubmatch(script, -1)
	if list == nil || without == nil || all == nil {
		return []string{ciRun + ": its list of wanted commands, its no_race or its steps are not found: teach internal/lint their new form"}
	}
	var steps []string
	for _, list := range all {
		steps = append(steps, strings.Fields(list[1])...)
	}
	wanted := map[string][]string{} // steps, by command
	var problems []string
	for line := range strings.Lines(strings.TrimSpace(list[1])) {
		f := strings.Fields(strings.ReplaceAll(line, "$(go env CC)", "cc"))
		if len(f) < 3 {
			problems = append(problems, fmt.Sprintf("%s: %q: want a command or file, its package, and steps", ciRun, strings.TrimSpace(line)))
			continue
		}
		wanted[f[0]] = append(wanted[f[0]], f[2:]...)
		for _, s := range f[2:] {
			if !slices.Contains(steps, s) {
				problems = append(problems, fmt.Sprintf("%s: %s is wanted by %q, which is no step", ciRun, f[0], s))
			}
		}
	}
	raceless := regexp.MustCompile(without[1])
	for _, f := range t.files {
		for _, c := range neededCommands(f) {
			for _, step := range stepsOf(f, raceless) {
				if !slices.Contains(wanted[c.name], step) {
					problems = append(problems, fmt.Sprintf("%s: %s is not installed for step %s: add it to wanted in %s", f.at(c.pos), c.name, step, ciRun))
				}
			}
		}
	}
	return problems
}

// stepsOf are the steps that run the tests of a file.
func stepsOf(f *goFile, raceless *regexp.Regexp) []string {
	switch {
	case f.dir == "internal/system" || f.dir == "internal/testenv/cluster":
		return []string{"cluster"}
	case f.dir == "internal/python":
		return []string{"python", "torch"}
	case f.dir == "internal/testenv/vm" && !f.test || f.dir == "internal/testenv/vm/verbs":
		return []string{"verbs"} // what a virtual machine needs
	case raceless.MatchString("/" + f.dir):
		return []string{"test"}
	}
	return []string{"test", "race"}
}

// A command is one that a test needs.
type command struct {
	name string
	pos  token.Pos
}

// neededCommands are the names in calls of testenv.Need, or of the need of a package that
// wraps it.
func neededCommands(f *goFile) []command {
	var found []command
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isNeed(call.Fun) {
			return true
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if name, err := strconv.Unquote(lit.Value); err == nil {
					found = append(found, command{name, lit.Pos()})
				}
			}
		}
		return true
	})
	return found
}

func isNeed(fun ast.Expr) bool {
	switch x := fun.(type) {
	case *ast.Ident:
		return x.Name == "need"
	case *ast.SelectorExpr:
		from, ok := x.X.(*ast.Ident)
		return ok && from.Name == "testenv" && x.Sel.Name == "Need"
	}
	return false
}
