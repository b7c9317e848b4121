package lint

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// textOf returns a file of the module.
func textOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(loadModule(t).root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	ownSteps   = regexp.MustCompile(`(?m)^(?:steps|long)=\(([a-z ]+)\)$`)
	forgeSteps = regexp.MustCompile(`- \{steps: ([a-z ]+),`)
)

// TestForgeRunsEveryStep: what .ci/run and .ci/run long do, the workflow does in parts.
func TestForgeRunsEveryStep(t *testing.T) {
	report(t, checkSteps(textOf(t, ".ci/run"), textOf(t, ".github/workflows/ci.yml")))
}

func checkSteps(script, workflow string) []string {
	var own []string
	for _, list := range ownSteps.FindAllStringSubmatch(script, -1) {
		own = append(own, strings.Fields(list[1])...)
	}
	if own == nil {
		return []string{".ci/run has no line steps=(...)"}
	}
	var run []string
	for _, part := range forgeSteps.FindAllStringSubmatch(workflow, -1) {
		run = append(run, strings.Fields(part[1])...)
	}
	return checkRun("step", ".ci/run", own, run)
}

// checkRun compares the things of a kind that a script has with those that the workflow runs.
func checkRun(kind, script string, own, run []string) []string {
	var bad []string
	for _, name := range own {
		if !slices.Contains(run, name) {
			bad = append(bad, fmt.Sprintf("the workflow does not run the %s %s of %s", kind, name, script))
		}
	}
	for _, name := range run {
		if !slices.Contains(own, name) {
			bad = append(bad, fmt.Sprintf("the workflow runs the %s %s, which %s has not", kind, name, script))
		}
	}
	return bad
}

func TestCheckSteps(t *testing.T) {
	const script = "set -e\nsteps=(tools fmt)\nlong=(test)\n"
	expect(t, checkSteps(script, "- {steps: tools fmt, minutes: 1}\n- {steps: tools test, minutes: 2}\n"))
	expect(t, checkSteps(script, "- {steps: tools fast, minutes: 1}\n"), "not run the step fmt", "not run the step test", "step fast, which")
	expect(t, checkSteps("", ""), "no line steps")
}

var (
	lacksList         = regexp.MustCompile(`(?ms)^lacks\(\) \{\n\tcat <<-'END'\n(.*?)\n\tEND\n`)
	environmentName   = regexp.MustCompile(`(?m)^\t\t(\w+): `)
	firstCombined     = regexp.MustCompile(`(?m)^combined=\(([\w+]+)[ )]`)
	forgeEnvironments = regexp.MustCompile(`(?m)^ +without:\n((?: +- [\w+]+\n)+)`)
	bareInFull        = regexp.MustCompile(`(?m)^ +- run: \.ci/bare --full \$\{\{ matrix\.without \}\}$`)
)

// TestForgeRunsEveryEnvironment: the workflow has a job for each environment of .ci/bare --full.
func TestForgeRunsEveryEnvironment(t *testing.T) {
	report(t, checkEnvironments(textOf(t, ".ci/bare"), textOf(t, ".github/workflows/ci.yml")))
}

func checkEnvironments(script, workflow string) []string {
	list, first := lacksList.FindStringSubmatch(script), firstCombined.FindStringSubmatch(script)
	if list == nil || first == nil {
		return []string{".ci/bare has no function lacks that prints environments, or no line combined=(...)"}
	}
	matrix := forgeEnvironments.FindStringSubmatch(workflow)
	if matrix == nil || !bareInFull.MatchString(workflow) {
		return []string{"the workflow has no matrix of environments (without) for .ci/bare --full"}
	}
	own := []string{first[1]}
	for _, name := range environmentName.FindAllStringSubmatch(list[1], -1) {
		own = append(own, name[1])
	}
	return checkRun("environment", ".ci/bare", own, strings.Fields(strings.ReplaceAll(matrix[1], "- ", "")))
}

func TestCheckEnvironments(t *testing.T) {
	const script = "lacks() {\n\tcat <<-'END'\n\t\troot: root; a user\n\t\thome: HOME\n\tEND\n}\ncombined=(root+home shm)\n"
	const run = "    steps:\n      - run: .ci/bare --full ${{ matrix.without }}\n"
	matrix := func(names ...string) string {
		return "    matrix:\n      without:\n        - " + strings.Join(names, "\n        - ") + "\n"
	}
	expect(t, checkEnvironments(script, matrix("root+home", "root", "home")+run))
	expect(t, checkEnvironments(script, matrix("root", "shm")+run), "not run the environment root+home", "not run the environment home", "environment shm, which")
	expect(t, checkEnvironments(script, matrix("root+home", "root", "home")), "has no matrix")
	expect(t, checkEnvironments(script, run), "has no matrix")
	expect(t, checkEnvironments("", matrix("root")+run), "no function lacks")
}

// TestGeneratedFilesAreMarked: a reviewer's page leaves out what nobody wrote, and shows the rest.
func TestGeneratedFilesAreMarked(t *testing.T) {
	m := loadModule(t)
	report(t, checkMarked(m.texts, textOf(t, ".gitattributes")))
}

var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func checkMarked(files []textFile, attributes string) []string {
	var marked, bad []string
	for line := range strings.Lines(attributes) {
		if f := strings.Fields(line); len(f) == 2 && f[1] == "linguist-generated" {
			marked = append(marked, f[0])
		}
	}
	used := map[string]bool{}
	for _, f := range files {
		i := slices.IndexFunc(marked, func(pattern string) bool { ok, _ := path.Match(pattern, f.path); return ok })
		if i >= 0 {
			used[marked[i]] = true
		}
		source := strings.HasSuffix(f.path, ".go") || strings.HasSuffix(f.path, ".s")
		switch generated := generatedLine.MatchString(f.data); {
		case source && generated && i < 0:
			bad = append(bad, f.path+" is generated; mark it in .gitattributes with linguist-generated")
		case source && !generated && i >= 0:
			bad = append(bad, f.path+" is not generated, but .gitattributes marks it so")
		}
	}
	for _, pattern := range marked {
		if !used[pattern] {
			bad = append(bad, ".gitattributes marks "+pattern+", which is not there")
		}
	}
	return bad
}

func TestCheckMarked(t *testing.T) {
	const made = "// Code generated by hand. DO NOT EDIT.\npackage p\n"
	files := []textFile{{"a/x.go", made}, {"a/y.go", "package p\n"}, {"docs/f.svg", "<svg/>"}}
	expect(t, checkMarked(files, "* text=auto\na/x.go linguist-generated\ndocs/*.svg linguist-generated\n"))
	expect(t, checkMarked(files, "a/y.go linguist-generated\nb/z.s linguist-generated\n"), "a/x.go is generated; mark it", "a/y.go is not generated", "marks b/z.s")
}
