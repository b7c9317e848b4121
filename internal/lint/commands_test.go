package lint

import (
	"go/token"
	"testing"
)

func TestCommandsOfTestsAreInstalled(t *testing.T) { report(t, checkCommands(loadModule(t))) }

func TestCheckCommands(t *testing.T) {
	const script = "steps=(tools test cluster race)\nlong=(verbs)\nno_race='/(slow(/.*)?)$'\nwanted() {\n\tcat <<-END\n" +
		"\t\t$(go env CC) gcc test race\n\t\tcpio cpio test race\n\t\tip iproute2 test cluster\n\t\txz xz-utils test\n\tEND\n}\n"
	for _, c := range []struct {
		name, path, src, script string
		want                    []string
	}{
		{"installed", "a/a_test.go", `testenv.Need(t, "cpio")`, script, nil},
		{"not installed", "a/a_test.go", `testenv.Need(t, "cpio", "zip")`, script, []string{"a/a_test.go:4: zip is not installed for step test", "zip is not installed for step race"}},
		{"for another step", "a/a_test.go", `testenv.Need(t, "xz")`, script, []string{"xz is not installed for step race"}},
		{"never raced", "slow/a_test.go", `testenv.Need(t, "xz")`, script, nil},
		{"of a cluster", "internal/testenv/cluster/c.go", `need(c.t, "ip", "cpio")`, script, []string{"cpio is not installed for step cluster"}},
		{"of a virtual machine", "internal/testenv/vm/machine.go", `testenv.Need(t, "xz")`, script, []string{"xz is not installed for step verbs"}},
		{"of Python", "internal/python/a_test.go", `testenv.Need(t, "zip")`, script, []string{"zip is not installed for step python", "zip is not installed for step torch"}},
		{"no list", "a/a_test.go", ``, "steps=(test)\n", []string{"teach internal/lint"}},
		{"a line without steps", "a/a_test.go", ``, "steps=(test)\nno_race='x'\nwanted() {\n\tcat <<-END\n\t\tcpio cpio\n\t\txz xz-utils tests\n\tEND\n}\n",
			[]string{`"cpio cpio": want a command or file`, `xz is wanted by "tests", which is no step`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := parseGo(token.NewFileSet(), c.path, "package p\n\nfunc f() {\n"+c.src+"\n}\n")
			if err != nil {
				t.Fatal(err)
			}
			expect(t, checkCommands(&tree{files: []*goFile{f}, texts: []textFile{{ciRun, c.script}}}), c.want...)
		})
	}
}
